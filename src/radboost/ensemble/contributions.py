"""Shapley values of features for ensembles of trees, and the leaves that rows reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray, FloatMatrix
from radboost.engine import Forest
from radboost.trees.tree import Tree, forest_of


class SumOfTrees:
    """The trees of a fitted model with their weights, as one forest that explains its scores.

    Contributions are the Shapley values of a game v(S). Splits on features of S send the row to one side; others send
    it to both, in proportion to the training weight there, the tree's `cover`. This is Algorithm 1 of Lundberg, Erion
    and Lee, Consistent Individualized Feature Attribution for Tree Ensembles, 2018, computed as an integral
    (docs/explaining.md).
    """

    def __init__(self, trees: Sequence[Any], weights: FloatArray, n_features: int, n_outputs: int) -> None:
        self.n_trees = len(trees)
        self.n_features = n_features
        self.n_outputs = n_outputs
        self._weights = weights
        self._forest: Forest | None = forest_of(trees) if trees else None
        self._cover = np.concatenate([np.zeros(0), *(tree.cover for tree in trees)])

    def contributions(self, X: FloatMatrix, interactions: bool, n_threads: int) -> FloatArray:
        """Shapley values; shape (rows, outputs, features + 1), with `interactions` one more axis of features + 1."""
        size = self.n_features + 1
        shape = (len(X), self.n_outputs, *((size, size) if interactions else (size,)))
        if self._forest is None:
            return np.zeros(shape)
        return self._forest.contributions(X, self._weights, self._cover, interactions, n_threads).reshape(shape)

    def leaves(self, X: FloatMatrix, n_threads: int) -> npt.NDArray[np.int32]:
        """The number, in its tree, of the leaf that each row reaches, of shape (rows, trees)."""
        if self._forest is None:
            return np.zeros((len(X), 0), dtype=np.int32)
        return self._forest.leaves(X, n_threads).reshape(len(X), self.n_trees)


def sum_of_trees(ensemble: Any, model: str, method: str) -> SumOfTrees:
    """The sum of trees of a model; a TypeError that names its hypotheses if it is none."""
    if not hasattr(ensemble, "sum_of_trees"):
        raise TypeError(
            f"{method} needs a sum of trees, and the model of {model} is a {type(ensemble).__name__}, which asks its "
            "trees one after the other. Take an estimator that adds trees up, for example DeepBoostClassifier."
        )
    others = sorted({type(h).__name__ for h in ensemble.hypotheses if not isinstance(h, Tree)})
    if others:
        raise TypeError(
            f"{method} needs a sum of trees, and this {model} also holds hypotheses of the kind {', '.join(others)}. "
            "sklearn.inspection.permutation_importance works for any model."
        )
    trees: SumOfTrees = ensemble.sum_of_trees()
    return trees
