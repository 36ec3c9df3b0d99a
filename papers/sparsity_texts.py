"""Figure 7 of "Boosting with Structural Sparsity" (Duchi and Singer 2009): each topic of texts against the others.

The paper has curves and no tables, so that its statements about them are checked. Its lambda is for a sum over rows,
alpha here is for a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.harness import Facts, Outcome, Result, Row, Study, load
from radboost.estimators.sparse import SparseBoostClassifier

TOPICS = ("books", "dvd", "electronics", "kitchen")
LAMBDAS = (1.0, 2.0, 4.0)
SMOOTH, ONE_AT_A_TIME = "one feature a round, smooth L1", "one feature a round, squared penalty"
CHOSEN = "squared penalty, 800 chosen features"
N_CHOSEN = 800  # Appendix D
ROUNDS = (10, 30, 100, 300, 600)


def boosted_at(weight: float) -> str:
    """Name of the L1 booster at a lambda."""
    return f"L1, lambda {weight:g}"


@dataclass(frozen=True)
class Topics(Study):
    """One topic against the others, on words that are there or not."""

    rounds: tuple[int, ...] = ROUNDS
    quick_rounds: tuple[int, ...] = ROUNDS[1:]

    runs = 3
    columns = ("topic", "algorithm", "rounds", "error", "loss", "features", "stopped")
    legend = (
        "words are there or not; error and loss on 30 percent of the texts, means over the repeats; stopped: repeats\n"
        "in which no feature could help any more; smooth L1 at the paper's lambda = 2, and the square that it is near\n"
        "zero"
    )

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        rounds = self.quick_rounds if quick else self.rounds
        algorithms = [(boosted_at(weight), 100) for weight in LAMBDAS]
        algorithms += [*((name, n) for name in (SMOOTH, ONE_AT_A_TIME) for n in rounds), (CHOSEN, 100)]
        return [
            {"topic": topic, "repeat": repeat, "algorithm": algorithm, "rounds": n_rounds}
            for topic in TOPICS
            for repeat in range(runs)
            for algorithm, n_rounds in algorithms
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Learn from 70 percent of the texts (section 10)."""
        data = load("amazon", data_dir)
        X, y = data.X.copy(), data.domains == facts["topic"]
        X.data[:] = 1.0
        order = np.random.default_rng([facts["seed"], facts["repeat"]]).permutation(len(y))
        train, test = order[: round(0.7 * len(y))], order[round(0.7 * len(y)) :]
        used = np.arange(X.shape[1])
        settings: dict[str, Any] = {"standardize": False, "tol": 1e-5, "n_jobs": 1, "n_rounds": facts["rounds"]}
        if facts["algorithm"] == CHOSEN:
            used = most_telling(X[train], y[train])
            settings |= {"alpha": 0.01 / len(train), "penalty": "l2"}
        elif facts["algorithm"] == SMOOTH:
            settings |= {"alpha": 2.0 / len(train), "penalty": "smooth_l1", "features_per_round": 1}
        elif facts["algorithm"] == ONE_AT_A_TIME:
            # Near zero the smooth L1 penalty at the paper's lambda = 2 is w^2 / 2.
            settings |= {"alpha": 1.0 / len(train), "penalty": "l2", "features_per_round": 1}
        else:
            weight = next(weight for weight in LAMBDAS if boosted_at(weight) == facts["algorithm"])
            settings |= {"alpha": weight / len(train), "penalty": "l1", "features_per_round": 30}
        model = SparseBoostClassifier(**settings).fit(X[train][:, used], y[train])
        scores = model.decision_function(X[test][:, used])
        return {
            "error": float(np.mean((scores > 0.0) != y[test])),
            "loss": float(np.mean(np.logaddexp(0.0, np.where(y[test], -scores, scores)))),
            "features": model.n_features_used_,
            "rounds": model.n_iter_,
            "stopped": model.stop_reason_,
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        groups: dict[tuple[str, str, int], list[Result]] = {}
        for one in outcomes:
            groups.setdefault((one.facts["topic"], one.facts["algorithm"], one.facts["rounds"]), []).append(one.result)
        rows: list[Row] = []
        for (topic, algorithm, _), results in groups.items():
            ended = f"{sum(one['stopped'] == 'optimal' for one in results)} of {len(results)}"
            rounds, features, error, loss = (
                np.mean([one[key] for one in results]) for key in ("rounds", "features", "error", "loss")
            )
            shown = "-" if algorithm == CHOSEN else f"{rounds:.0f}"
            rows.append([topic, algorithm, shown, f"{error:.4f}", f"{loss:.4f}", f"{features:.0f}", ended])
        return rows


def most_telling(X: Any, y: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Columns whose fraction of positive rows diverges most from that of all rows, times their rows (Appendix D)."""
    with_it, fraction = np.asarray(X.sum(axis=0)).ravel(), y.mean()
    positive = np.asarray(X[y].sum(axis=0)).ravel()
    negative = with_it - positive
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(positive > 0, positive * np.log(positive / (with_it * fraction)), 0.0)
        down = np.where(negative > 0, negative * np.log(negative / (with_it * (1.0 - fraction))), 0.0)
    return np.sort(np.argsort(-(up + down), kind="stable")[:N_CHOSEN])


STUDIES = (Topics("structural-sparsity-7", "reviews, four kinds of products, each against the others"),)
