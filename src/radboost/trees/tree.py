"""A decision tree whose leaves are -1 and +1, vote for a class, or hold numbers, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost.engine import CutTree, Forest, RegressionTrees, current
from radboost.trees.describe import TreeNames, describe, outline

NODE_ARRAYS: dict[str, np.dtype[Any]] = {
    "feature": np.dtype("<i4"),
    "threshold": np.dtype("<f8"),
    "left": np.dtype("<i4"),
    "missing_left": np.dtype("u1"),
    "value": np.dtype("<f8"),
    "cover": np.dtype("<f8"),
    "gain": np.dtype("<f8"),
}


GAIN: Final = 6  # index of the gains in NODE_ARRAYS
SET_WORDS = 4  # of 64 bits each, in a set of categories


class Tree:
    """Immutable. Node 0 is the root; the children of node i are left[i] and left[i] + 1; a leaf has feature -1.

    A row goes left where x[feature] <= threshold, or where x[feature] is missing and missing_left is set. The nodes
    `category_nodes`, in ascending order, split by categories. There x[feature] is the code of one, which goes left if
    the node's row of `category_sets` has it (256 bits in four words). With one output the leaves are numbers, -1 and +1
    in a classification tree. With several a leaf votes for one of them or abstains; in a regression tree, which has
    `vectors`, it has a row of numbers.
    """

    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    left: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.uint8]
    value: FloatArray  # at a leaf: a number; with several outputs a class or -1 to abstain, or a row of `vectors`
    cover: FloatArray  # sample weight of the training rows that reach the node
    gain: FloatArray  # of the split, by the criterion it was chosen with
    category_nodes: npt.NDArray[np.int32]
    category_sets: npt.NDArray[np.uint64]
    vectors: FloatArray | None
    names: TreeNames = TreeNames()  # for `str`; an ensemble gives its trees its own

    def __init__(
        self,
        arrays: Sequence[npt.NDArray[np.generic]],
        n_features: int,
        n_splits: int,
        n_outputs: int = 1,
        category_nodes: npt.NDArray[np.int32] | None = None,
        category_sets: npt.NDArray[np.uint64] | None = None,
        vectors: FloatArray | None = None,
    ) -> None:
        for name, array in zip(NODE_ARRAYS, arrays, strict=True):
            setattr(self, name, array)
        self.category_nodes = np.zeros(0, dtype=np.int32) if category_nodes is None else category_nodes
        sets = np.zeros(0, dtype=np.uint64) if category_sets is None else category_sets
        self.category_sets = sets.reshape(-1, SET_WORDS)
        self.vectors = None if vectors is None else vectors.reshape(-1, n_outputs)
        kept = (*self.arrays, self.category_nodes, self.category_sets)
        for array in kept if self.vectors is None else (*kept, self.vectors):
            array.flags.writeable = False
        self.n_features = n_features
        self.n_splits = n_splits
        self.n_outputs = n_outputs

    @classmethod
    def grown(cls, arrays: Sequence[Any], n_features: int, n_splits: int, n_outputs: int) -> Tree:
        """A tree of the native core: its nodes, sets of categories, and with several outputs the rows of `vectors`."""
        n = len(NODE_ARRAYS)
        return cls(arrays[:n], n_features, n_splits, n_outputs, *arrays[n : n + (2 if n_outputs == 1 else 3)])

    @property
    def arrays(self) -> list[npt.NDArray[np.generic]]:
        return [getattr(self, name) for name in NODE_ARRAYS]

    def __reduce__(self) -> tuple[object, ...]:
        sets = (self.category_nodes, self.category_sets)
        made_of = (self.arrays, self.n_features, self.n_splits, self.n_outputs, *sets, self.vectors)
        return Tree, made_of, {"names": self.names}

    def __getstate__(self) -> dict[str, Any]:
        """State for skops, which does not use `__reduce__`: without the native predictor."""
        return {name: value for name, value in self.__dict__.items() if name != "forest"}

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
        """Value of the leaf that each row of a float32 or float64 matrix reaches.

        With several outputs the shape is (n_rows, n_outputs): a 1 for the class that is voted for, or the numbers of
        the leaf.
        """
        return by_row(self.forest.scores(X, np.ones(1), n_threads), self.n_outputs)

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        """`predict` for rows that may be sparse."""
        rows = X.toarray() if sparse.issparse(X) else X
        return np.asarray(self.predict(np.ascontiguousarray(rows, dtype=np.float64), n_threads), dtype=np.float64)

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of X that it splits on."""
        return tuple(np.unique(self.feature[self.feature >= 0]).tolist())

    def with_columns(self, new_index: npt.NDArray[np.intp], n_features: int) -> Tree:
        """Tree for rows of n_features columns, in which column j is column new_index[j]."""
        inner = self.feature >= 0
        feature = self.feature.copy()
        feature[inner] = new_index[self.feature[inner]]
        sets = (self.category_nodes, self.category_sets)
        return Tree([feature, *self.arrays[1:]], n_features, self.n_splits, self.n_outputs, *sets, self.vectors)

    def with_values(self, value: FloatArray, n_outputs: int, vectors: FloatArray | None = None) -> Tree:
        """Tree of the same splits with other values of its nodes, shape (n_nodes,)."""
        arrays = [value if array is self.value else array for array in self.arrays]
        sets = (self.category_nodes, self.category_sets)
        return Tree(arrays, self.n_features, self.n_splits, n_outputs, *sets, vectors)

    @cached_property
    def _content(self) -> tuple[bytes, ...]:
        parts = (*self.arrays[:5], self.category_nodes, self.category_sets)
        return tuple(part.tobytes() for part in (parts if self.vectors is None else (*parts, self.vectors)))

    def describe(
        self, names: Sequence[str] | None, /, categories: Mapping[int, Sequence[Category]] | None = None
    ) -> str:
        """Short text of the tree; `categories` are those of the categorical columns."""
        return describe(self, names, categories)

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        """True for a tree of the same splits and leaves."""
        return isinstance(other, Tree) and self.n_outputs == other.n_outputs and self._content == other._content

    def key(self) -> tuple[bytes, float]:
        """Bytes common to this tree and its mirror image alone, and the sign in which the two differ.

        A tree that votes for one of several classes has no mirror image.
        """
        leaves = self.value[self.feature < 0]
        sign = 1.0 if self.n_outputs > 1 or not leaves.any() else float(np.sign(leaves[leaves != 0.0][0]))
        shape = (self.feature, self.left, self.threshold, self.missing_left, self.value * sign + 0.0)
        sets = (self.category_nodes, self.category_sets)
        parts = (*shape, *sets) if self.vectors is None else (*shape, *sets, self.vectors)
        return b"".join(part.tobytes() for part in parts), sign

    def leaf_numbers(self) -> tuple[Tree, FloatArray]:
        """Tree of the same splits with leaves numbered 0, 1, ..., and the values of the leaves, a row each."""
        leaves = self.feature < 0
        table = self.value[leaves][:, None] if self.vectors is None else self.vectors[self.value[leaves].astype(int)]
        return self.with_values(np.where(leaves, np.cumsum(leaves) - 1.0, 0.0), 1), table

    def categories_left(self, node: int) -> list[int] | None:
        """Codes of the categories that a node sends left; None for a numeric column."""
        index = int(np.searchsorted(self.category_nodes, node))
        if index == len(self.category_nodes) or self.category_nodes[index] != node:
            return None
        bits = np.unpackbits(self.category_sets[index].astype("<u8").view(np.uint8), bitorder="little")
        return [int(code) for code in np.flatnonzero(bits)]

    def __str__(self) -> str:
        """The whole tree, split by split."""
        return outline(self, self.names)

    def __repr__(self) -> str:
        outputs = f", n_outputs={self.n_outputs}" if self.n_outputs > 1 else ""
        return f"Tree(n_splits={self.n_splits}, n_nodes={self.n_nodes}, depth={self.depth}{outputs})"


