"""What a table of a paper says: which algorithms, over which grids, on which sets, with which outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

Grid = dict[str, Sequence[Any]]
"""Parameter -> values to try."""


@dataclass(frozen=True)
class Figures:
    """One cell of a table: test error with its standard deviation, size of a tree, number of trees."""

    error: float
    std: float
    tree_size: float
    n_trees: float


@dataclass(frozen=True)
class Algorithm:
    """One column of a table: its fixed parameters, and the grid of those chosen on the validation fold."""

    name: str
    fixed: Mapping[str, Any]
    grid: Grid
    coarse: Grid
    """The smaller grid of a quick run."""

    def configurations(self, *, quick: bool = False) -> list[dict[str, Any]]:
        """Every choice of parameters."""
        grid = self.coarse if quick else self.grid
        return [dict(self.fixed) | dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


@dataclass(frozen=True)
class Table:
    """A table of a paper, to be run again."""

    name: str
    title: str
    algorithms: tuple[Algorithm, ...]
    tree_size: Literal["n_splits", "n_nodes"]
    """What the paper counts as the size of a tree."""
    figures: Mapping[str, tuple[Figures, ...]]
    """What the paper reports: data set -> one entry per algorithm."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, under the paper's names and in its order."""
        return tuple(self.figures)
