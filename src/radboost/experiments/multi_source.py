"""Table 4.1 of Storcheus's thesis (2021), run again: errors on each source, on their uniform mixture, on the worst.

SVHN and MNIST-M, and with them the two problems on digits, are not among the data sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from radboost.experiments.study import Study

ADABOOST = ("AdaBoost-1", "AdaBoost-2", "AdaBoost-3", "AdaBoost-all")
OURS = ("MultiBoost", "MultiBoost, softmax", "MultiBoost, sum", "MultiBoost, defaults")
OTHERS = ("reweighted", "group DRO", "fairlearn", "DeepBoost, defaults", "scikit-learn")
ALGORITHMS = (*ADABOOST, *OURS, *OTHERS)
_ROW = "{:<15}{:<22}{:>15}{:>15}{:>15}{:>15}{:>15}{:>10}"

# What the thesis reports: the errors on the three sources, on the uniform mixture, on the worst source.
PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "amazon": {
        "AdaBoost-1": (0.326, 0.300, 0.360, 0.329, 0.360),
        "AdaBoost-2": (0.354, 0.266, 0.336, 0.318, 0.357),
        "AdaBoost-3": (0.402, 0.334, 0.258, 0.331, 0.402),
        "AdaBoost-all": (0.354, 0.325, 0.313, 0.324, 0.354),
        "MultiBoost": (0.332, 0.288, 0.284, 0.301, 0.332),
    },
    "fashion_mnist": {
        "AdaBoost-1": (0.015, 0.251, 0.602, 0.288, 0.602),
        "AdaBoost-2": (0.435, 0.015, 0.169, 0.173, 0.435),
        "AdaBoost-3": (0.311, 0.097, 0.014, 0.140, 0.311),
        "AdaBoost-all": (0.036, 0.020, 0.025, 0.027, 0.036),
        "MultiBoost": (0.028, 0.015, 0.022, 0.021, 0.028),
    },
    "adult": {
        "AdaBoost-1": (0.201, 0.249, 0.215, 0.222, 0.249),
        "AdaBoost-2": (0.298, 0.131, 0.142, 0.190, 0.298),
        "AdaBoost-3": (0.225, 0.138, 0.133, 0.165, 0.225),
        "AdaBoost-all": (0.221, 0.134, 0.131, 0.155, 0.221),
        "MultiBoost": (0.190, 0.132, 0.130, 0.150, 0.190),
    },
}


@dataclass(frozen=True)
class SourcesTable(Study):
    """Every algorithm on every fold of every data set."""

    name: str
    title: str
    rounds: int = 100
    folds: int = 10
    quick_folds: int = 3
    paper: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=lambda: PAPER)

    takes_datasets = True
    heading = _ROW.format("data set", "algorithm", "error 1", "error 2", "error 3", "uniform", "agnostic", "paper")
    legend = (
        "means (standard deviations) over the folds; agnostic: the mean of the largest of the three errors; paper:\n"
        "its agnostic error. AdaBoost and MultiBoost: stumps, exponential loss, 100 rounds. fairlearn: its bounded\n"
        "group loss over the same stumps, where it is installed (pip install 'radboost[bench]')"
    )

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.paper)

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        unknown = [name for name in datasets or () if name not in self.paper]
        if unknown:
            raise ValueError(f"{self.name} has no data set {unknown[0]!r}; it has {', '.join(self.paper)}")
        missing = () if find_spec("fairlearn") else ("fairlearn",)
        return [
            {"sources": name, "fold": fold, "folds": self.folds, "algorithm": algorithm, "rounds": self.rounds}
            for name in datasets or self.paper
            for fold in range(self.quick_folds if quick else self.folds)
            for algorithm in ALGORITHMS
            if algorithm not in missing
        ]

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for name in dict.fromkeys(outcome.facts["sources"] for outcome in outcomes):
            for algorithm in ALGORITHMS:
                found = np.array(
                    [
                        outcome.result["errors"]
                        for outcome in outcomes
                        if (outcome.facts["sources"], outcome.facts["algorithm"]) == (name, algorithm)
                    ]
                )
                if not len(found):
                    continue
                columns = [*found.T, found.mean(axis=1), found.max(axis=1)]
                cells = [f"{column.mean():.3f} ({column.std():.3f})" for column in columns]
                paper = self.paper[name].get(algorithm)
                lines.append(_ROW.format(name, algorithm, *cells, "-" if paper is None else f"{paper[4]:.3f}"))
        return lines


STUDIES = (SourcesTable("multiboost-4.1", "Storcheus (2021), Table 4.1: several sources"),)
