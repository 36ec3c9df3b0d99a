"""The loop of soft-max boosting: draw pairs, grow a tree for each class, step along all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from radboost import complexity
from radboost.boosting.trace import Monitor, Step, Trace
from radboost.engine import AnsweringTree, SoftmaxPairs, SoftmaxScores, SoftmaxSums, WeightedTrees
from radboost.penalties import on_grid
from radboost.trees.tree import NODE_ARRAYS, Tree

VALUE: Final = 4  # the place of the values among the arrays of a tree
# psi is kept in multiples of this, so that sums of steps are exact in any order.
STEP_GRID = 2.0**-20
LONGEST_STEP = 64.0
# With a gradient smaller than this no row asks for a change any more.
SMALLEST_SIZE = 1e-12
# Rounds in a row that may pass without a step before the search gives up.
PATIENCE = 10
LINE_SEARCH_STEPS = 12

EXHAUSTED = f"converged: {PATIENCE} rounds in a row found no direction that lowers the risk"


@dataclass(frozen=True)
class SoftmaxSettings:
    """How a round is made (Soft-max boosting, Algorithm 2 and section 5.1)."""

    pairs: str  # "all", "by_rule" or "by_gradient"
    n_samples: int  # M; of no matter with all pairs
    step: str  # "edge", "sampled", "projection" or "line_search"
    learning_rate: float
    n_threads: int


class VotingTrees:
    """Trees that say whether a label costs more (+1) or less (-1) than expected, as members of an ensemble.

    The update psi(z) -= a h(z) takes a from z where h = +1 and gives a where h = -1. Only differences between labels
    count, so a more for every label changes nothing: with several classes a tree votes for z with weight 2 a where
    h = -1 and abstains elsewhere, and a label without a tree gets a everywhere. With two classes f = psi(1) - psi(0) is
    one number, and the trees keep their signs.
    """

    def __init__(self, trees: WeightedTrees, n_classes: int, n_features: int, sample_size: float) -> None:
        self._trees = trees
        self._n_classes = n_classes
        self._n_features = n_features
        self._sample_size = sample_size

    def vote(self, tree: AnsweringTree | None, label: int, a: float) -> tuple[Tree, float] | None:
        """The hypothesis for a step of `a` along the tree of one label, and its weight."""
        if self._n_classes == 2:
            return None if tree is None else (self._signed(tree), -a if label == 1 else a)
        if tree is None:
            return self._everywhere(label), abs(a)
        arrays = self._trees.arrays(tree)
        values = arrays[VALUE]
        np.copyto(values, np.where(values * a < 0, label, -1))
        return Tree(arrays[:-2], self._n_features, tree.n_splits, self._n_classes, *arrays[-2:]), 2.0 * abs(a)

    def _signed(self, tree: AnsweringTree) -> Tree:
        arrays = self._trees.arrays(tree)
        return Tree(arrays[:-2], self._n_features, tree.n_splits, 1, *arrays[-2:])

    def _everywhere(self, label: int) -> Tree:
        leaf = {"feature": -1, "left": -1, "value": label, "cover": self._sample_size}
        arrays = [np.array([leaf.get(name, 0)], dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
        return Tree(arrays, self._n_features, 0, self._n_classes)


class SoftmaxBooster:
    """Projected gradient descent on the risk of a stochastic rule. Soft-max boosting, Algorithm 2."""

    def __init__(
        self,
        scores: SoftmaxScores,
        pairs: SoftmaxPairs,
        trees: WeightedTrees,
        settings: SoftmaxSettings,
        *,
        n_classes: int,
        n_features: int,
        n_questions: float,
        sample_size: float,
        trace: Trace | None = None,
    ) -> None:
        self.scores = scores
        self.pairs = pairs
        self._sample_size = sample_size
        self.trees = trees
        self.settings = settings
        self.votes = VotingTrees(trees, n_classes, n_features, sample_size)
        self.trace = Trace() if trace is None else trace
        self.trace.history = {"risk": [], "train_error": [], "n_hypotheses": []}
        self._n_questions = n_questions
        self._complexities: dict[int, float] = {}

    def run(self, n_rounds: int, monitor: Monitor) -> Trace:
        sums = self.scores.evaluate(self.settings.n_threads)
        idle = 0
        for round_index in range(len(self.trace.history["risk"]), n_rounds):
            a = self._step_size(round_index, sums)
            steps = self._apply(round_index, a) if a != 0.0 else []
            if steps:
                sums = self.scores.evaluate(self.settings.n_threads)
            idle = 0 if steps else idle + 1
            self.trace.n_skipped += not steps
            self.record(sums)
            reason = monitor(self.trace, steps)
            if reason is None and idle == PATIENCE:
                reason = EXHAUSTED
            if reason is not None:
                self.trace.stop_reason = reason
                break
        return self.trace

    def _step_size(self, round_index: int, sums: SoftmaxSums) -> float:
        settings = self.settings
        edge = self.pairs.grow(self.trees, settings.pairs, settings.n_samples, round_index, settings.n_threads)
        if settings.step == "sampled":
            a = edge  # section 5.1: R_M(h) in place of the projected gradient
        elif settings.step == "edge":
            a = edge / sums.size if sums.size > SMALLEST_SIZE else 0.0
        else:
            slope = self.scores.slope(settings.n_threads)
            a = slope / len(self.pairs.trees())  # Theorem 1: alpha_t = 1, and the squared norm of h is K
            if settings.step == "line_search":
                a = line_search(lambda a: self.scores.along(a, settings.n_threads), sums.risk, slope, a)
        return on_grid(max(-LONGEST_STEP, min(settings.learning_rate * a, LONGEST_STEP)), STEP_GRID)

    def _apply(self, round_index: int, a: float) -> list[Step]:
        steps = []
        for label, tree in enumerate(self.pairs.trees()):
            member = self.votes.vote(tree, label, a)
            if member is None:
                continue
            hypothesis, weight = member
            steps.append(Step(round_index, len(self.trace.hypotheses), weight))
            self.trace.hypotheses.append(hypothesis)
            self.trace.complexities.append(self._complexity(hypothesis.n_splits))
        self.trace.steps.extend(steps)
        self.scores.step(a, self.settings.n_threads)
        return steps

    def record(self, sums: SoftmaxSums) -> None:
        history = self.trace.history
        history["risk"].append(sums.risk)
        history["train_error"].append(sums.error)
        history["n_hypotheses"].append(len(self.trace.hypotheses))

    def _complexity(self, n_splits: int) -> float:
        if n_splits not in self._complexities:
            bound = complexity.trees(n_splits, self._sample_size, self._n_questions)
            self._complexities[n_splits] = bound
        return self._complexities[n_splits]


def line_search(along: Callable[[float], tuple[float, float]], start: float, slope: float, first: float) -> float:
    """A step with a lower risk: the best of those tried on the way to where the slope changes its sign.

    `along` gives the risk at a step and the slope there, positive while it falls. The risk is smooth and
    bounded and need not be convex, so the search asks for descent and not for the minimum.
    """
    if slope <= 0.0:
        return 0.0
    low, high, step = 0.0, None, max(first, STEP_GRID)
    best_step, best_value = 0.0, start
    for _ in range(LINE_SEARCH_STEPS):
        value, slope_there = along(step)
        if value < best_value:
            best_step, best_value = step, value
        if slope_there > 0.0 and value < start:
            low = step
        else:
            high = step
        if high is None:
            step = min(4.0 * step, LONGEST_STEP)
            if step == low:
                break
        else:
            step = 0.5 * (low + high)
            if high - low < 0.1 * high:
                break
    return best_step
