"""The parts of a score that exported forms know: weighted trees, and weighted products of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.trees.tree import Tree


@dataclass(frozen=True)
class WeightedTree:
    """A tree and what its leaves, in the order of its nodes, add to the scores.

    Where `targets` is None a leaf adds a row of `amounts` to all scores, otherwise the one number there to one score.
    """

    tree: Tree
    amounts: FloatArray
    targets: npt.NDArray[np.intp] | None = None

    def rows(self, n_outputs: int) -> FloatArray:
        """A number for each leaf and score."""
        if self.targets is None:
            return self.amounts
        rows = np.zeros((len(self.amounts), n_outputs))
        rows[np.arange(len(rows)), self.targets] = self.amounts[:, 0]
        return rows


@dataclass(frozen=True)
class WeightedProduct:
    """A column of X, or a product of several, and a weight for each score."""

    features: tuple[int, ...]
    weights: FloatArray
