"""An ensemble as arrays, and back from arrays that nobody vouches for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray
from radboost.families.base import Hypothesis
from radboost.families.kernel import KERNELS, KernelHypothesis
from radboost.trees.tree import NODE_ARRAYS, SET_WORDS, Tree, forest_of

if TYPE_CHECKING:
    from radboost.ensemble.model import Ensemble

STEP_TYPE = np.dtype([("round", "<i4"), ("hypothesis", "<i4"), ("eta", "<f8")])
EMPTY_SETS = np.zeros((0, SET_WORDS), dtype="<u8")
MOST_CATEGORIES = 255
LARGEST_COUNT = 2**40
LARGEST_INDEX = 2**31 - 1
LARGEST_STEP = 2.0**512  # no sum of these is infinite


def write_ensemble(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """A JSON-able header and the arrays."""
    trees = [h for h in ensemble.entered if isinstance(h, Tree)]
    kernels = [h for h in ensemble.entered if isinstance(h, KernelHypothesis)]
    if len(trees) + len(kernels) != len(ensemble.entered):
        raise ValueError("Only trees and kernel hypotheses can be stored; this ensemble has others.")
    real = any(_holds_numbers(tree) for tree in trees)
    header: dict[str, Any] = {
        "n_rounds": ensemble.n_rounds,
        "n_features": ensemble.n_features,
        "n_outputs": ensemble.n_outputs,
        "n_families": ensemble.n_families,
        "sample_size": ensemble.sample_size,
        "feature_names": None if ensemble.feature_names is None else list(ensemble.feature_names),
        "categories": [
            {"column": column, "values": list(values)} for column, values in sorted(ensemble.categories.items())
        ],
        "kernels": [h.kernel if isinstance(h.kernel, str) else None for h in kernels],
    }
    if real:
        header["leaves"] = "numbers"  # otherwise signs, or votes
    arrays: dict[str, npt.NDArray[Any]] = {
        "is_tree": np.array([isinstance(h, Tree) for h in ensemble.entered], dtype="u1"),
        "complexities": ensemble.entered_complexities,
        "step_round": ensemble.steps["round"].copy(),
        "step_hypothesis": ensemble.steps["hypothesis"].copy(),
        "step_eta": ensemble.steps["eta"].copy(),
        "tree_sizes": np.array([t.n_nodes for t in trees], dtype="<i8"),
        "tree_splits": np.array([t.n_splits for t in trees], dtype="<i4"),
        "kernel_gammas": np.array([h.gamma for h in kernels], dtype="<f8"),
        "kernel_classes": np.array([h.class_index or 0 for h in kernels], dtype="<i4"),
        "kernel_centres": np.array([h.centre for h in kernels], dtype="<f8").reshape(len(kernels), ensemble.n_features),
    }
    for name, dtype in NODE_ARRAYS.items():
        parts = [getattr(t, name) for t in trees]
        arrays[f"node_{name}"] = np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)
    begins = np.cumsum(arrays["tree_sizes"]) - arrays["tree_sizes"]
    nodes = [t.category_nodes + begin for t, begin in zip(trees, begins, strict=True)]
    arrays["category_nodes"] = np.concatenate([np.zeros(0), *nodes]).astype("<i8")
    arrays["category_sets"] = np.concatenate([EMPTY_SETS, *(t.category_sets for t in trees)]).astype("<u8")
    if real and ensemble.n_outputs > 1:
        arrays["leaf_vectors"] = np.concatenate([t.vectors for t in trees if t.vectors is not None]).astype("<f8")
    return header, arrays


def _holds_numbers(tree: Tree) -> bool:
    """Whether the leaves are neither signs nor votes."""
    return tree.vectors is not None or (
        tree.n_outputs == 1 and bool((np.abs(tree.value[tree.feature < 0]) != 1.0).any())
    )


class MissingKernel:
    """Stands in for a kernel function that was not stored with the model."""

    def __call__(self, centres: FloatArray, rows: FloatArray) -> FloatArray:
        raise ValueError(
            "This model uses a kernel function of its author's that the file does not contain, so it cannot score. "
            "Put the function back: for h in model.ensemble_.hypotheses: h.kernel = your_kernel"
        )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _integer(header: Mapping[str, Any], name: str, low: int, high: int = LARGEST_COUNT) -> int:
    value = header.get(name)
    _require(
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        f"{name} is {str(value)[:40]!r}, not an integer from {low} to {high}",
    )
    return int(value)  # type: ignore[arg-type]


def _array(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: str | np.dtype[Any], length: int | None = None
) -> npt.NDArray[Any]:
    _require(name in arrays, f"the array {name!r} is missing")
    array = arrays[name]
    _require(array.dtype == np.dtype(dtype), f"the array {name!r} has the type {array.dtype}, not {np.dtype(dtype)}")
    _require(array.ndim == 1, f"the array {name!r} is not one-dimensional")
    _require(length is None or len(array) == length, f"the array {name!r} has {len(array)} entries, not {length}")
    if array.dtype.kind == "f":
        _require(not np.isnan(array).any(), f"the array {name!r} holds NaN")
    return array


def read_ensemble(cls: type[Ensemble], header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Ensemble:
    n_features = _integer(header, "n_features", 1)
    n_outputs = _integer(header, "n_outputs", 1, LARGEST_INDEX)
    is_tree = _array(arrays, "is_tree", "u1")
    n_hypotheses = len(is_tree)
    categories = _read_categories(header, n_features)
    real = header.get("leaves", "signs") == "numbers"
    trees = _read_trees(arrays, n_features, n_outputs, int((is_tree != 0).sum()), categories, real)
    kernels = _read_kernels(header, arrays, n_features, n_outputs, n_hypotheses - len(trees))
    tree_queue, kernel_queue = iter(trees), iter(kernels)
    hypotheses: list[Hypothesis] = [next(tree_queue) if flag else next(kernel_queue) for flag in is_tree]
    complexities = _array(arrays, "complexities", "<f8", n_hypotheses)
    _require(bool(np.isfinite(complexities).all() and (complexities >= 0).all()), "a complexity is not a finite number")
    names = header.get("feature_names")
    _require(
        names is None
        or (isinstance(names, list) and len(names) == n_features and all(isinstance(n, str) for n in names)),
        "the feature names do not fit the number of features",
    )
    size = header.get("sample_size")
    _require(
        isinstance(size, int | float) and not isinstance(size, bool) and math.isfinite(size) and size > 0,
        f"sample_size is {size!r}, not a positive number",
    )
    n_rounds = _integer(header, "n_rounds", 0)
    ensemble = cls(
        hypotheses,
        list(complexities),
        _read_steps(arrays, n_hypotheses, n_rounds),
        n_rounds=n_rounds,
        n_features=n_features,
        n_families=_integer(header, "n_families", 1),
        sample_size=float(size),  # type: ignore[arg-type]
        feature_names=names,
        n_outputs=n_outputs,
        categories=categories,
    )
    if n_outputs > 1:
        _require(bool((ensemble.weights >= 0).all()), "a weight is negative, and there are more than two classes")
    return ensemble


def _read_steps(arrays: Mapping[str, npt.NDArray[Any]], n_hypotheses: int, n_rounds: int) -> npt.NDArray[np.void]:
    rounds = _array(arrays, "step_round", "<i4")
    indices = _array(arrays, "step_hypothesis", "<i4", len(rounds))
    etas = _array(arrays, "step_eta", "<f8", len(rounds))
    _require(bool((np.abs(etas) <= LARGEST_STEP).all()), "a step is infinite or absurdly large")
    in_range = (indices >= 0) & (indices < n_hypotheses) & (rounds >= 0) & (rounds < n_rounds)
    _require(bool(in_range.all()), "a step names a hypothesis or a round that does not exist")
    _require(bool((np.diff(rounds) >= 0).all()), "the steps are not in the order of their rounds")
    steps = np.empty(len(rounds), dtype=STEP_TYPE)
    steps["round"], steps["hypothesis"], steps["eta"] = rounds, indices, etas
    return steps


def _read_categories(header: Mapping[str, Any], n_features: int) -> dict[int, tuple[Category, ...]]:
    """Columns in ascending order, their categories all different."""
    entries = header.get("categories")
    _require(isinstance(entries, list), "the list of categorical columns is missing")
    categories: dict[int, tuple[Category, ...]] = {}
    for entry in entries or ():
        described = isinstance(entry, dict) and set(entry) == {"column", "values"}
        _require(described, "a categorical column has no number or no values")
        column, values = _integer(entry, "column", max(categories, default=-1) + 1, n_features - 1), entry["values"]
        plain = isinstance(values, list) and all(type(value) in (bool, int, float, str) for value in values)
        _require(plain, f"the categories of column {column} are not strings, numbers or booleans")
        _require(len(values) <= MOST_CATEGORIES, f"column {column} has more than {MOST_CATEGORIES} categories")
        _require(len(set(values)) == len(values), f"two categories of column {column} are equal")
        categories[column] = tuple(values)
    return categories


def _read_sets(
    arrays: Mapping[str, npt.NDArray[Any]], features: npt.NDArray[Any], categories: Mapping[int, Sequence[Category]]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Which nodes split by categories, and their sets: those that ask about a categorical column, and no others."""
    nodes = _array(arrays, "category_nodes", "<i8")
    asking = np.flatnonzero(np.isin(features, np.array(list(categories), dtype=features.dtype)))
    _require(np.array_equal(nodes, asking), "the sets of categories are not those of the splits on categorical columns")
    _require("category_sets" in arrays, "the array 'category_sets' is missing")
    sets = arrays["category_sets"]
    fits = sets.dtype == np.dtype("<u8") and sets.shape == (len(nodes), SET_WORDS)
    _require(fits, "the sets of categories do not fit")
    counts = np.array([len(categories[column]) for column in features[nodes].tolist()], dtype=np.int64)
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=1, bitorder="little")
    largest = np.where(bits.any(axis=1), bits.shape[1] - 1 - bits[:, ::-1].argmax(axis=1), -1)
    _require(bool((largest < counts).all()), "a set holds a category that does not exist")
    return nodes, sets


