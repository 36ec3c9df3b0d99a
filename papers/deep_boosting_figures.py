"""Figures 3 and 4 of "Deep Boosting": the sizes of the trees on ionosphere, and the margins of the training rows.

The paper does not say which parameters these ensembles have, nor which part of the rows it took. Here they are those of
Table 2: each run chooses by its validation fold, and the figures show its training rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import datasets as registry
from papers import deep_boosting
from papers.protocol import ROUNDS, RULES, fit_run, partition, parts
from papers.study import Facts, Study
from radboost._typing import FloatArray

TABLE_2 = next(table for table in deep_boosting.TABLES if table.name == "deep-boosting-2")
DEEPBOOST = TABLE_2.algorithms[-1].name
_SIZE = "{:>12}{:>14}{:>10}{:>10}"
_MARGIN = "{:<13}{:>9}{:>10}{:>8}{:>9}{:>8}{:>14}{:>12}{:>8}"


def fit_ensemble(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    """The ensemble that one run of Table 2 chooses: sizes and weights of its trees, margins of its training rows."""
    data = registry.load(facts["ensemble"], data_dir)
    column = next(column for column in TABLE_2.algorithms if column.name == facts["algorithm"])
    folds = partition(len(data.y), TABLE_2.folds, facts["seed"])
    tried = [
        fit_run(column.estimator, data.X, data.y, folds, facts["run"], choice, TABLE_2.tree_size)
        for choice in column.configurations(quick=facts["coarse"])
    ]
    (chosen,) = RULES[TABLE_2.rule].choose([(one,) for one in tried])
    train, _, _ = parts(folds, facts["run"])
    model = column.estimator.paper(**chosen.parameters, n_rounds=ROUNDS, n_jobs=1).fit(data.X[train], data.y[train])
    weights = np.abs(model.ensemble_.weights)
    signs = np.where(data.y[train] == model.classes_[1], 1.0, -1.0)
    margins = signs * model.decision_function(data.X[train]) / weights.sum()
    return {
        "parameters": chosen.parameters,
        "test_error": chosen.test_error,
        "sizes": [tree.n_nodes for tree in model.ensemble_.hypotheses],
        "weights": weights.tolist(),
        "margins": np.sort(margins).tolist(),
    }


@dataclass(frozen=True)
class TreeSizes(Study):
    """Figure 3: how large the trees of DeepBoost are."""

    name: str
    title: str
    dataset: str = "ionosphere"
    algorithms: tuple[str, ...] = (DEEPBOOST,)
    runs: int = TABLE_2.folds
    quick_runs: int = 1

    named_by = "algorithm"
    heading = _SIZE.format("nodes", "trees a run", "trees", "weight")
    legend = (
        "trees: share of the trees with so many nodes, weight: of the sum of their weights, means over the runs;\n"
        "100 rounds, exponential loss, parameters chosen by the validation fold of each run as in Table 2"
    )

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"ensemble": self.dataset, "run": run, "algorithm": algorithm, "coarse": quick}
            for run in range(self.quick_runs if quick else self.runs)
            for algorithm in self.algorithms
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_ensemble(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        results = [outcome.result for outcome in outcomes]
        counts = [Counter(result["sizes"]) for result in results]
        lines = []
        for size in sorted(set().union(*counts)):
            trees = [count[size] for count in counts]
            shares = [count[size] / max(1, count.total()) for count in counts]
            weights = [
                sum(w for n, w in zip(result["sizes"], result["weights"], strict=True) if n == size)
                / max(sum(result["weights"]), 1e-300)
                for result in results
            ]
            lines.append(
                _SIZE.format(size, f"{np.mean(trees):.1f}", f"{np.mean(shares):.1%}", f"{np.mean(weights):.1%}")
            )
        return lines


@dataclass(frozen=True)
class Margins(TreeSizes):
    """Figure 4: the normalised margins of the training rows, for each algorithm."""

    algorithms: tuple[str, ...] = tuple(column.name for column in TABLE_2.algorithms)

    heading = _MARGIN.format(
        "algorithm", "least", "quarter", "half", "3/4", "mean", "test error", "trees", "nodes"
    )  # fmt: skip
    legend = (
        "margins y f(x) / (sum of the weights) of the training rows: the least, the quartiles and the mean of each\n"
        "run, means over the runs; test error: of these runs; trees, nodes: their number, and the mean of a tree's"
    )

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for algorithm in self.algorithms:
            results = [outcome.result for outcome in outcomes if outcome.facts["algorithm"] == algorithm]
            points = [[*np.quantile(r["margins"], (0, 0.25, 0.5, 0.75)), np.mean(r["margins"])] for r in results]
            trees, nodes = (np.mean([of(r["sizes"]) for r in results]) for of in (len, _mean))
            error = np.mean([result["test_error"] for result in results])
            lines.append(
                _MARGIN.format(
                    algorithm,
                    *(f"{value:.3f}" for value in np.mean(points, axis=0)),
                    f"{error:.4f}",
                    f"{trees:.1f}",
                    f"{nodes:.1f}",
                )
            )
        return lines

    def margins(self, outcomes: Sequence[Any], algorithm: str) -> FloatArray:
        """Of the training rows of all runs, in order."""
        return np.sort(np.concatenate([o.result["margins"] for o in outcomes if o.facts["algorithm"] == algorithm]))


def _mean(sizes: Sequence[int]) -> float:
    return float(np.mean(sizes)) if sizes else 0.0


STUDIES = (
    TreeSizes("deep-boosting-fig3", "Deep Boosting, Figure 3: sizes of the trees on ionosphere"),
    Margins("deep-boosting-fig4", "Deep Boosting, Figure 4: margins of the training rows of ionosphere"),
)
