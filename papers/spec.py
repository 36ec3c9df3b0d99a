"""What a table of a paper says: which algorithms, over which grids, on which sets, with which outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from radboost.estimators.deepboost import DeepBoostClassifier

Grid = dict[str, Sequence[Any]]
"""Parameter -> values to try."""

Choice = dict[str, Any]
"""Parameter -> value."""


@dataclass(frozen=True)
class Figures:
    """One cell of a table: test error with its standard deviation, size of a tree, number of trees (None: not told)."""

    error: float
    std: float
    tree_size: float | None = None
    n_trees: float | None = None


@dataclass(frozen=True)
class Algorithm:
    """One column of a table: its fixed parameters, and the grid of those that are chosen."""

    name: str
    fixed: Mapping[str, Any]
    grid: Grid
    coarse: Grid
    """The smaller grid of a quick run."""
    beyond: Grid = field(default_factory=dict)
    """All values, in order, that a range of the grid may grow to when the best one lies at its end."""
    estimator: type[DeepBoostClassifier] = DeepBoostClassifier
    """What is fitted, as in its paper."""

    def start(self, *, quick: bool = False) -> Grid:
        """The grid as it is before any range has grown."""
        return self.coarse if quick else self.grid

    def configurations(self, *, quick: bool = False) -> list[Choice]:
        """Every choice of parameters in the first grid."""
        return self.combine(self.start(quick=quick))

    def combine(self, grid: Grid) -> list[Choice]:
        """Every choice of parameters in a grid."""
        return [dict(self.fixed) | dict(zip(grid, values, strict=True)) for values in product(*grid.values())]

    def widen(self, grid: Grid, error: Callable[[Choice], float]) -> Grid:
        """The grid with one more value at each end that does better than everything inside its range.

        `error` is that of a choice, with the fixed parameters. An end that is only as good as a value inside has
        nothing to say about what lies beyond.
        """
        wider = dict(grid)
        choices = [(choice, error(choice)) for choice in self.combine(grid)]
        for name, values in self.beyond.items():
            tried = [values.index(value) for value in grid[name]]
            lowest = {i: min(e for choice, e in choices if choice[name] == values[i]) for i in tried}
            first, last = min(tried), max(tried)
            inside = min((lowest[i] for i in tried if i not in (first, last)), default=float("inf"))
            best = min(lowest[first], lowest[last])
            if best < inside:
                new = [end + way for end, way in ((first, -1), (last, 1)) if lowest[end] == best]
                wider[name] = (*grid[name], *(values[i] for i in new if 0 <= i < len(values)))
        return wider


@dataclass(frozen=True)
class Table:
    """A table of a paper, to be run again."""

    name: str
    title: str
    algorithms: tuple[Algorithm, ...]
    tree_size: Literal["n_splits", "n_nodes"]
    """What the paper counts as the size of a tree."""
    figures: Mapping[str, tuple[Figures | None, ...]]
    """What the paper reports: data set -> one entry per algorithm, None where it reports nothing."""
    folds: int = 10
    """The rows are dealt into so many folds, and each tests once."""
    quick_runs: int = 3
    """How many of the folds test in a quick run."""
    rule: str = "validated"
    """How the configuration is chosen; a name in `papers.protocol.RULES`."""
    favourite: str = ""
    """The algorithm that the paper calls better, which paired tests compare with the others; empty: the last one."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, under the paper's names and in its order."""
        return tuple(self.figures)

    def runs(self, *, quick: bool = False, wanted: int | None = None) -> int:
        """How many of the folds test: as many as are wanted."""
        if wanted is None:
            return self.quick_runs if quick else self.folds
        if not 1 <= wanted <= self.folds:
            raise ValueError(f"{self.name} has {self.folds} runs and not {wanted}; ask for 1 to {self.folds}")
        return wanted
