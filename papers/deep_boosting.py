"""Tables 1 to 3 and Figures 3 and 4 of "Deep Boosting" (Cortes, Mohri, Syed 2014), with the grids of section 4.

Table 1 counts the splits of a tree (1 or 2), Tables 2 and 3 all its nodes (a full tree of depth 3 has 15).

The paper runs AdaBoost on H_2 alone. Here its base hypotheses are H_1 and H_2 together: without a penalty the
pair that extends the best stump is never worse than the stump, so only exact ties can differ.

The paper does not say which parameters the ensembles of Figures 3 and 4 have, nor which part of the rows it shows. Here
each run chooses by its validation fold as in Table 2, and the figures show its training rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from papers.grid_tables import ROUNDS, RULES, Column, GridTable, fit_choice, partition, parts
from papers.harness import Facts, Outcome, Result, Row, Study, load, results_of
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.guarantees import margins

POWERS_OF_TWO = tuple(2.0**-i for i in range(7))
POWERS_OF_TEN = tuple(10.0**-i for i in range(3, 8))
DEPTHS = tuple(range(1, 7))


def _stump_columns() -> tuple[Column, ...]:
    plain = {"loss": "exponential", "complexity_penalty": 0.0, "l1_penalty": 0.0}
    pairs = {"loss": "exponential", "family": "stump_pairs"}
    beta = {"l1_penalty": POWERS_OF_TWO}
    coarse_beta = {"l1_penalty": (0.25, 0.0625, 0.015625)}
    return (
        Column("AdaBoost H1", plain | {"family": "stumps"}, {}, {}),
        Column("AdaBoost H2", plain | {"family": "stump_pairs"}, {}, {}),
        Column("AdaBoost-L1", pairs | {"complexity_penalty": 0.0}, beta, coarse_beta),
        Column(
            "DeepBoost",
            pairs,
            beta | {"complexity_penalty": (0.0001, 0.005, 0.01, 0.05, 0.1, 0.5)},
            coarse_beta | {"complexity_penalty": (0.005, 0.05)},
        ),
    )


def _tree_columns(loss: str, plain: str) -> tuple[Column, ...]:
    trees = {"loss": loss, "family": "trees"}
    depth: dict[str, Any] = {"max_depth": DEPTHS}
    coarse_depth: dict[str, Any] = {"max_depth": (2, 4, 6)}
    beta = {"l1_penalty": POWERS_OF_TEN}
    coarse_beta = {"l1_penalty": (1e-3, 1e-5)}
    return (
        Column(plain, trees | {"complexity_penalty": 0.0, "l1_penalty": 0.0}, depth, coarse_depth),
        Column(f"{plain}-L1", trees | {"complexity_penalty": 0.0}, depth | beta, coarse_depth | coarse_beta),
        Column(
            "DeepBoost",
            trees,
            depth | beta | {"complexity_penalty": POWERS_OF_TEN},
            coarse_depth | coarse_beta | {"complexity_penalty": (1e-3, 1e-5)},
        ),
    )


@dataclass(frozen=True)
class DeepBoostingTable(GridTable):
    """Ten folds, each testing once."""

    published: ClassVar[str] = "deep-boosting"
    runs = 10
    quick_runs = 3


TREES = _tree_columns("exponential", "AdaBoost")


@dataclass(frozen=True)
class Ensembles(Study):
    """Ensembles of Table 2 on ionosphere, each with the parameters that its run chooses."""

    algorithms: tuple[str, ...] = tuple(column.name for column in TREES)

    runs = 10

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [
            {"ensemble": "ionosphere", "run": run, "algorithm": algorithm, "coarse": quick}
            for run in range(runs)
            for algorithm in self.algorithms
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        data = load(facts["ensemble"], data_dir)
        column = next(column for column in TREES if column.name == facts["algorithm"])
        folds = partition(len(data.y), self.runs, facts["seed"])
        tried = [
            fit_choice(data.X, data.y, folds, facts["run"], choice) | {"parameters": choice}
            for choice in column.choices(column.coarse if facts["coarse"] else column.grid)
        ]
        (chosen,) = RULES["validated"].choose([(one,) for one in tried])
        train, _, _ = parts(folds, facts["run"])
        model = DeepBoostClassifier.paper(**chosen["parameters"], n_rounds=ROUNDS, n_jobs=1)
        model.fit(data.X[train], data.y[train])
        return {
            "parameters": chosen["parameters"],
            "test_error": chosen["test_error"],
            "sizes": [tree.n_nodes for tree in model.ensemble_.hypotheses],
            "weights": np.abs(model.ensemble_.weights).tolist(),
            "margins": np.sort(margins(model, data.X[train], data.y[train])).tolist(),
        }


@dataclass(frozen=True)
class TreeSizes(Ensembles):
    """Figure 3: sizes of the trees of DeepBoost."""

    algorithms: tuple[str, ...] = (TREES[-1].name,)

    columns = ("nodes", "trees a run", "trees", "weight")
    legend = (
        "trees: fraction of the trees with that number of nodes, weight: of the sum of their weights, means over the\n"
        "runs; 100 rounds, exponential loss, parameters chosen by the validation fold of each run as in Table 2"
    )

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        results = [outcome.result for outcome in outcomes]
        counts: list[Counter[int]] = [Counter(result["sizes"]) for result in results]
        rows: list[Row] = []
        for size in sorted(set().union(*counts)):
            trees = np.mean([count[size] for count in counts])
            fraction = np.mean([count[size] / max(1, count.total()) for count in counts])
            weights = [np.array(result["weights"])[np.array(result["sizes"]) == size].sum() for result in results]
            sums = [max(sum(result["weights"]), 1e-300) for result in results]
            weight = np.mean(np.divide(weights, sums))
            rows.append([str(size), f"{trees:.1f}", f"{fraction:.1%}", f"{weight:.1%}"])
        return rows


@dataclass(frozen=True)
class Margins(Ensembles):
    """Figure 4: normalized margins of the training rows, for each algorithm."""

    columns = ("algorithm", "least", "quarter", "half", "3/4", "mean", "test error", "trees", "nodes")
    legend = (
        "margins y f(x) / (sum of the weights) of the training rows: the least, the quartiles and the mean of each\n"
        "run, means over the runs; test error: of these runs; trees, nodes: their number, and the mean of a tree's"
    )

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for algorithm in self.algorithms:
            results = results_of(outcomes, algorithm=algorithm)
            points = [[*np.quantile(one["margins"], (0, 0.25, 0.5, 0.75)), np.mean(one["margins"])] for one in results]
            nodes = [float(np.mean(one["sizes"])) if one["sizes"] else 0.0 for one in results]
            rows.append(
                [
                    algorithm,
                    *(f"{value:.3f}" for value in np.mean(points, axis=0)),
                    f"{np.mean([one['test_error'] for one in results]):.4f}",
                    f"{np.mean([len(one['sizes']) for one in results]):.1f}",
                    f"{np.mean(nodes):.1f}",
                ]
            )
        return rows


STUDIES: tuple[Study, ...] = (
    DeepBoostingTable(
        "deep-boosting-1", "boosted stumps, exponential loss", "1", _stump_columns(), tree_size="n_splits"
    ),
    DeepBoostingTable("deep-boosting-2", "boosted trees, exponential loss", "2", TREES),
    DeepBoostingTable("deep-boosting-3", "boosted trees, logistic loss", "3", _tree_columns("logistic", "LogReg")),
    TreeSizes("deep-boosting-fig3", "Deep Boosting, Figure 3: sizes of the trees on ionosphere"),
    Margins("deep-boosting-fig4", "Deep Boosting, Figure 4: margins of the training rows of ionosphere"),
)
