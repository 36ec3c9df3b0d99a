"""Bridges between the native objects and the naive oracles."""

from __future__ import annotations

from typing import Any

import numpy as np

from native_rows import MarginRows
from radboost import _native
from radboost.trees.tree import NODE_ARRAYS, Tree
from radboost.trees.tree import forest_of as trees_as_forest
from reference import binning, splits

NO_WEIGHTS = np.empty(0)


def bin_natively(
    X: np.ndarray,
    weights: np.ndarray | None = None,
    max_bins: int = 255,
    n_threads: int = 1,
    categories: list[int] | None = None,
) -> Any:
    """`categories` has the number of categories of each column, -1 for numbers."""
    weights = NO_WEIGHTS if weights is None else weights.astype(float)
    counts = None if categories is None else np.array(categories, dtype=np.int32)
    return _native.bin_matrix(X, weights, np.zeros(0, dtype=np.int64), max_bins, n_threads, counts)


def naive_columns(data: Any) -> tuple[list[binning.Column], list[list[int]]]:
    """The native bins in the oracle's terms."""
    counts, missing = data.n_bins(), data.has_missing()
    columns = [
        binning.Column(tuple(data.thresholds(c).tolist()), int(counts[c]), bool(missing[c]))
        for c in range(data.n_columns)
    ]
    codes = data.codes().reshape(data.n_rows, data.n_columns).astype(int)
    codes = np.where((codes == counts.astype(int)) & (missing > 0), binning.MISSING, codes)
    return columns, codes.tolist()


def by_class(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows in the order that growth asks for: first those of label -1, then those of +1."""
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def state_with_weights(y: np.ndarray, D: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """A native state whose row weights are proportional to D (times the sample weights)."""
    state = MarginRows(y.astype(np.int8), NO_WEIGHTS if weights is None else weights.astype(float))
    state.reweigh_from(np.ones(len(y)), np.asarray(D, dtype=float), 1)
    return state


def growth_sample(data: Any, state: Any, weights: np.ndarray | None = None) -> splits.Sample:
    """The oracle's sample with the very integers that the native growth adds up, and those it judges leaves by."""
    columns, codes = naive_columns(data)
    judged = [int(v) for v in state.edge_weights()]
    mass = [int(v) for v in state.growth_weights()]
    signed = [q if v > 0 else -q for q, v in zip(mass, judged, strict=True)]
    return splits.sample_of_signs(columns, codes, signed, mass, row_weights(data, weights), judged)


def row_weights(data: Any, weights: np.ndarray | None) -> list[float]:
    return [1.0] * data.n_rows if weights is None else weights.tolist()


def grower(data: Any, state: Any, **changes: Any) -> Any:
    options = {
        "growth": "layers",
        "criterion": "edge",
        "max_depth": 3,
        "max_leaves": 0,
        "max_features": 0,
        "subsample": 1.0,
        "random_thresholds": False,
        "minimum_leaf_weight": 0.0,
        "seed": 0,
        "n_threads": 1,
    }
    return _native.Grower(data, getattr(state, "weighting", state), **{**options, **changes})


def regression_grower(data: Any, state: Any, **options: Any) -> Any:
    settings = {
        "max_features": 0,
        "subsample": 1.0,
        "random_thresholds": False,
        "minimum_leaf_weight": 0.0,
        "directions": np.zeros(0, dtype=np.int8),
    }
    return _native.RegressionTrees(data, state.weighting, **settings | options | {"seed": 0, "n_threads": 1})


def grow_natively(
    data: Any, state: Any, round_number: int = 0, **changes: Any
) -> tuple[Any, list[int], list[float], list[Tree]]:
    """Grow one tree: the grower, and for every candidate its splits, edge and arrays."""
    made = grower(data, state, **changes)
    sizes, edges = made.grow(round_number)
    return made, sizes, edges, [Tree.grown(made.tree(n), data.n_columns, n, 1) for n in sizes]


def stored_predictions(made: Any, n_splits: int, n_rows: int) -> list[float]:
    columns = _native.HypothesisColumns(n_rows)
    slot = columns.take_slot()
    made.store(n_splits, columns, slot)
    return columns.predictions(slot).tolist()


def forest_of(trees: list[Any], n_features: int, n_outputs: int = 1) -> Any:
    """Native predictor of trees with any of the arrays, grown or made by hand."""
    made = []
    for one in trees:
        nothing = np.zeros(len(one.feature))
        arrays = [np.array(getattr(one, name, nothing), dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
        sets = (getattr(one, name, None) for name in ("category_nodes", "category_sets"))
        made.append(Tree(arrays, n_features, 0, n_outputs, *sets))
    return trees_as_forest(made)


def categories_left(tree: Tree, node: int) -> frozenset[int] | None:
    """The codes that a node sends left, None where it asks for a number."""
    codes = tree.categories_left(node)
    return None if codes is None else frozenset(codes)
