"""Grower of classification trees on weights given for each tree, as in SAMME, AdaBoost.MH and martingale boosting."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.engine import AnsweringTree, BinnedData, Collective
from radboost.trees.grower import GrowthSettings, make_weighted_trees
from radboost.trees.tree import Tree

GrowthWeights = npt.NDArray[np.uint32]


def quantize(weights: FloatArray, copies: FloatArray | None = None) -> GrowthWeights:
    """Weights as integers whose sum over all copies of rows is between 2^28 and 2^30.

    The weight of one copy is rounded before it is multiplied, so that w copies of a row and a row of weight w count
    the same. Rows whose weight rounds to 0 drop out.
    """
    copies = np.ones(len(weights)) if copies is None else copies
    total = math.fsum(weights * copies)  # exact sum: does not depend on the order of the rows
    if not total > 0.0:
        raise ValueError("all weights are zero")
    # A power of two that takes the total below 2^29: rounding up half a unit per copy then stays below 2^30.
    shift = 29 - math.frexp(total)[1]
    whole = bool((copies == np.floor(copies)).all())
    scaled = np.ldexp(weights if whole else weights * copies, shift)
    return (np.rint(scaled) * (copies if whole else 1.0)).astype(np.uint32)


class GivenTrees:
    """Grower of trees that predict the weighted majority of their leaves.

    `n_classes` is the number of classes of the problems given to `grow`, not of the data.
    """

    def __init__(
        self, data: BinnedData, n_classes: int, settings: GrowthSettings, collective: Collective | None = None
    ) -> None:
        self._native = make_weighted_trees(data, n_classes, settings, collective)
        self._n_features = data.n_columns
        self._n_classes = n_classes
        self._n_threads = settings.n_threads

    def grow(
        self,
        classes: npt.NDArray[np.uint16],
        weights: GrowthWeights,
        round_index: int,
        counts: FloatArray | None = None,
    ) -> list[AnsweringTree]:
        """One tree for each problem: `classes` and `weights` have the shape (n_problems, n_rows).

        The weights of a problem sum to 2^30 at most; a row of weight 0 is not in it. `counts` are the sample weights,
        the unit of leaf minimums and covers; None for ones.
        """
        no_counts = np.zeros(0)
        return self._native.grow(
            classes, weights, no_counts if counts is None else counts, round_index, self._n_threads
        )

    def classes(self, tree: AnsweringTree) -> ClassIds:
        """Class that a tree predicts for each row of the data, shape (n_rows,), also for rows outside its problem."""
        return self._native.answers(tree, self._n_threads)

    def hypothesis(self, tree: AnsweringTree) -> Tree:
        """Tree for an ensemble: leaves -1 and +1 for two classes, otherwise votes for a class."""
        n_outputs = 1 if self._n_classes == 2 else self._n_classes
        return Tree.grown(self._native.arrays(tree), self._n_features, tree.n_splits, n_outputs)
