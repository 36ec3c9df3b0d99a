"""The protocol of "Deep Boosting", section 4.

The rows are dealt at random into ten folds. In run i fold i tests, fold i + 1 (mod 10) validates, the others
train; the configuration with the lowest validation error is the one whose test error counts. Small validation
folds tie often, and the paper does not say what then: here the lower mean loss on the validation fold decides,
then the smaller ensemble (the sizes of its trees added up), then the order of the grid.

Some tree sizes in the paper's Tables 2 and 3 are exactly those of full trees of one depth, as if one configuration had
been chosen for all ten runs. So each cell also says what that gives (`together`), and what the grid could give at best
(`hindsight`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from radboost import datasets as registry
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.experiments.spec import Figures, Table
from radboost.losses import get_loss

FOLDS = 10
QUICK_RUNS = 3
ROUNDS = 100

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Run:
    """One configuration in one run: its errors, the mean size of its trees and their number."""

    fold: int
    parameters: dict[str, Any]
    validation_error: float
    validation_loss: float
    test_error: float
    tree_size: float
    n_trees: int


@dataclass(frozen=True)
class Cell:
    """One algorithm on one data set: the chosen configuration of each run, beside the paper's figures."""

    dataset: str
    algorithm: str
    runs: tuple[Run, ...]
    together: float
    """Mean test error of the one configuration whose mean validation error (then loss) over all runs is lowest."""
    hindsight: float
    """The lowest mean test error of any one configuration kept through all runs: what the grid has to offer."""
    paper: Figures

    @property
    def error(self) -> float:
        """Mean test error over the runs."""
        return float(np.mean([run.test_error for run in self.runs]))

    @property
    def std(self) -> float:
        """Standard deviation of the test error over the runs."""
        return float(np.std([run.test_error for run in self.runs]))

    @property
    def tree_size(self) -> float:
        """Mean over the runs of the mean size of a tree."""
        return float(np.mean([run.tree_size for run in self.runs]))

    @property
    def n_trees(self) -> float:
        """Mean number of trees with a weight."""
        return float(np.mean([run.n_trees for run in self.runs]))

    @property
    def within(self) -> bool:
        """Whether the error is at most the paper's plus one of its standard deviations."""
        return self.error <= self.paper.error + self.paper.std


def partition(rows: int, seed: int) -> list[Rows]:
    """Deal the rows at random into folds."""
    return np.array_split(np.random.default_rng(seed).permutation(rows), FOLDS)


def parts(folds: Sequence[Rows], run: int) -> tuple[Rows, Rows, Rows]:
    """The rows that train, validate and test in that run."""
    validation = (run + 1) % len(folds)
    train = np.concatenate([fold for i, fold in enumerate(folds) if i not in (run, validation)])
    return train, folds[validation], folds[run]


def choose(candidates: Sequence[Run]) -> Run:
    """The lowest validation error; of equals the lowest validation loss, the smallest ensemble, the first."""
    return min(candidates, key=lambda run: (run.validation_error, run.validation_loss, run.tree_size * run.n_trees))


def reproduce(
    table: Table,
    *,
    datasets: Sequence[str] | None = None,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 1,
    data_dir: str | None = None,
    split_criterion: str = "edge",
    advance: Callable[[str], None] = lambda _: None,
) -> Iterator[Cell]:
    """Run a table, or some of its data sets, and yield each cell when it is done.

    `quick` makes three of the ten runs with a coarse grid. Fits run in `jobs` processes of one thread each;
    `advance` is called with the name of the data set after each of the `count_fits` fits.
    """
    runs = range(QUICK_RUNS if quick else FOLDS)
    grids = [algorithm.configurations(quick=quick) for algorithm in table.algorithms]
    for name in select(table, datasets):
        data = registry.load(name, data_dir)
        folds = partition(len(data.y), seed)
        fits = (
            delayed(_fit)(data.X, data.y, folds, run, {**choice, "split_criterion": split_criterion}, table.tree_size)
            for grid in grids
            for run in runs
            for choice in grid
        )
        outcomes = Parallel(n_jobs=jobs, return_as="generator")(fits)
        for algorithm, grid, paper in zip(table.algorithms, grids, table.figures[name], strict=True):
            tried: list[list[Run]] = [[] for _ in runs]
            for candidates in tried:
                for outcome in islice(outcomes, len(grid)):
                    candidates.append(outcome)
                    advance(name)
            chosen = tuple(choose(candidates) for candidates in tried)
            yield Cell(name, algorithm.name, chosen, *_one_for_all_runs(tried), paper)


def _one_for_all_runs(tried: Sequence[Sequence[Run]]) -> tuple[float, float]:
    """`together` and `hindsight` of a cell; `tried` holds every configuration of each run, in the order of the grid."""
    means = [
        tuple(
            float(np.mean([getattr(run, key) for run in runs]))
            for key in ("validation_error", "validation_loss", "test_error")
        )
        for runs in zip(*tried, strict=True)
    ]
    return min(means, key=lambda mean: mean[:2])[2], min(mean[2] for mean in means)


def count_fits(table: Table, datasets: Sequence[str] | None = None, *, quick: bool = False) -> int:
    """How many models `reproduce` fits."""
    configurations = sum(len(algorithm.configurations(quick=quick)) for algorithm in table.algorithms)
    return len(select(table, datasets)) * configurations * (QUICK_RUNS if quick else FOLDS)


def select(table: Table, datasets: Sequence[str] | None) -> tuple[str, ...]:
    """The data sets of the table that were asked for, in its order and under its names."""
    if datasets is None:
        return table.datasets
    wanted = {registry.entry(name).name: name for name in datasets}
    chosen = tuple(name for name in table.datasets if registry.entry(name).name in wanted)
    for name in chosen:
        del wanted[registry.entry(name).name]
    if wanted:
        raise ValueError(f"{table.name} lacks {', '.join(wanted.values())}; its sets are {', '.join(table.datasets)}")
    return chosen


def _fit(
    X: NDArray[Any], y: NDArray[Any], folds: Sequence[Rows], run: int, parameters: dict[str, Any], size: str
) -> Run:
    train, validation, test = parts(folds, run)
    model = DeepBoostClassifier.paper(**parameters, n_rounds=ROUNDS, n_jobs=1)
    model.fit(X[train], y[train])
    margins = np.where(y[validation] == model.classes_[1], 1.0, -1.0) * model.decision_function(X[validation])
    sizes = [getattr(hypothesis, size) for hypothesis in model.ensemble_.hypotheses]
    return Run(
        fold=run,
        parameters=parameters,
        validation_error=1.0 - model.score(X[validation], y[validation]),
        validation_loss=float(np.mean(get_loss(model.loss).value(1.0 - margins))),
        test_error=1.0 - model.score(X[test], y[test]),
        # a penalty can be too strong for any tree: an empty ensemble, of size 0
        tree_size=float(np.mean(sizes)) if sizes else 0.0,
        n_trees=len(sizes),
    )
