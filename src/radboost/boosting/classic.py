"""Base of the round makers of older algorithms (SAMME, AdaBoost.MH, martingale boosting), as in Geist (2015)."""

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
DEEPEST = 60  # depth of a tree

NO_EDGE = "converged: no tree is better than chance on the reweighted rows"
FLAWLESS = "one tree is right on every row"


@dataclass(frozen=True)
class ClassicProblem:
    """Training rows, sorted by class."""

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
        """Grower of trees for problems of `n_classes` classes, best first by Gini impurity, as in the paper."""
        options = TreeOptions(growth="best_first", max_leaves=max_leaves)
        settings = GrowthSettings(max_depth=DEEPEST, criterion="gini", n_threads=self.n_threads, options=options)
        return GivenTrees(self.data, n_classes, settings, self.collective)

    def error_rate(self, wrong: npt.NDArray[np.bool_]) -> float:
        """Weighted fraction of the rows that are wrong."""
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
    """Base of the round makers."""

    final = frozenset({FLAWLESS})
    _error = 1.0  # weighted error of the trees of the last round

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        self.problem = problem
        self.trace = trace

    def reason_to_stop(self, idle: int) -> str | None:
        return FLAWLESS if self._error == 0.0 else None


@dataclass
class RepeatedTrees:
    """Hypotheses of a trace without duplicates: a tree that is grown again adds to its weight."""

    problem: ClassicProblem
    trace: Trace
    _indices: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, tree in enumerate(self.trace.hypotheses):
            assert isinstance(tree, Tree)
            self._indices[_signed_key(tree)] = index

    def add(self, tree: Tree, step: float, round_index: int) -> Step:
        """Add `step` to the weight of `tree`."""
        key = _signed_key(tree)
        if key not in self._indices:
            self._indices[key] = self.trace.enter(tree, self.problem.complexity(tree))
        step_taken = Step(round_index, self._indices[key], step)
        self.trace.steps.append(step_taken)
        return step_taken

    def tree_of(self, step: Step) -> Tree:
        tree = self.trace.hypotheses[step.hypothesis]
        assert isinstance(tree, Tree)
        return tree


def _signed_key(tree: Tree) -> bytes:
    """Key of a tree that, unlike `Tree.key`, differs from that of its mirror image -h."""
    key, sign = tree.key()
    return key + sign.hex().encode()
