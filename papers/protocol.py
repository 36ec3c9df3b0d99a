"""The protocol of "Deep Boosting", section 4, and of "Multi-Class Deep Boosting", section 4.

The rows are dealt at random into ten folds (four in the second paper). In run i fold i tests, fold i + 1 (modulo their
number) validates, the others train; the configuration with the lowest validation error is the one whose test error
counts. Small validation folds tie often, and the papers do not say what then: here the lower mean loss on the
validation fold decides, then the smaller ensemble (the sizes of its trees added up), then the order of the grid.

Some tree sizes in Tables 2 and 3 of the first paper are exactly those of full trees of one depth, as if one
configuration had been chosen for all runs, and Tables 2 and 3 of the second choose by the test error. So each cell also
says what other rules of choice give (`RULES`); the last of them takes the error over all rows for the test error, which
is what those two tables look like.

The second paper extends a range of its grid when the best value lies at an end (`Algorithm.widen`). It does not say how
four runs agree on that: here the best value is that of the lowest error in the mean over the runs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from papers import datasets as registry
from papers.datasets import Dataset
from papers.kept import KeptResults
from papers.spec import Algorithm, Choice, Figures, Grid, Table
from papers.workers import in_processes
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.losses import get_loss
from radboost.objectives import row_cost
from radboost.trees import with_tree_options

ROUNDS = 100

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Run:
    """One configuration in one run: its errors, the mean size of its trees and their number."""

    fold: int
    parameters: Choice
    validation_error: float
    validation_loss: float
    test_error: float
    tree_size: float
    n_trees: int
    overall_error: float = math.nan
    """Over all rows, those that trained too."""


Runs = tuple[Run, ...]
"""One configuration, or one per run, through all runs."""


def _by_validation(run: Run) -> tuple[float, ...]:
    return run.validation_error, run.validation_loss, run.tree_size * run.n_trees


def _by_test(run: Run) -> tuple[float, ...]:
    return run.test_error, run.tree_size * run.n_trees


def _by_all_rows(run: Run) -> tuple[float, ...]:
    return run.overall_error, run.tree_size * run.n_trees


class Rule(NamedTuple):
    """A way to choose from the grid."""

    about: str
    key: Callable[[Run], tuple[float, ...]]
    """What should be small, the error first."""
    each_run: bool
    """Whether every run chooses for itself, or one configuration must do for all."""
    reported: Literal["test_error", "overall_error"] = "test_error"
    """The error of the chosen configuration that counts."""

    def report(self, tried: Sequence[Runs]) -> float:
        """Mean error of what this rule chooses."""
        return float(np.mean([getattr(run, self.reported) for run in self.choose(tried)]))

    def choose(self, tried: Sequence[Runs]) -> Runs:
        """The chosen configuration of each run, the first of equals; `tried` holds the runs of every configuration."""
        if self.each_run:
            return tuple(min(candidates, key=self.key) for candidates in zip(*tried, strict=True))
        return min(tried, key=self._means)

    def error(self, runs: Runs) -> float:
        """Mean over the runs of what this rule wants small first."""
        return self._means(runs)[0]

    def _means(self, runs: Runs) -> tuple[float, ...]:
        return tuple(np.mean([self.key(run) for run in runs], axis=0).tolist())


RULES = {
    "validated": Rule("each run with its best configuration by validation error", _by_validation, True),
    "together": Rule("one configuration for all runs, the best by mean validation error", _by_validation, False),
    "hindsight": Rule("one configuration for all runs, the best by mean test error", _by_test, False),
    "lowest": Rule("each run with its best configuration by test error, which flatters", _by_test, True),
    "all rows": Rule(
        "one configuration for all runs, the best by mean error over all rows, and that error: training rows count",
        _by_all_rows,
        False,
        "overall_error",
    ),
}


@dataclass(frozen=True)
class Cell:
    """One algorithm on one data set: the chosen configuration of each run, beside the paper's figures."""

    dataset: str
    algorithm: str
    runs: Runs
    others: dict[str, float]
    """What the other `RULES` give: the mean error that they report."""
    paper: Figures | None
    reported: Literal["test_error", "overall_error"] = "test_error"
    """The error that counts."""

    @property
    def errors(self) -> list[float]:
        """Of each run."""
        return [getattr(run, self.reported) for run in self.runs]

    @property
    def error(self) -> float:
        """Mean error over the runs."""
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        """Standard deviation of the error over the runs."""
        return float(np.std(self.errors))

    @property
    def tree_size(self) -> float:
        """Mean over the runs of the mean size of a tree."""
        return float(np.mean([run.tree_size for run in self.runs]))

    @property
    def n_trees(self) -> float:
        """Mean number of trees with a weight."""
        return float(np.mean([run.n_trees for run in self.runs]))

    @property
    def within(self) -> bool | None:
        """Whether the error is at most the paper's plus one of its standard deviations; None without such."""
        return None if self.paper is None else self.error <= self.paper.error + self.paper.std