def _read_trees(
    arrays: Mapping[str, npt.NDArray[Any]],
    n_features: int,
    n_outputs: int,
    n_trees: int,
    categories: Mapping[int, Sequence[Category]],
    real: bool,
) -> list[Tree]:
    sizes = _array(arrays, "tree_sizes", "<i8", n_trees)
    splits = _array(arrays, "tree_splits", "<i4", n_trees)
    n_nodes = len(arrays.get("node_feature", ()))
    _require(bool((sizes >= 1).all() and (sizes <= n_nodes).all()), "a tree has an impossible number of nodes")
    _require(int(sizes.sum()) == n_nodes, "the sizes of the trees do not add up to the number of nodes")
    nodes = {name: _array(arrays, f"node_{name}", dtype, n_nodes) for name, dtype in NODE_ARRAYS.items()}
    leaves = nodes["value"][nodes["feature"] < 0]
    if real:
        _require(n_outputs > 1 or bool((np.abs(leaves) <= 1.0).all()), "the value of a leaf is not between -1 and 1")
    else:
        _require(n_outputs > 1 or bool((np.abs(leaves) == 1.0).all()), "a leaf has a value other than -1 and +1")
    vectors = _read_vectors(arrays, leaves, n_outputs) if real and n_outputs > 1 else None
    finite = np.isfinite(nodes["cover"]).all() and np.isfinite(nodes["gain"]).all()
    _require(bool(finite), "a cover or gain is not a finite number")
    category_nodes, category_sets = _read_sets(arrays, nodes["feature"], categories)
    trees, end, used = [], 0, 0
    for size, n_splits in zip(sizes.tolist(), splits.tolist(), strict=True):
        begin, end = end, end + size
        _require(0 <= n_splits <= size, "a tree has an impossible number of splits")
        low, high = np.searchsorted(category_nodes, [begin, end])
        sets = ((category_nodes[low:high] - begin).astype(np.int32), category_sets[low:high].copy())
        parts = [array[begin:end].copy() for array in nodes.values()]
        own = None
        if vectors is not None:
            first, used = used, used + int((parts[0] < 0).sum())
            own = vectors[first:used].copy()
        trees.append(Tree(parts, n_features, n_splits, n_outputs, *sets, own))
    if trees:
        forest_of(trees)  # the native constructor checks every index, classes too, and that every walk ends
    return trees


