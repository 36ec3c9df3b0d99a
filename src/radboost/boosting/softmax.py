"""A round of soft-max boosting: draw pairs, grow a tree for each class, step along all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from radboost import complexity
from radboost.boosting.driver import RoundMaker
from radboost.boosting.line_search import LONGEST_FALL, SHORTEST_FALL, falling_search
from radboost.boosting.replay import RawRows
from radboost.boosting.trace import Step, Trace
from radboost.engine import AnsweringTree, SoftmaxPairs, SoftmaxScores, SoftmaxSums, WeightedTrees
from radboost.penalties import on_grid
from radboost.trees.tree import NODE_ARRAYS, Tree

VALUE: Final = 4  # the place of the values among the arrays of a tree
# psi is kept in multiples of this, so that sums of steps are exact in any order.
STEP_GRID = SHORTEST_FALL
# With a gradient smaller than this no row asks for a change any more.
SMALLEST_SIZE = 1e-12
# Rounds in a row that may pass without a step before the search gives up.
PATIENCE = 10

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


class SoftmaxDescent(RoundMaker):
    """Projected gradient descent on the risk of a stochastic rule. Soft-max boosting, Algorithm 2."""

    recorded = ("risk", "train_error", "n_hypotheses")
    patience = PATIENCE
    exhausted = EXHAUSTED

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
        cost_unit: float,
        cost_floor: float,
        trace: Trace,
        raw_rows: RawRows,
    ) -> None:
        self.scores = scores
        self.pairs = pairs
        self.trees = trees
        self.settings = settings
        self.votes = VotingTrees(trees, n_classes, n_features, sample_size)
        self.trace = trace
        self._n_classes = n_classes
        self._n_questions = n_questions
        self.sample_size = sample_size
        self._cost_unit, self._cost_floor = cost_unit, cost_floor  # from costs in [0, 1] to those that were given
        self._raw_rows = raw_rows
        self._complexities: dict[int, float] = {}

    def begin(self) -> None:
        self._sums = self.scores.evaluate(self.settings.n_threads)

    def replay(self) -> None:
        for steps in self.trace.rounds():
            if steps:
                directions, a = self._directions(steps)
                self.scores.set_directions(directions)
                self.scores.step(a, self.settings.n_threads)
        self._raw_rows.forget()
        self.begin()

    def _directions(self, steps: Sequence[Step]) -> tuple[npt.NDArray[np.int8], float]:
        """h, one line for each class, and a positive a such that psi -= a h is the step of a round.

        The votes of `VotingTrees` read backwards: a negative a with h is a positive one with -h.
        """
        members = [(self.trace.hypotheses[step.hypothesis], step.eta) for step in steps]
        directions = np.zeros((self._n_classes, len(self._raw_rows)), dtype=np.int8)
        if self._n_classes == 2:
            a = max(abs(eta) for _, eta in members)
            # A tree alone may have been that of either class: f = psi(1) - psi(0) moves alike.
            for label, (tree, eta) in zip((0, 1) if len(members) == 2 else (1,), members, strict=True):
                signs = 2 * self._raw_rows.answers(cast(Tree, tree)) - 1
                directions[label] = signs if (eta > 0) == (label == 0) else -signs
            return directions, a
        # A label without a tree has one that votes everywhere, of half the weight; in every round one label has a tree.
        a = max(eta for _, eta in members) / 2.0
        for label, (tree, eta) in enumerate(members):
            if eta > a:
                directions[label] = np.where(self._raw_rows.answers(cast(Tree, tree)) == label, -1, 1)
        return directions, a

    def make(self, round_index: int, idle: int) -> list[Step]:
        a = self._step_size(round_index, self._sums)
        if a == 0.0:
            return []
        steps = self._apply(round_index, a)
        self._sums = self.scores.evaluate(self.settings.n_threads)
        return steps

    def line(self) -> dict[str, float]:
        return {
            "risk": self._sums.risk * self._cost_unit + self._cost_floor,
            "train_error": self._sums.error,
            "n_hypotheses": len(self.trace.hypotheses),
        }

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
                a = falling_search(lambda a: self.scores.along(a, settings.n_threads), sums.risk, slope, a)
        return on_grid(max(-LONGEST_FALL, min(settings.learning_rate * a, LONGEST_FALL)), STEP_GRID)

    def _apply(self, round_index: int, a: float) -> list[Step]:
        steps = []
        for label, tree in enumerate(self.pairs.trees()):
            member = self.votes.vote(tree, label, a)
            if member is None:
                continue
            hypothesis, weight = member
            index = self.trace.enter(hypothesis, self._complexity(hypothesis.n_splits))
            steps.append(Step(round_index, index, weight))
        self.trace.steps.extend(steps)
        self.scores.step(a, self.settings.n_threads)
        return steps

    def _complexity(self, n_splits: int) -> float:
        if n_splits not in self._complexities:
            bound = complexity.trees(n_splits, self.sample_size, self._n_questions)
            self._complexities[n_splits] = bound
        return self._complexities[n_splits]
