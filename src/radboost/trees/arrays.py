"""Conversion of trees to concatenated arrays for model files, and back with checks of untrusted arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category
from radboost.model_file.checks import read_array, require
from radboost.trees.tree import NODE_ARRAYS, SET_WORDS, Tree, forest_of

VALUE = list(NODE_ARRAYS).index("value")
EMPTY_SETS = np.zeros((0, SET_WORDS), dtype="<u8")


def write_trees(trees: Sequence[Tree]) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {
        "tree_sizes": np.array([t.n_nodes for t in trees], dtype="<i8"),
        "tree_splits": np.array([t.n_splits for t in trees], dtype="<i4"),
    }
    for name, dtype in NODE_ARRAYS.items():
        parts = [getattr(t, name) for t in trees]
        arrays[f"node_{name}"] = np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)
    begins = np.cumsum(arrays["tree_sizes"]) - arrays["tree_sizes"]
    nodes = [t.category_nodes + begin for t, begin in zip(trees, begins, strict=True)]
    arrays["category_nodes"] = np.concatenate([np.zeros(0), *nodes]).astype("<i8")
    arrays["category_sets"] = np.concatenate([EMPTY_SETS, *(t.category_sets for t in trees)]).astype("<u8")
    vectors = [t.vectors for t in trees if t.vectors is not None]
    if vectors:
        arrays["leaf_vectors"] = np.concatenate(vectors).astype("<f8")
    return arrays


def holds_numbers(tree: Tree) -> bool:
    """True if the leaves are neither signs nor votes."""
    return tree.vectors is not None or (
        tree.n_outputs == 1 and bool((np.abs(tree.value[tree.feature < 0]) != 1.0).any())
    )


def read_trees(
    arrays: Mapping[str, npt.NDArray[Any]],
    n_features: int,
    n_outputs: int,
    n_trees: int,
    categories: Mapping[int, Sequence[Category]],
    real: bool,
) -> list[Tree]:
    sizes = read_array(arrays, "tree_sizes", "<i8", n_trees)
    splits = read_array(arrays, "tree_splits", "<i4", n_trees)
    n_nodes = len(arrays.get("node_feature", ()))
    require(bool((sizes >= 1).all() and (sizes <= n_nodes).all()), "a tree has an impossible number of nodes")
    require(int(sizes.sum()) == n_nodes, "the sizes of the trees do not add up to the number of nodes")
    nodes = {name: read_array(arrays, f"node_{name}", dtype, n_nodes) for name, dtype in NODE_ARRAYS.items()}
    leaves = nodes["value"][nodes["feature"] < 0]
    if real:
        require(n_outputs > 1 or bool((np.abs(leaves) <= 1.0).all()), "the value of a leaf is not between -1 and 1")
    else:
        require(n_outputs > 1 or bool((np.abs(leaves) == 1.0).all()), "a leaf has a value other than -1 and +1")
    vectors = _read_vectors(arrays, leaves, n_outputs) if real and n_outputs > 1 else None
    finite = np.isfinite(nodes["cover"]).all() and np.isfinite(nodes["gain"]).all()
    require(bool(finite), "a cover or gain is not a finite number")
    category_nodes, category_sets = _read_sets(arrays, nodes["feature"], categories)
    trees, end, used = [], 0, 0
    for size, n_splits in zip(sizes.tolist(), splits.tolist(), strict=True):
        begin, end = end, end + size
        require(0 <= n_splits <= size, "a tree has an impossible number of splits")
        low, high = np.searchsorted(category_nodes, [begin, end])
        sets = ((category_nodes[low:high] - begin).astype(np.int32), category_sets[low:high].copy())
        parts = [array[begin:end].copy() for array in nodes.values()]
        own = None
        if vectors is not None:
            indices = parts[VALUE][parts[0] < 0]
            first, used = used, used + len(indices)
            own = vectors[first:used].copy()
            # The native constructor below sees the vectors of all trees, one after the other.
            valid = (indices >= 0) & (indices < len(indices)) & (indices == np.floor(indices))
            require(bool(valid.all()), "a leaf names a vector that does not exist in its tree")
        trees.append(Tree(parts, n_features, n_splits, n_outputs, *sets, own))
    if trees:
        forest_of(trees)  # the native constructor checks every index, classes too, and that every path ends
        _check_parents(nodes["feature"] >= 0, nodes["left"], sizes)
    return trees


def _check_parents(is_inner: npt.NDArray[np.bool_], left: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> None:
    """Refuse nodes with several parents: few of them can make exponentially many paths."""
    roots = np.cumsum(sizes) - sizes
    children = (left + np.repeat(roots, sizes))[is_inner]
    n_parents = np.bincount(np.concatenate([children, children + 1]), minlength=len(left))
    n_parents[roots] += 1
    require(bool((n_parents == 1).all()), "a node of a tree has two parents, or none")


def _read_vectors(
    arrays: Mapping[str, npt.NDArray[Any]], leaves: npt.NDArray[Any], n_outputs: int
) -> npt.NDArray[np.float64]:
    """Vectors of all leaves, shape (n_leaves, n_outputs); indices of a tree count from its first leaf."""
    require("leaf_vectors" in arrays, "the array 'leaf_vectors' is missing")
    vectors = arrays["leaf_vectors"]
    fits = vectors.dtype == np.dtype("<f8") and vectors.shape == (len(leaves), n_outputs)
    require(fits, "the numbers of the leaves do not fit")
    require(bool((np.abs(vectors) <= 1.0).all()), "a number of a leaf is not between -1 and 1")
    return vectors


def _read_sets(
    arrays: Mapping[str, npt.NDArray[Any]], features: npt.NDArray[Any], categories: Mapping[int, Sequence[Category]]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Nodes that split on categorical columns, and their sets."""
    nodes = read_array(arrays, "category_nodes", "<i8")
    splitting = np.flatnonzero(np.isin(features, np.array(list(categories), dtype=features.dtype)))
    require(
        np.array_equal(nodes, splitting), "the sets of categories are not those of the splits on categorical columns"
    )
    require("category_sets" in arrays, "the array 'category_sets' is missing")
    sets = arrays["category_sets"]
    fits = sets.dtype == np.dtype("<u8") and sets.shape == (len(nodes), SET_WORDS)
    require(fits, "the sets of categories do not fit")
    counts = np.array([len(categories[column]) for column in features[nodes].tolist()], dtype=np.int64)
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=1, bitorder="little")
    largest = np.where(bits.any(axis=1), bits.shape[1] - 1 - bits[:, ::-1].argmax(axis=1), -1)
    require(bool((largest < counts).all()), "a set holds a category that does not exist")
    return nodes, sets
