"""The sources of the rows of one worker, and Q of each row, which is given ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from radboost._validation import resolve_n_jobs
from radboost.distributed.parts import LazyPart
from radboost.distributed.talking import Workers
from radboost.rows.domains import DomainModel, shares_of_own
from radboost.rows.prepare import CheckedRows
from radboost.rows.sources import Sources, ids_among, known_sources, on_share_grid, read_sources


def sources_of(estimator: Any, parts: Sequence[LazyPart], training: CheckedRows, workers: Workers) -> Sources:
    """The names of all sources, and of each row of this worker its source and Q."""
    given = [part for part in parts if part.n_rows]
    found = [read_sources(part.load().sources, part.n_rows) for part in given]
    own = _stay(np.concatenate(found) if found else np.zeros(0), training)
    told = [names for names in workers.tell(np.unique(own)) if len(names)]
    names = known_sources(np.concatenate(told))
    ids = ids_among(own, names, "sources") if len(own) else np.zeros(0, dtype=np.uint16)
    if len(names) == 1:
        return Sources(names, ids, np.ones((len(ids), 1)), None)
    domain = estimator.domain_classifier
    if isinstance(domain, DomainModel):
        if (len(domain.instead), domain.n_sources) != (training.rows.n_features, len(names)):
            raise ValueError(
                f"domain_classifier is a model of {domain.n_sources} sources on {len(domain.instead)} columns; here "
                f"are {len(names)} sources ({names.tolist()[:10]}) and {training.rows.n_features} columns."
            )
        shares = domain.shares(training.rows.X, resolve_n_jobs(estimator.n_jobs))
    elif isinstance(domain, FrozenEstimator):
        of_parts = [shares_of_own(domain, part.load().X, names) for part in given]
        shares = _stay(np.concatenate([np.zeros((0, len(names))), *of_parts]), training)
    else:
        raise ValueError(
            f"On several workers Q has to be ready, and domain_classifier is {domain!r}. Give the domain_classifier_ "
            "of a MultiSourceBoostClassifier that was fitted on a sample of the rows, or "
            "sklearn.frozen.FrozenEstimator(classifier) of a fitted classifier of the sources."
        )
    return Sources(names, ids, on_share_grid(shares, len(training.known_classes)), domain)


def _stay(of_rows: npt.NDArray[Any], training: CheckedRows) -> npt.NDArray[Any]:
    """Those of rows with a positive weight."""
    return of_rows if training.kept is None else of_rows[training.kept]
