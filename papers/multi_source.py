"""Table 4.1 of Storcheus's thesis (2021), run again: errors on each source, on their uniform mixture, on the worst.

SVHN and MNIST-M, and with them the two problems on digits, are not among the data sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from papers.multi_source_fits import fit_sources_unit
from papers.study import Facts, Study
from radboost._typing import FloatArray

ADABOOST = ("AdaBoost-1", "AdaBoost-2", "AdaBoost-3", "AdaBoost-all")
OURS = ("MultiBoost", "MultiBoost, softmax", "MultiBoost, sum", "MultiBoost, defaults")
OTHERS = ("reweighted", "group DRO", "fairlearn", "DeepBoost, defaults", "scikit-learn")
ALGORITHMS = (*ADABOOST, *OURS, *OTHERS)

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
    """Every algorithm on every fold of every data set; errors by source."""

    name: str
    title: str
    rounds: int = 100
    quick_rounds: int = 100
    folds: int = 10
    quick_folds: int = 3
    paper: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=lambda: PAPER)

    named_by: ClassVar[str] = "sources"  # the fact that says which data set
    algorithms: ClassVar[tuple[str, ...]] = ALGORITHMS
    n_sources: ClassVar[int] = 3
    takes_datasets = True
    legend = (
        "means (standard deviations) over the folds; agnostic: the mean of the largest of the three errors; paper:\n"
        "its agnostic error. AdaBoost and MultiBoost: stumps, exponential loss, 100 rounds. fairlearn: its bounded\n"
        "group loss over the same stumps, where it is installed (pip install 'radboost[bench]')"
    )

    @property
    def heading(self) -> str:
        errors = [f"error {source + 1}" for source in range(self.n_sources)]
        return self._line("data set", "algorithm", [*errors, "uniform", "agnostic"], "paper")

    def _line(self, name: str, algorithm: str, cells: Sequence[str], paper: str) -> str:
        return f"{name:<15}{algorithm:<22}{''.join(f'{cell:>15}' for cell in cells)}{paper:>10}"

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.paper)

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        unknown = [name for name in datasets or () if name not in self.paper]
        if unknown:
            raise ValueError(f"{self.name} has no data set {unknown[0]!r}; it has {', '.join(self.paper)}")
        missing = () if find_spec("fairlearn") else ("fairlearn",)
        rounds = self.quick_rounds if quick else self.rounds
        return [
            {self.named_by: name, "fold": fold, "folds": self.folds, "algorithm": algorithm, "rounds": rounds}
            for name in datasets or self.paper
            for fold in range(self.quick_folds if quick else self.folds)
            for algorithm in self.algorithms
            if algorithm not in missing
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_sources_unit(facts, data_dir)

    def errors(self, outcomes: Sequence[Any], name: str, algorithm: str) -> FloatArray:
        """A line of errors for each fold."""
        wanted = (name, algorithm)
        return np.array(
            [one.result["errors"] for one in outcomes if (one.facts[self.named_by], one.facts["algorithm"]) == wanted]
        )

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for name in dict.fromkeys(outcome.facts[self.named_by] for outcome in outcomes):
            for algorithm in self.algorithms:
                found = self.errors(outcomes, name, algorithm)
                if not len(found):
                    continue
                columns = [*found.T, found.mean(axis=1), found.max(axis=1)]
                cells = [f"{column.mean():.3f} ({column.std():.3f})" for column in columns]
                paper = self.paper[name].get(algorithm)
                lines.append(self._line(name, algorithm, cells, "-" if paper is None else f"{paper[-1]:.3f}"))
        return lines


STUDIES = (SourcesTable("multiboost-4.1", "Storcheus (2021), Table 4.1: several sources"),)
