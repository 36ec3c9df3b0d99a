"""Round of AdaBoost.MH: a tree for each class, one step for all. Geist (2015, Soft-max boosting), Algorithm 3."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.boosting.classic import NO_EDGE, STEP_GRID, ClassicProblem, ClassicRounds, RepeatedTrees
from radboost.boosting.driver import End
from radboost.boosting.trace import Step, Trace
from radboost.engine import log
from radboost.penalties import on_grid
from radboost.rows.weights import GROWTH_TOTAL
from radboost.trees import Tree


class AdaBoostMH(ClassicRounds):
    """Round maker: descent on the mean exponential loss over pairs (row, class).

    Arrays of pairs have shape (n_trees, n_rows), a row for each class that has a tree.
    """

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        super().__init__(problem, max_leaves, trace)
        self.members = RepeatedTrees(problem, trace)
        self._trees = problem.trees(2, max_leaves)
        # With two classes only the second has trees: the first would have their mirror images.
        self._columns = np.array([1]) if problem.n_classes == 2 else np.arange(problem.n_classes)
        self._is_label = self._columns[:, None] == problem.class_ids
        self._labels, self._target = self._is_label.astype(np.uint16), np.where(self._is_label, 1.0, -1.0)
        self._scores = np.zeros(self._is_label.shape)

    def begin(self) -> None:
        self._pair_weights = _PairWeights(self.problem, -self._target * self._scores)

    def replay(self) -> None:
        votes = 1 if len(self._columns) == 1 else 2  # the weight of a tree is alpha, or 2 alpha where it may abstain
        for steps in self.trace.rounds():
            trees = [self.members.tree_of(step) for step in steps]
            predicted = np.stack([self.problem.raw_rows.classes(tree) for tree in trees])
            self._move(predicted == self._columns[:, None], steps[0].eta / votes)
        self.problem.raw_rows.forget()
        self.begin()

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        problem, pairs, n_trees = self.problem, self._pair_weights, len(self._columns)
        growth = problem.weights.growth(pairs.fixed, GROWTH_TOTAL / pairs.totals[:, None])
        grown = self._trees.grow(self._labels, growth, round_index, problem.weights.given)
        plus = np.stack([self._trees.classes(tree) for tree in grown]) == 1
        self._error = pairs.total(plus != self._is_label) / pairs.total()
        if self._error >= 0.5:
            return End(NO_EDGE)
        # Trees without an error would get an infinite step: theirs is as if half a pair were wrong.
        bounded = max(self._error, 0.5 / (problem.weights.total * n_trees))
        alpha = on_grid(0.5 * log((1.0 - bounded) / bounded), STEP_GRID)
        steps = []
        for column, tree in zip(self._columns, grown, strict=True):
            hypothesis = self._trees.hypothesis(tree)
            if n_trees == 1:
                steps.append(self.members.add(hypothesis, alpha, round_index))
            else:
                votes = votes_for(hypothesis, int(column), problem.n_classes)
                steps.append(self.members.add(votes, 2.0 * alpha, round_index))
        self._move(plus, alpha)
        self.begin()
        return steps

    def _move(self, plus: npt.NDArray[np.bool_], alpha: float) -> None:
        self._scores += np.where(plus, alpha, -alpha)

    def history_entry(self) -> dict[str, float]:
        problem, pairs, n_trees = self.problem, self._pair_weights, len(self._columns)
        predicted = self._scores[0] > 0 if n_trees == 1 else self._scores.argmax(axis=0)
        return {
            "objective": pairs.total() * math.exp(pairs.shift) / (problem.weights.total * n_trees),
            "train_error": problem.error_rate(predicted != problem.class_ids),
            "n_hypotheses": len(self.trace.hypotheses),
        }


class _PairWeights:
    """Weights w(x, y) proportional to exp(exponents), in fixed point, with a scale for each class."""

    # One scale for all would round the weights of a class that is learned early to 0.

    def __init__(self, problem: ClassicProblem, exponents: FloatArray) -> None:
        self._weights = problem.weights
        values, shifts = self._weights.exponentials(exponents)
        self.fixed, bits = self._weights.fixed(values)
        self._counted = self._weights.counted(self.fixed)
        self.totals = self._weights.add(self._counted)
        self.shift = float(shifts.max())
        self._units = [math.exp(float(shift) - self.shift) * 2.0**-bits for shift in shifts]

    def total(self, chosen: npt.NDArray[np.bool_] | None = None) -> float:
        """Sum of the weights of the chosen pairs (None: of all), in units of exp(shift)."""
        sums = self.totals if chosen is None else self._weights.add(np.where(chosen, self._counted, 0))
        return math.fsum(unit * int(value) for unit, value in zip(self._units, sums, strict=True))


def votes_for(tree: Tree, class_index: int, n_classes: int) -> Tree:
    """Tree that votes for a class where `tree` predicts +1, and abstains elsewhere."""
    value = np.where(tree.feature >= 0, 0.0, np.where(tree.value > 0, float(class_index), -1.0))
    return tree.with_values(value, n_classes)
