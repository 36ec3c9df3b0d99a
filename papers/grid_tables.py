"""Protocol of "Deep Boosting" and "Multi-Class Deep Boosting", section 4 of both: parameters chosen by a fold.

The rows are dealt at random into folds. In run i fold i tests, fold i + 1 (modulo their number) validates, the others
train; the configuration with the lowest validation error is the one whose test error counts. Small validation folds tie
often, and the papers do not say what then. Here the lower mean loss on the validation fold decides, then the smaller
ensemble (sizes of its trees added up), then the order of the grid.

Some tables look as if another rule had chosen: one configuration for all runs, or the best by test error. So each row
has the error by every one of `RULES`.

The second paper extends a range of its grid when the best value lies at an end (`Column.widen`). It does not say how
four runs agree on that: here the best value is that of the lowest error in the mean over the runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.harness import (
    Choice,
    Facts,
    Grid,
    Outcome,
    Result,
    Row,
    Study,
    chance_of_lead,
    combine,
    distinct,
    load,
    mean_std,
    published,
)
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.losses import get_loss
from radboost.objectives import row_cost
from radboost.trees import with_tree_options

ROUNDS = 100
PRINTED = {"size": ".4g", "trees": ".1f"}

Rows = NDArray[np.intp]
Runs = Sequence[Result]
"""Results of one configuration, or of one per run, through all runs."""


def _by_validation(one: Result) -> tuple[float, ...]:
    return one["validation_error"], one["validation_loss"], one["tree_size"] * one["n_trees"]


def _by_test(one: Result) -> tuple[float, ...]:
    return one["test_error"], one["tree_size"] * one["n_trees"]


class Rule(NamedTuple):
    """A way to choose from the grid."""

    about: str
    key: Callable[[Result], tuple[float, ...]]
    """What should be small, the error first."""
    each_run: bool
    """Whether every run chooses for itself, or one configuration must do for all."""

    def choose(self, tried: Sequence[Runs]) -> Runs:
        """Chosen results of each run, the first of equals; `tried` holds the runs of every configuration."""
        if self.each_run:
            return tuple(min(candidates, key=self.key) for candidates in zip(*tried, strict=True))
        return min(tried, key=self.means)

    def errors(self, tried: Sequence[Runs]) -> list[float]:
        """Error of each run by this rule."""
        return [one["test_error"] for one in self.choose(tried)]

    def means(self, runs: Runs) -> tuple[float, ...]:
        """Means over the runs of what should be small."""
        return tuple(np.mean([self.key(one) for one in runs], axis=0).tolist())


RULES = {
    "validated": Rule("each run with its best configuration by validation error", _by_validation, True),
    "together": Rule("one configuration for all runs, the best by mean validation error", _by_validation, False),
    "hindsight": Rule("one configuration for all runs, the best by mean test error", _by_test, False),
    "lowest": Rule("each run with its best configuration by test error, which flatters", _by_test, True),
}


@dataclass(frozen=True)
class Column:
    """An algorithm: its fixed parameters, and the grid of those that are chosen."""

    name: str
    fixed: Mapping[str, Any]
    grid: Grid
    coarse: Grid
    """Smaller grid of a quick run."""
    beyond: Grid = field(default_factory=dict)
    """All values, in order, that a range of the grid may grow to when the best one lies at its end."""

    def choices(self, grid: Grid) -> list[Choice]:
        """Every choice of parameters in a grid, with the fixed ones."""
        return [dict(self.fixed) | choice for choice in combine(grid)]

    def widen(self, grid: Grid, error: Callable[[Choice], float]) -> Grid:
        """Grid with one more value at each end that does better than everything inside its range.

        `error` is that of a choice, with the fixed parameters. An end that is only as good as a value inside says
        nothing about values beyond it.
        """
        wider = dict(grid)
        choices = [(choice, error(choice)) for choice in self.choices(grid)]
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
class GridTable(Study):
    """A table of errors by data set and algorithm."""

    table: str
    """Table of the paper with the same data sets and, under the same names, figures of the algorithms."""
    algorithms: tuple[Column, ...]
    rule: str = "validated"
    """How the configuration is chosen; a name in `RULES`."""
    favorite: str = ""
    """Algorithm that the paper calls better, which `p` compares with the others; empty: the last one."""
    tree_size: str = "n_nodes"
    """What the paper counts as the size of a tree: `n_nodes` or `n_splits`."""

    published: ClassVar[str]
    columns = (
        *("data set", "algorithm", "error (std)", "paper (std)", "within", *RULES),
        *("size", "paper size", "trees", "paper trees", "p"),
    )
    legend = (
        "error: mean test error of the configuration that the table's rule chooses\n"
        "within: the error is at most the paper's plus one of its standard deviations\n"
        + "".join(f"{name}: {rule.about}\n" for name, rule in RULES.items())
        + "size, trees: mean size of a tree (splits in deep-boosting-1, otherwise nodes), trees with a weight\n"
        "p: one-sided paired t-test over the runs, that the algorithm of the paper is ahead of this one"
    )

    @property
    def figures(self) -> dict[tuple[str, str], dict[str, str]]:
        """Error, its std, size and trees (empty: not given) of the paper by data set and algorithm."""
        rows = [row for row in published(self.published) if row["table"] == self.table]
        return {(row["data set"], row["algorithm"]): row for row in rows}

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.figures))

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [
            self._facts(name, column, choice, run)
            for name in chosen
            for column in self.algorithms
            for choice in column.choices(column.coarse if quick else column.grid)
            for run in range(runs)
        ]

    def _facts(self, name: str, column: Column, choice: Choice, run: int) -> Facts:
        return {
            "dataset": name,
            "algorithm": column.name,
            "parameters": choice,
            "rounds": ROUNDS,
            "folds": self.runs,
            "size": self.tree_size,
            "run": run,
        }

    def further(self, outcomes: Sequence[Outcome]) -> list[Facts]:
        new = []
        for name in distinct(outcomes, "dataset"):
            for column in self.algorithms:
                tried = tried_by(outcomes, name, column)
                made = [json.loads(key) for key in tried]
                grid = {parameter: tuple(dict.fromkeys(one[parameter] for one in made)) for parameter in column.grid}
                wider = column.widen(grid, lambda choice, of=tried: RULES[self.rule].means(of[json.dumps(choice)])[0])  # type: ignore[misc]
                choices = [choice for choice in column.choices(wider) if json.dumps(choice) not in tried]
                n_runs = len(next(iter(tried.values())))
                new += [self._facts(name, column, choice, run) for choice in choices for run in range(n_runs)]
        return new

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        data = load(facts["dataset"], data_dir)
        same = {"categorical_features": list(data.categorical_features)} if data.categorical_features else {}
        folds = partition(len(data.y), facts["folds"], facts["seed"])
        choice = facts["parameters"] | same
        return fit_choice(data.X, data.y, folds, facts["run"], choice, facts["size"])

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        rule, favorite = RULES[self.rule], self.favorite or self.algorithms[-1].name
        for name in distinct(outcomes, "dataset"):
            tried = {column.name: list(tried_by(outcomes, name, column).values()) for column in self.algorithms}
            errors = {algorithm: rule.errors(of_it) for algorithm, of_it in tried.items()}
            for algorithm, of_it in tried.items():
                p = ""
                if algorithm != favorite and len(errors[algorithm]) > 1:
                    p = f"{chance_of_lead(errors[favorite], errors[algorithm]):.3f}"
                rows.append([name, algorithm, *self._cells(name, algorithm, of_it), p])
        return rows

    def _cells(self, name: str, algorithm: str, tried: Sequence[Runs]) -> list[str]:
        chosen, errors = RULES[self.rule].choose(tried), RULES[self.rule].errors(tried)
        size = np.mean([one["tree_size"] for one in chosen])
        n_trees = np.mean([one["n_trees"] for one in chosen])
        paper = ["-", "-", "-", "-"]
        if (name, algorithm) in self.figures:
            row = self.figures[name, algorithm]
            error, std = float(row["error"]), float(row["std"])
            numbers = [format(float(row[key]), form) if row[key] else "-" for key, form in PRINTED.items()]
            paper = [f"{error:.4f} ({std:.4f})", "yes" if np.mean(errors) <= error + std else "no", *numbers]
        rules = (f"{np.mean(rule.errors(tried)):.4f}" for rule in RULES.values())
        ours = f"{size:.3g}" if size < 1000 else f"{size:.0f}"
        return [mean_std(errors), *paper[:2], *rules, ours, paper[2], f"{n_trees:.1f}", paper[3]]


def tried_by(outcomes: Sequence[Outcome], name: str, column: Column) -> dict[str, list[Result]]:
    """Results of each configuration of a column on a data set, in the order of the runs."""
    tried: dict[str, list[Result]] = {}
    for one in outcomes:
        if (one.facts["dataset"], one.facts["algorithm"]) == (name, column.name):
            tried.setdefault(json.dumps(one.facts["parameters"]), []).append(one.result)
    return tried


def partition(rows: int, folds: int, seed: int) -> list[Rows]:
    """Deal the rows at random into folds."""
    return np.array_split(np.random.default_rng(seed).permutation(rows), folds)


def parts(folds: Sequence[Rows], run: int) -> tuple[Rows, Rows, Rows]:
    """Rows that train, validate and test in that run."""
    validation = (run + 1) % len(folds)
    train = np.concatenate([fold for i, fold in enumerate(folds) if i not in (run, validation)])
    return train, folds[validation], folds[run]


def fit_choice(
    X: NDArray[Any],
    y: NDArray[Any],
    folds: Sequence[Rows],
    run: int,
    parameters: Choice,
    size: str = "n_nodes",
) -> Result:
    """Fit one configuration in one run; `size` is the attribute of a tree that counts as its size."""
    train, validation, test = parts(folds, run)
    model = DeepBoostClassifier.paper(**({"n_rounds": ROUNDS} | with_tree_options(parameters)), n_jobs=1)
    model.fit(X[train], y[train])
    sizes = [getattr(tree, size) for tree in model.ensemble_.hypotheses]
    return {
        "validation_error": 1.0 - model.score(X[validation], y[validation]),
        "validation_loss": mean_loss(model, X[validation], y[validation]),
        "test_error": 1.0 - model.score(X[test], y[test]),
        # a penalty can be too strong for any tree: an empty ensemble, of size 0
        "tree_size": float(np.mean(sizes)) if sizes else 0.0,
        "n_trees": len(sizes),
    }


def mean_loss(model: DeepBoostClassifier, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Mean loss of the rows, without those of a class that was not there to learn from."""
    known = np.isin(y, model.classes_)
    class_ids = np.searchsorted(model.classes_, y[known])
    scores = model.decision_function(X[known])
    cost = row_cost(model.objective_, len(model.classes_))
    return float(np.mean(cost.row_losses(get_loss(model.loss), scores, class_ids.astype(np.uint16))))