def tree_of(nodes: Mapping[str, Sequence[float]], n_features: int, n_splits: int, n_outputs: int = 1) -> Tree:
    """Tree of a number per node for some of the arrays, "feature" among them; 0 for the others."""
    zeros = [0] * len(nodes["feature"])
    arrays = [np.array(nodes.get(name, zeros), dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
    return Tree(arrays, n_features, n_splits, n_outputs)


def leaf_tree(value: float, n_features: int, n_outputs: int = 1, cover: float = 0.0) -> Tree:
    """Tree without splits that has this value for every row."""
    return tree_of({"feature": [-1], "left": [-1], "value": [value], "cover": [cover]}, n_features, 0, n_outputs)


def constant_tree(values: FloatArray, n_features: int, cover: float) -> Tree:
    """A tree without splits that predicts these values everywhere, one for each output."""
    if len(values) == 1:
        return leaf_tree(float(values[0]), n_features, cover=cover)
    return leaf_tree(0.0, n_features, cover=cover).with_values(np.zeros(1), len(values), values.copy())


def regression_tree(
    grower: RegressionTrees, cut: CutTree, n_features: int, n_outputs: int, scale: float, factors: FloatArray
) -> Tree:
    """A tree after some of its splits; its gains are divided by `scale`.

    With several outputs the values of leaves are multiplied by `factors`, one for each output.
    """
    arrays = grower.arrays(cut)
    np.divide(arrays[GAIN], scale, out=arrays[GAIN])
    vectors = (arrays[-1].reshape(-1, n_outputs) * factors).reshape(-1) if n_outputs > 1 else None
    return Tree(arrays[:-3], n_features, cut.n_splits, n_outputs, *arrays[-3:-1], vectors)


def by_row(scores: FloatArray, n_outputs: int) -> FloatArray:
    """Flat scores as one number per row, or one row of numbers per row."""
    return scores if n_outputs == 1 else scores.reshape(-1, n_outputs)


def forest_of(trees: Sequence[Tree]) -> Forest:
    """The native predictor of several trees; checks every index."""
    offsets = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])]).astype(np.int64)
    joined = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "left", "missing_left", "value")
    }
    nodes = [tree.category_nodes + begin for tree, begin in zip(trees, offsets[:-1], strict=True)]
    vectors = [tree.vectors for tree in trees if tree.vectors is not None]
    if vectors:
        leaves = joined["feature"] < 0
        before = np.cumsum([0, *map(len, vectors)])[:-1]
        joined["value"] = joined["value"] + np.where(leaves, np.repeat(before, np.diff(offsets)), 0)
    return current().forest(
        offsets,
        joined["feature"],
        joined["threshold"],
        joined["left"],
        joined["missing_left"],
        joined["value"],
        trees[0].n_features,
        trees[0].n_outputs,
        np.concatenate(nodes),
        np.concatenate([tree.category_sets for tree in trees]).reshape(-1),
        np.concatenate(vectors).reshape(-1) if vectors else None,
    )
