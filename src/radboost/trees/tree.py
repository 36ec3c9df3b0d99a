"""A decision tree with leaves -1 and +1, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._native import Forest
from radboost._typing import FloatArray, FloatMatrix

NODE_ARRAYS: dict[str, np.dtype[Any]] = {
    "feature": np.dtype("<i4"),
    "threshold": np.dtype("<f8"),
    "left": np.dtype("<i4"),
    "missing_left": np.dtype("u1"),
    "value": np.dtype("<f8"),
    "cover": np.dtype("<f8"),
    "gain": np.dtype("<f8"),
}


class Tree:
    """Immutable. Node 0 is the root; the children of node i are left[i] and left[i] + 1; a leaf has feature -1.

    A row goes left where x[feature] <= threshold, or where x[feature] is missing and missing_left is set.
    """

    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    left: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.uint8]
    value: FloatArray  # -1 or +1 at a leaf, 0 elsewhere
    cover: FloatArray  # sample weight of the training rows that reach the node
    gain: FloatArray  # of the split, by the criterion it was chosen with

    def __init__(self, arrays: Sequence[npt.NDArray[np.generic]], n_features: int, n_splits: int) -> None:
        for name, array in zip(NODE_ARRAYS, arrays, strict=True):
            array.flags.writeable = False
            setattr(self, name, array)
        self.n_features = n_features
        self.n_splits = n_splits

    @property
    def arrays(self) -> list[npt.NDArray[np.generic]]:
        return [getattr(self, name) for name in NODE_ARRAYS]

    def __reduce__(self) -> tuple[object, ...]:
        return Tree, (self.arrays, self.n_features, self.n_splits)

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @cached_property
    def depth(self) -> int:
        depths = np.zeros(self.n_nodes, dtype=int)
        for node in np.flatnonzero(self.feature >= 0):  # parents come before their children
            depths[self.left[node]] = depths[self.left[node] + 1] = depths[node] + 1
        return int(depths.max())

    @cached_property
    def forest(self) -> Forest:
        return forest_of([self])

    def predict(self, X: FloatMatrix, n_threads: int = 1) -> FloatArray:
        """-1 or +1 for each row of a float32 or float64 matrix."""
        return self.forest.scores(X, np.ones(1), n_threads)

    def key(self) -> tuple[bytes, float]:
        """Bytes shared by this tree and its mirror image alone, and the sign that tells the two apart."""
        leaves = self.value[self.feature < 0]
        sign = float(leaves[0])
        shape = (self.feature, self.left, self.threshold, self.missing_left, self.value * sign + 0.0)
        return b"".join(part.tobytes() for part in shape), sign

    def __repr__(self) -> str:
        return f"Tree(n_splits={self.n_splits}, n_nodes={self.n_nodes}, depth={self.depth})"


def forest_of(trees: Sequence[Tree]) -> Forest:
    """The native predictor of several trees; checks every index."""
    offsets = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])]).astype(np.int64)
    joined = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "left", "missing_left", "value")
    }
    return Forest(
        offsets,
        joined["feature"],
        joined["threshold"],
        joined["left"],
        joined["missing_left"],
        joined["value"],
        trees[0].n_features,
    )
