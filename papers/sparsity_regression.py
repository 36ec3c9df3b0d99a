"""Figure 8 of "Boosting with Structural Sparsity" (Duchi and Singer 2009): regression on products of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from papers.harness import Facts, Outcome, Result, Row, Study, distinct, load, results_of
from radboost.estimators.sparse import SparseBoostRegressor

BOOSTED, SEQUENTIAL, LINEAR = "L1, totally corrective", "sequential", "L1, raw columns"
# With a looser tolerance, for the updates of the paper come close to the optimum slowly.
LOOSE, PLAIN_BOOSTED, LOOSE_TOLERANCE = "the same, tol 1e-3", "adaboost updates, tol 1e-3", 1e-3
REGRESSORS = (BOOSTED, LOOSE, PLAIN_BOOSTED, SEQUENTIAL, LINEAR)
QUICK_ROUNDS = 100


@dataclass(frozen=True)
class InducedRegression(Study):
    """L1 on products of columns beside sequential boosting."""

    sizes: Mapping[str, tuple[int, int]] = field(default_factory=lambda: {"housing": (10, 1000), "ailerons": (3, 100)})
    """Data set -> repeats, rounds of sequential boosting (with 9,625 rows of 40 columns a round takes seconds)."""

    runs = 10
    quick_runs = 2
    columns = ("data set", "algorithm", "rmse", "absolute error", "features", "rounds")
    legend = (
        "medians (and the largest) of the repeats: a product of many columns may explode on a test row; columns\n"
        "and targets in [0, 1] (ailerons: [-1, 1]), epsilon 0.01, lambda 0.02"
    )

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.sizes)

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [
            {"regression": name, "repeat": repeat, "algorithm": algorithm,
             "rounds": min(QUICK_ROUNDS, self.sizes[name][1]) if quick else self.sizes[name][1]}
            for name in chosen
            for repeat in range(min(runs, self.sizes[name][0]))
            for algorithm in REGRESSORS
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Learn from 70 percent of the rows (section 10).

        "newton" takes the paper's bounds to the same optimum faster, but scores candidates by its own model of the
        loss; "adaboost" has the paper's scores (36) and steps, so that products may enter in another order.
        """
        data = load(facts["regression"], data_dir)
        order = np.random.default_rng([facts["seed"], facts["repeat"]]).permutation(len(data.y))
        train, test = order[: round(0.7 * len(order))], order[round(0.7 * len(order)) :]
        X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
        bounds = (-1, 1) if facts["regression"] == "ailerons" else (0, 1)
        scale, unit = MinMaxScaler(bounds).fit(X[train]), MinMaxScaler(bounds).fit(y[train, None])
        rows, targets = scale.transform(X), unit.transform(y[:, None])[:, 0]
        algorithm = facts["algorithm"]
        sequential = algorithm == SEQUENTIAL
        model = SparseBoostRegressor(
            0.0 if sequential else 0.02 / len(train),
            epsilon=0.01,
            penalty="l1",
            update="adaboost" if sequential or algorithm == PLAIN_BOOSTED else "newton",
            family="given" if algorithm == LINEAR else "products",
            features_per_round=1 if sequential else None if algorithm == LINEAR else 8,
            totally_corrective=not sequential,
            n_rounds=facts["rounds"] if sequential or algorithm == LINEAR else 100,
            standardize=False,
            tol=LOOSE_TOLERANCE if algorithm in (LOOSE, PLAIN_BOOSTED) else 1e-5,
            n_jobs=1,
        ).fit(rows[train], targets[train])
        residual = model.predict(rows[test]) - targets[test]
        return {
            "rmse": float(np.sqrt(np.mean(residual**2))),
            "absolute": float(np.mean(np.abs(residual))),
            "features": model.n_features_used_,
            "rounds": model.n_iter_,
            "stopped": model.stop_reason_,
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for name in distinct(outcomes, "regression"):
            for algorithm in REGRESSORS:
                results = results_of(outcomes, regression=name, algorithm=algorithm)
                cells = [
                    f"{np.median(values):.{digits}f} ({values.max():.{digits}f})"
                    for key, digits in (("rmse", 4), ("absolute", 4), ("features", 0))
                    for values in [np.array([one[key] for one in results], dtype=float)]
                ]
                rows.append([name, algorithm, *cells, f"{np.median([one['rounds'] for one in results]):.0f}"])
        return rows


STUDIES = (InducedRegression("structural-sparsity-8", "regression on products, 70 percent of the rows train"),)
