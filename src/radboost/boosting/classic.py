"""Base of the older algorithms: training rows with integer weights, and trees that come again."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from radboost import complexity
from radboost._typing import ClassIds
from radboost.boosting.driver import RoundMaker
from radboost.boosting.trace import Step, Trace
from radboost.engine import BinnedData, Collective
from radboost.families.raw_rows import RawRows
from radboost.rows.weights import RowWeights
from radboost.trees import GivenTrees, GrowthSettings, Tree, TreeOptions

# Steps are multiples of this, so that scores of up to 2^17 add up without rounding.
STEP_GRID = 2.0**-36
DEEPEST = 60

NO_EDGE = "converged: no tree is better than chance on the reweighted rows"
FLAWLESS = "one tree is right on every row"


@dataclass(frozen=True)
class ClassicProblem:
    """Training rows as the algorithms see them, sorted by class."""

    data: BinnedData
    class_ids: ClassIds
    n_classes: int
    weights: RowWeights
    raw_rows: RawRows
    n_threads: int
    collective: Collective | None = None

    @property
    def n_rows(self) -> int:
        return len(self.class_ids)

    def trees(self, n_classes: int, max_leaves: int) -> GivenTrees:
        """Trees for problems of so many classes, grown leaf by leaf by the impurity of Gini, like the paper's."""
        options = TreeOptions(growth="best_first", max_leaves=max_leaves)
        settings = GrowthSettings(max_depth=DEEPEST, criterion="gini", n_threads=self.n_threads, options=options)
        return GivenTrees(self.data, n_classes, settings, self.collective)

    def error_rate(self, wrong: npt.NDArray[np.bool_]) -> float:
        """Weighted fraction of the rows."""
        fixed, _ = self.weights.fixed(np.ones(self.n_rows))
        counted = self.weights.counted(fixed)
        return int(self.weights.add(np.where(wrong, counted, 0))) / int(self.weights.add(counted))

    @cached_property
    def n_questions(self) -> float:
        """d of the complexity bounds."""
        data = self.data
        return complexity.n_questions(data.n_bins(), data.has_missing() > 0, data.is_categorical() > 0)

    def complexity(self, tree: Tree) -> float:
        """Complexity r of a tree, as for DeepBoost."""
        return complexity.trees(tree.n_splits, self.weights.total, self.n_questions)


class ClassicRounds(RoundMaker):
    """One of the older algorithms, round by round."""

    final = frozenset({FLAWLESS})
    _error = 1.0  # of the trees of the last round

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        self.problem = problem
        self.trace = trace

    def reason_to_stop(self, idle: int) -> str | None:
        return FLAWLESS if self._error == 0.0 else None


@dataclass
class RepeatedTrees:
    """Hypotheses of a trace, each tree once: a tree that comes again adds to its weight."""

    problem: ClassicProblem
    trace: Trace
    _indices: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, tree in enumerate(self.trace.hypotheses):
            assert isinstance(tree, Tree)
            self._indices[_own_key(tree)] = index

    def add(self, tree: Tree, step: float, round_index: int) -> Step:
        """weight of `tree` += step."""
        own = _own_key(tree)
        if own not in self._indices:
            self._indices[own] = self.trace.enter(tree, self.problem.complexity(tree))
        taken = Step(round_index, self._indices[own], step)
        self.trace.steps.append(taken)
        return taken

    def tree_of(self, step: Step) -> Tree:
        tree = self.trace.hypotheses[step.hypothesis]
        assert isinstance(tree, Tree)
        return tree


def _own_key(tree: Tree) -> bytes:
    """Unlike `Tree.key`, not shared with the mirror image."""
    key, sign = tree.key()
    return key + sign.hex().encode()