def partition(rows: int, folds: int, seed: int) -> list[Rows]:
    """Deal the rows at random into folds."""
    return np.array_split(np.random.default_rng(seed).permutation(rows), folds)


def parts(folds: Sequence[Rows], run: int) -> tuple[Rows, Rows, Rows]:
    """The rows that train, validate and test in that run."""
    validation = (run + 1) % len(folds)
    train = np.concatenate([fold for i, fold in enumerate(folds) if i not in (run, validation)])
    return train, folds[validation], folds[run]


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True)
class Conditions:
    """How a table is run.

    `quick` makes some of the runs with a coarse grid, `runs` as many as it says. Fits run in `jobs` processes of one
    thread each, and what is in `kept` is not fitted again. `advance` is called with the name of the data set after each
    fit, `expect` with the number of fits that a grid has grown by; `count_fits` tells how many there are without these.
    """

    quick: bool = False
    runs: int | None = None
    seed: int = 0
    jobs: int = 1
    data_dir: str | None = None
    split_criterion: str = "edge"
    kept: KeptResults | None = None
    advance: Callable[[str], None] = _nothing
    expect: Callable[[int], None] = _nothing


def reproduce(table: Table, datasets: Sequence[str] | None = None, **conditions: Any) -> Iterator[Cell]:
    """Run a table, or some of its data sets, and yield each cell when it is done; `conditions` as in `Conditions`."""
    given = Conditions(**conditions)
    rule = RULES[table.rule]
    for name in select(table, datasets):
        study = _Study(table, name, registry.load(name, given.data_dir), given)
        for algorithm, paper in zip(table.algorithms, table.figures[name], strict=True):
            tried = study.try_all(algorithm)
            others = {other: RULES[other].report(tried) for other in RULES if other != table.rule}
            yield Cell(name, algorithm.name, rule.choose(tried), others, paper, rule.reported)


def paired_tests(table: Table, cells: Sequence[Cell]) -> list[PairedTest]:
    """The one-sided paired t-tests of "Deep Boosting", section 4, for every data set that is complete."""
    favourite = table.favourite or table.algorithms[-1].name
    tests = []
    for name in dict.fromkeys(cell.dataset for cell in cells):
        errors = {cell.algorithm: cell.errors for cell in cells if cell.dataset == name}
        if favourite in errors and len(errors[favourite]) > 1:
            others = [other for other in errors if other != favourite]
            tests += [PairedTest(name, favourite, o, chance_of_lead(errors[favourite], errors[o])) for o in others]
    return tests


class PairedTest(NamedTuple):
    """How likely so large a lead of one algorithm over another is by chance."""

    dataset: str
    algorithm: str
    against: str
    p_value: float


def chance_of_lead(errors: Sequence[float], others: Sequence[float]) -> float:
    """The one-tailed paired t-test; 1/2 where the errors are the same in every fold."""
    if np.array_equal(errors, others):
        return 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of differences that are all alike
        return float(ttest_rel(errors, others, alternative="less").pvalue)


