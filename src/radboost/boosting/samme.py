"""A round of SAMME: one tree for all classes. Soft-max boosting, Algorithm 4."""

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
    """Descent on the exponential loss of Zhu, Zou, Rosset and Hastie."""

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        super().__init__(problem, max_leaves, trace)
        self.members = RepeatedTrees(problem, trace)
        self._trees = problem.trees(problem.n_classes, max_leaves)
        self._scores = np.zeros((problem.n_rows, problem.n_classes))
        self._missed = np.zeros(problem.n_rows)  # sum of the alphas that were wrong about a row: the log of its weight
        self._total_step = 0.0
        self._halves = 0.5 if problem.n_classes == 2 else 1.0  # the two scores of a tree's vote are one number there

    def begin(self) -> None:
        """Gives all rows the same weight."""

    def replay(self) -> None:
        for (step,) in self.trace.rounds():
            answers = self.problem.raw_rows.answers(self.members.tree_of(step))
            self._move(answers.astype(np.uint16), step.eta / self._halves)
        self.problem.raw_rows.forget()

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        problem, labels, n_classes = self.problem, self.problem.class_ids, self.problem.n_classes
        fixed, _ = problem.weights.fixed(problem.weights.exponentials(self._missed)[0])
        counted = problem.weights.counted(fixed)
        total = int(problem.weights.add(counted))
        growth = problem.weights.growth(fixed, GROWTH_TOTAL / total)
        (tree,) = self._trees.grow(labels[None], growth[None], round_index, problem.weights.given)
        answers = self._trees.answers(tree)
        self._error = int(problem.weights.add(np.where(answers != labels, counted, 0))) / total
        if self._error >= 1.0 - 1.0 / n_classes:
            return End(NO_EDGE)
        # A flawless tree asks for an infinite step: it gets that of half an error among all rows.
        bounded = max(self._error, 0.5 / problem.weights.total)
        eta = on_grid(self._halves * (log((1.0 - bounded) / bounded) + log(n_classes - 1.0)), STEP_GRID)
        step = self.members.add(self._trees.hypothesis(tree), eta, round_index)
        self._move(answers, eta / self._halves)
        return [step]

    def _move(self, answers: npt.NDArray[np.uint16], alpha: float) -> None:
        self._total_step += alpha
        self._missed[answers != self.problem.class_ids] += alpha
        self._scores[np.arange(self.problem.n_rows), answers] += alpha

    def history_entry(self) -> dict[str, float]:
        wrong = self._scores.argmax(axis=1) != self.problem.class_ids
        return {
            "objective": self._mean_loss(),
            "train_error": self.problem.error_rate(wrong),
            "n_hypotheses": len(self.trace.hypotheses),
        }

    def _mean_loss(self) -> float:
        """Mean of exp(missed - (K - 1)/K * sum of all alphas): SAMME's exponential loss; each step is exact in it."""
        weights, n_classes = self.problem.weights, self.problem.n_classes
        values, shift = weights.exponentials(self._missed)
        fixed, bits = weights.fixed(values)
        mean = math.ldexp(int(weights.add(weights.counted(fixed))), -bits) / weights.total
        return mean * math.exp(float(shift) - self._total_step * (n_classes - 1) / n_classes)
