"""Q(k | x) and candidates of a federation: from public rows, or candidates that its clients train."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from radboost._validation import check_choice, check_integer
from radboost.estimators import DeepBoostClassifier
from radboost.families.candidates import Candidates
from radboost.rows.domains import DomainModel, fit_domains
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training
from radboost.rows.sources import ids_among, known_sources, read_sources

# A hypothesis of these families shows thresholds of columns; a kernel would show a whole row.
PROPOSABLE = ("stumps", "stump_pairs", "trees")


@dataclass(frozen=True)
class TrainedByOwners:
    """Candidates that clients train on their own rows in every round, as in the experiments of the thesis (B.7).

    A hypothesis shows thresholds between values of a client's rows.

    Parameters
    ----------
    family : "stumps", "stump_pairs" or "trees"
        Clients must agree to train it: `client_app(..., proposes=...)`.
    per_round : int or None
        Clients of the domain that are asked for one in a round; None: all of the round.
    """

    family: str = "stumps"
    per_round: int | None = None

    def __post_init__(self) -> None:
        check_choice("family of TrainedByOwners", self.family, PROPOSABLE)
        if self.per_round is not None:
            check_integer("per_round of TrainedByOwners", self.per_round, 1)


AnyCandidates = Candidates | TrainedByOwners


def learn_domains(X: Any, domains: Any) -> DomainModel:
    """Q(k | x) from public rows and the domain of each: multinomial logistic regression; labels are not needed."""
    reader = DeepBoostClassifier(categorical_features=None)
    rows = read_training(reader, [LoadedPartition(X, np.zeros(_num_samples(X)))], (), regression=True)
    names = read_sources(domains, rows.n_given, "domains")
    known = known_sources(names)
    if len(known) < 2:
        raise ValueError(f"domains names only {known.tolist()[0]!r}; with one domain there is no Q to learn.")
    model = fit_domains(rows.X, ids_among(names, known, "domains"), None, {}, len(known))
    return replace(model, names=tuple(known.tolist()))


def candidates_from(
    X: Any, y: Any, *, family: Any = "stumps", n_rounds: int = 100, per_round: int | None = None
) -> Candidates:
    """Hypotheses of a DeepBoost model of public rows, as candidates.

    `family` and `n_rounds` are those of `DeepBoostClassifier`; `per_round` as in `Candidates`.
    """
    model = DeepBoostClassifier.paper(n_rounds, family=family, categorical_features=None).fit(X, y)
    if len(model.classes_) != 2:
        raise ValueError(f"y holds {len(model.classes_)} classes, and a federation takes two.")
    if not model.ensemble_.hypotheses:
        raise ValueError("No hypothesis lowers the loss of these rows: there are no candidates in them.")
    return Candidates(model.ensemble_.hypotheses, per_round)
