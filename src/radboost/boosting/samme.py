"""Round of SAMME: one tree for all classes. Geist (2015, Soft-max boosting), Algorithm 4."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from radboost.boosting.classic import NO_EDGE, STEP_GRID, ClassicProblem, ClassicRounds, RepeatedTrees
from radboost.boosting.driver import End
from radboost.boosting.trace import Step, Trace
from radboost.engine import log
from radboost.penalties import on_grid
from radboost.rows.weights import GROWTH_TOTAL


class SAMME(ClassicRounds):
    """Round maker: descent on the exponential loss of SAMME (Zhu, Zou, Rosset and Hastie)."""

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        super().__init__(problem, max_leaves, trace)
        self.members = RepeatedTrees(problem, trace)
        self._trees = problem.trees(problem.n_classes, max_leaves)
        self._scores = np.zeros((problem.n_rows, problem.n_classes))
        self._missed = np.zeros(problem.n_rows)  # log of row weights: sum of alpha over trees that are wrong
        self._total_step = 0.0
        self._halves = 0.5 if problem.n_classes == 2 else 1.0  # with two classes one score stands for two

    def begin(self) -> None:
        """Do nothing: all rows start with equal weights."""

    def replay(self) -> None:
        for (step,) in self.trace.rounds():
            predicted = self.problem.raw_rows.classes(self.members.tree_of(step))
            self._move(predicted.astype(np.uint16), step.eta / self._halves)
        self.problem.raw_rows.forget()

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        problem, labels, n_classes = self.problem, self.problem.class_ids, self.problem.n_classes
        fixed, _ = problem.weights.fixed(problem.weights.exponentials(self._missed)[0])
        counted = problem.weights.counted(fixed)
        total = int(problem.weights.add(counted))
        growth = problem.weights.growth(fixed, GROWTH_TOTAL / total)
        (tree,) = self._trees.grow(labels[None], growth[None], round_index, problem.weights.given)
        predicted = self._trees.classes(tree)
        self._error = int(problem.weights.add(np.where(predicted != labels, counted, 0))) / total
        if self._error >= 1.0 - 1.0 / n_classes:
            return End(NO_EDGE)
        # A tree without an error would get an infinite step: its step is as if half a row were wrong.
        bounded = max(self._error, 0.5 / problem.weights.total)
        eta = on_grid(self._halves * (log((1.0 - bounded) / bounded) + log(n_classes - 1.0)), STEP_GRID)
        step = self.members.add(self._trees.hypothesis(tree), eta, round_index)
        self._move(predicted, eta / self._halves)
        return [step]

    def _move(self, predicted: npt.NDArray[np.uint16], alpha: float) -> None:
        self._total_step += alpha
        self._missed[predicted != self.problem.class_ids] += alpha
        self._scores[np.arange(self.problem.n_rows), predicted] += alpha

    def history_entry(self) -> dict[str, float]:
        wrong = self._scores.argmax(axis=1) != self.problem.class_ids
        return {
            "objective": self._mean_loss(),
            "train_error": self.problem.error_rate(wrong),
            "n_hypotheses": len(self.trace.hypotheses),
        }

    def _mean_loss(self) -> float:
        """Mean of exp(missed - (K - 1)/K * sum of all alphas): SAMME's exponential loss."""
        weights, n_classes = self.problem.weights, self.problem.n_classes
        values, shift = weights.exponentials(self._missed)
        fixed, bits = weights.fixed(values)
        mean = math.ldexp(int(weights.add(weights.counted(fixed))), -bits) / weights.total
        return mean * math.exp(float(shift) - self._total_step * (n_classes - 1) / n_classes)