class _Study:
    """The fits on one data set."""

    def __init__(self, table: Table, name: str, data: Dataset, conditions: Conditions) -> None:
        self._table, self._name, self._data, self._conditions = table, name, data, conditions
        self._folds = partition(len(data.y), table.folds, conditions.seed)
        self._kept = conditions.kept or KeptResults()

    def try_all(self, algorithm: Algorithm) -> list[Runs]:
        """The runs of every configuration, those of grown ranges last."""
        tried: dict[str, Runs] = {}

        def error(choice: Choice) -> float:
            return RULES[self._table.rule].error(tried[repr(choice)])

        grid: Grid | None = None
        wider = algorithm.start(quick=self._conditions.quick)
        while wider != grid:
            grid = wider
            new = [choice for choice in algorithm.combine(grid) if repr(choice) not in tried]
            if tried:
                self._conditions.expect(len(new) * self._n_runs)
            for choice, runs in zip(new, self._fit_all(algorithm.estimator, new), strict=True):
                tried[repr(choice)] = runs
            wider = algorithm.widen(grid, error)
        return list(tried.values())

    @property
    def _n_runs(self) -> int:
        return self._table.runs(quick=self._conditions.quick, wanted=self._conditions.runs)

    def _fit_all(self, estimator: type[DeepBoostClassifier], choices: Sequence[Choice]) -> Iterator[Runs]:
        """The runs of each choice, in order."""
        same: Choice = {"split_criterion": self._conditions.split_criterion}
        if self._data.categorical_features:
            same["categorical_features"] = list(self._data.categorical_features)
        wanted = [(run, choice | same) for choice in choices for run in range(self._n_runs)]
        fits = (
            delayed(fit_run)(estimator, self._data.X, self._data.y, self._folds, run, parameters, self._table.tree_size)
            for run, parameters in wanted
            if self._kept.get(self._facts(estimator, run, parameters)) is None
        )
        fitted = in_processes(fits, self._conditions.jobs)
        done = (
            self._result(self._facts(estimator, run, parameters), run, parameters, fitted) for run, parameters in wanted
        )
        for _ in choices:
            yield tuple(next(done) for _ in range(self._n_runs))

    def _result(self, facts: dict[str, Any], run: int, parameters: Choice, fitted: Iterator[Run]) -> Run:
        known = self._kept.get(facts)
        if known is None:
            outcome = next(fitted)
            measured = {name: value for name, value in asdict(outcome).items() if name not in ("fold", "parameters")}
            self._kept.add(facts, measured)
        else:
            outcome = Run(fold=run, parameters=parameters, **known)
        self._conditions.advance(self._name)
        return outcome

    def _facts(self, estimator: type[DeepBoostClassifier], run: int, parameters: Choice) -> dict[str, Any]:
        """What the outcome of a fit depends on."""
        return {
            "estimator": estimator.__name__,
            "radboost": version("radboost"),
            "dataset": self._data.name,
            "folds": self._table.folds,
            "seed": self._conditions.seed,
            "run": run,
            "rounds": ROUNDS,
            "size": self._table.tree_size,
            "parameters": parameters,
        }


def count_fits(
    table: Table, datasets: Sequence[str] | None = None, *, quick: bool = False, runs: int | None = None
) -> int:
    """How many models `reproduce` fits, before any range of a grid grows."""
    configurations = sum(len(algorithm.configurations(quick=quick)) for algorithm in table.algorithms)
    return len(select(table, datasets)) * configurations * table.runs(quick=quick, wanted=runs)


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


def fit_run(
    estimator: type[DeepBoostClassifier],
    X: NDArray[Any],
    y: NDArray[Any],
    folds: Sequence[Rows],
    run: int,
    parameters: Choice,
    size: str,
) -> Run:
    """One configuration in one run."""
    train, validation, test = parts(folds, run)
    model = estimator.paper(**with_tree_options(parameters), n_rounds=ROUNDS, n_jobs=1)
    model.fit(X[train], y[train])
    sizes = [getattr(hypothesis, size) for hypothesis in model.ensemble_.hypotheses]
    return Run(
        fold=run,
        parameters=parameters,
        validation_error=1.0 - model.score(X[validation], y[validation]),
        validation_loss=_mean_loss(model, X[validation], y[validation]),
        test_error=1.0 - model.score(X[test], y[test]),
        # a penalty can be too strong for any tree: an empty ensemble, of size 0
        tree_size=float(np.mean(sizes)) if sizes else 0.0,
        n_trees=len(sizes),
        overall_error=1.0 - model.score(X, y),
    )


def _mean_loss(model: DeepBoostClassifier, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Mean loss of the rows, without those of a class that was not there to learn from."""
    known = np.isin(y, model.classes_)
    class_ids = np.searchsorted(model.classes_, y[known])
    scores = model.decision_function(X[known])
    cost = row_cost(model.objective_, len(model.classes_))
    return float(np.mean(cost.row_losses(get_loss(model.loss), scores, class_ids.astype(np.uint16))))
