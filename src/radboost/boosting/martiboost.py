"""Layer of martingale boosting (Long and Servedio, 2005). Geist (2015, Soft-max boosting), section 5.5.1.

The model is a branching program: node j of a layer leads to nodes j (left) and j + 1 (right) of the next layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.boosting.classic import ClassicProblem, ClassicRounds
from radboost.boosting.trace import Step, Trace
from radboost.engine import AnsweringTree
from radboost.rows.weights import GROWTH_TOTAL, Fixed
from radboost.trees.tree import Tree, leaf_tree

BLOCK_NODES = 64  # nodes of a layer whose trees are grown together


class MartingaleLayers(ClassicRounds):
    """Round maker: adds a layer to the program. A row has a mass in each node: the probability that it gets there.

    Masses are integers of shape (n_nodes, n_rows), split without loss: sums do not depend on the order of the rows. A
    node is a hypothesis of the trace, with a step of 1 in its layer. The details `right_on_minus` and `right_on_plus`
    of the trace are the probabilities of going right if the tree of the node predicts -1 and +1.
    """

    def __init__(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> None:
        super().__init__(problem, max_leaves, trace)
        for name in ("right_on_minus", "right_on_plus"):
            trace.details.setdefault(name, [])
        self._grower = problem.trees(2, max_leaves)
        self._positive = problem.class_ids == 1
        self._n_negative = problem.n_rows - int(self._positive.sum())  # rows of the first class come first
        start, _ = problem.weights.fixed(np.ones(problem.n_rows))
        self._start = problem.weights.counted(start)
        self._masses = start[None].copy()  # for one copy of each row

    def begin(self) -> None:
        """Do nothing: all rows start in the first node."""

    def replay(self) -> None:
        trace = self.trace
        odds = zip(trace.details["right_on_minus"], trace.details["right_on_plus"], strict=True)
        nodes = iter(zip(trace.hypotheses, odds, strict=True))
        for layer in range(trace.n_rounds):
            following = np.zeros((layer + 2, self.problem.n_rows), dtype=np.int64)
            for node, totals in enumerate(self._totals(self._masses).tolist()):
                tree, (on_minus, on_plus) = next(nodes)
                assert isinstance(tree, Tree)
                plus = self.problem.raw_rows.classes(tree) == 1
                self._divide(self._masses[node], totals, plus, (on_minus, on_plus), following[node:])
            self._masses = following
        self.problem.raw_rows.forget()

    def make(self, round_index: int, idle: int) -> Sequence[Step]:
        """Grow a tree for each node of the layer, and compute the masses of the next layer."""
        n_before = len(self.trace.steps)
        following = np.zeros((round_index + 2, self.problem.n_rows), dtype=np.int64)
        for first in range(0, round_index + 1, BLOCK_NODES):
            self._add_nodes(round_index, first, self._masses[first : first + BLOCK_NODES], following[first:])
        self._masses = following
        return self.trace.steps[n_before:]

    def history_entry(self) -> dict[str, float]:
        """Expected error of a random path that ends in this layer, and error of predicting the more probable side."""
        start = self._masses.sum(axis=0)
        right = self._masses[(len(self._masses) - 1) // 2 + 1 :].sum(axis=0)
        lost = np.where(self._positive, start - right, right)
        weights = self.problem.weights
        total = int(weights.add(self._start))
        wrong = (2 * right > start) != self._positive
        return {
            "objective": int(weights.add(weights.counted(lost))) / total,
            "train_error": int(weights.add(np.where(wrong, self._start, 0))) / total,
            "n_hypotheses": len(self.trace.hypotheses),
        }

    def _totals(self, masses: Fixed) -> Fixed:
        """Weight of each class in each node, shape (n_nodes, 2)."""
        weights, n_negative = self.problem.weights, self._n_negative
        counted = weights.counted(masses)
        return np.stack([weights.add(counted[:, :n_negative]), weights.add(counted[:, n_negative:])], axis=1)

    def _add_nodes(self, layer: int, first: int, masses: Fixed, following: Fixed) -> None:
        weights, n_negative = self.problem.weights, self._n_negative
        totals = self._totals(masses)
        two_sided = np.flatnonzero(totals.min(axis=1) > 0)
        grown = iter(self._grow(masses[two_sided], totals[two_sided], layer * (layer + 1) // 2 + first))
        for node, (negatives, positives) in enumerate(totals.tolist()):
            if min(negatives, positives) > 0:
                tree = next(grown)
                plus = self._grower.classes(tree) == 1
                predicted_plus = weights.counted(masses[node]) * plus
                false_plus, true_plus = (
                    weights.add(predicted_plus[:n_negative]),
                    weights.add(predicted_plus[n_negative:]),
                )
                odds = _balanced_probabilities(0.5 * (int(false_plus) / negatives + int(true_plus) / positives))
                self._add_node(self._grower.hypothesis(tree), layer, odds)
            else:  # at most one class is here: all rows go to the side of that class
                plus = np.zeros(self.problem.n_rows, dtype=bool)
                always = 0.5 if negatives == positives else float(positives > 0)
                odds = (always, always)
                self._add_node(leaf_tree(-1.0, self.problem.data.n_columns), layer, odds)
            self._divide(masses[node], (negatives, positives), plus, odds, following[node:])

    def _divide(
        self,
        masses: Fixed,
        totals: Sequence[int],
        plus: npt.NDArray[np.bool_],
        odds: tuple[float, float],
        following: Fixed,
    ) -> None:
        """Add the masses of a node to the first two rows of `following`: its left and its right successor."""
        if min(totals) > 0:
            # Masses above 2^53 may be rounded up as doubles: at most the whole mass goes right.
            right = np.minimum(np.rint(masses * np.where(plus, odds[1], odds[0])).astype(np.int64), masses)
        else:
            right = masses if totals[1] else np.zeros_like(masses)
        following[0] += masses - right
        following[1] += right

    def _grow(self, masses: Fixed, totals: Fixed, round_index: int) -> list[AnsweringTree]:
        """Trees for nodes, on rows weighted so that both classes have equal sums."""
        if not len(masses):
            return []
        growth = np.empty(masses.shape, dtype=np.uint32)
        for row, mass, total in zip(growth, masses, totals, strict=True):
            factors = 0.5 * GROWTH_TOTAL / total
            row[:] = self.problem.weights.growth(mass, np.where(self._positive, factors[1], factors[0]))
        labels = np.ascontiguousarray(np.broadcast_to(self.problem.class_ids, growth.shape))
        return self._grower.grow(labels, growth, round_index, self.problem.weights.given)

    def _add_node(self, tree: Tree, layer: int, odds: tuple[float, float]) -> None:
        self.trace.steps.append(Step(layer, self.trace.enter(tree, 0.0), 1.0))
        self.trace.details["right_on_minus"].append(odds[0])
        self.trace.details["right_on_plus"].append(odds[1])


def next_masses(
    masses: FloatArray, plus: npt.NDArray[np.bool_], right_on_minus: FloatArray, right_on_plus: FloatArray
) -> FloatArray:
    """Masses of the next layer from masses of this one, shape (n_nodes, n_rows); `plus`: the tree predicts +1."""
    right = np.where(plus, right_on_plus[:, None], right_on_minus[:, None])
    right *= masses
    following = np.zeros((len(masses) + 1, masses.shape[1]))
    following[1:] = right
    following[:-1] += masses - right
    return following


def probability_of_positive(masses: npt.NDArray[Any]) -> FloatArray:
    """Probability that a path ends beyond the middle (section 5.5.1); `masses` has a row for each node of the layer."""
    n_layers = len(masses) - 1
    return np.asarray(masses[n_layers // 2 + 1 :].sum(axis=0), dtype=np.float64)


def _balanced_probabilities(plus: float) -> tuple[float, float]:
    """Probabilities of going right on -1 and on +1, so that half of the rows go right; `plus`: probability of +1."""
    if plus >= 0.5:
        return 0.0, 0.5 / plus
    return 1.0 - 0.5 / (1.0 - plus), 1.0