def _read_vectors(
    arrays: Mapping[str, npt.NDArray[Any]], leaves: npt.NDArray[Any], n_outputs: int
) -> npt.NDArray[np.float64]:
    """The numbers of all leaves, one row for each; the indices of a tree count its own."""
    _require("leaf_vectors" in arrays, "the array 'leaf_vectors' is missing")
    vectors = arrays["leaf_vectors"]
    fits = vectors.dtype == np.dtype("<f8") and vectors.shape == (len(leaves), n_outputs)
    _require(fits, "the numbers of the leaves do not fit")
    _require(bool((np.abs(vectors) <= 1.0).all()), "a number of a leaf is not between -1 and 1")
    return vectors


def _read_kernels(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], n_features: int, n_outputs: int, n_kernels: int
) -> list[KernelHypothesis]:
    names = header.get("kernels")
    _require(isinstance(names, list) and len(names) == n_kernels, "the list of kernels does not fit")
    gammas = _array(arrays, "kernel_gammas", "<f8", n_kernels)
    classes = _array(arrays, "kernel_classes", "<i4", n_kernels)
    _require(bool(((classes >= 0) & (classes < n_outputs)).all()), "a kernel speaks for a class that does not exist")
    _require("kernel_centres" in arrays, "the array 'kernel_centres' is missing")
    centres = arrays["kernel_centres"]
    _require(
        centres.dtype == np.dtype("<f8")
        and centres.shape == (n_kernels, n_features)
        and bool(np.isfinite(centres).all()),
        "the centres of the kernels do not fit",
    )
    _require(bool(np.isfinite(gammas).all()), "a kernel parameter is not a finite number")
    kernels = []
    for name, gamma, centre, index in zip(names or [], gammas.tolist(), centres, classes.tolist(), strict=True):
        _require(name is None or name in KERNELS, f"unknown kernel {str(name)[:40]!r}")
        kernel = name if name is not None else MissingKernel()
        class_index = None if n_outputs == 1 else index
        kernels.append(KernelHypothesis(kernel, gamma, centre.copy(), class_index, n_outputs))
    return kernels
