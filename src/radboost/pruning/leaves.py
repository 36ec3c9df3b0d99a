"""Refit of the leaf values of a pruned ensemble to the scores of the whole one; splits do not change."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from radboost._typing import FloatArray, FloatMatrix
from radboost.families.trees import leaf_rows
from radboost.pruning.outputs import Outputs
from radboost.trees.tree import Tree

RIDGE = 0.01  # penalty of the distance from old leaf values, as a fraction of the weight of all rows
MOST_STEPS, EXACT = 30, 1e-3  # of conjugate gradients: steps, and relative accuracy
LEAF_GRID = 2.0**20  # leaf values are multiples of its inverse
WEIGHT_BITS = 24  # of weights of trees


def leaf_table(tree: Tree, outputs: Outputs) -> FloatArray:
    """Leaf values in the form of `Outputs`, shape (n_leaves, n_outputs); a vote is 1 for a class."""
    return outputs.compared(leaf_rows(tree))


def reached(trees: Sequence[Tree], X: FloatMatrix, n_threads: int) -> sparse.csr_array:
    """Indicators of the leaf that each row reaches in each tree, shape (n_rows, leaves of all trees)."""
    columns, n_leaves = np.empty((len(X), len(trees)), dtype=np.int64), 0
    for j, tree in enumerate(trees):
        numbered, table = tree.leaf_numbers()
        columns[:, j] = numbered.predict(X, n_threads).astype(np.int64) + n_leaves
        n_leaves += len(table)
    starts = np.arange(len(X) + 1, dtype=np.int64) * len(trees)
    return sparse.csr_array((np.ones(columns.size), columns.reshape(-1), starts), shape=(len(X), n_leaves))


def refit(
    trees: Sequence[Tree],
    tree_weights: FloatArray,
    X: FloatMatrix,
    scores: FloatArray,
    row_weights: FloatArray,
    outputs: Outputs,
    n_threads: int,
) -> list[FloatArray]:
    """Tables of leaf values, shape (n_leaves, n_outputs) each, whose sums are close to `scores`.

    Scores and leaves are in the form of `Outputs`. Conjugate gradients, from the old leaf values, minimize the
    mean squared distance plus RIDGE times the squared distance from the old values.
    """
    tables = [weight * leaf_table(tree, outputs) for tree, weight in zip(trees, tree_weights, strict=True)]
    leaves, leaf_values = reached(trees, X, n_threads), np.concatenate(tables)
    across, heights = leaves.T.tocsr(), row_weights[:, None]
    residual = across @ (heights * (scores - leaves @ leaf_values))
    moved = np.zeros_like(leaf_values)
    direction, size = residual.copy(), float((residual**2).sum())
    goal = EXACT**2 * size
    for _ in range(MOST_STEPS):
        if size <= goal:
            break
        image = across @ (heights * (leaves @ direction)) + RIDGE * direction
        step = size / float((direction * image).sum())
        moved += step * direction
        residual -= step * image
        before, size = size, float((residual**2).sum())
        direction = residual + (size / before) * direction
    ends = np.cumsum([len(table) for table in tables])[:-1]
    return np.split(leaf_values + moved, ends)


def keep_still(trees: Sequence[Tree], tables: Sequence[FloatArray], still: FloatArray) -> None:
    """Write constant outputs into tables; `still` has NaN for all other outputs.

    The first tree without splits gets the constant, and all others 0.
    """
    outputs, done = np.flatnonzero(~np.isnan(still)), False
    for tree, table in zip(trees, tables, strict=True):
        first = tree.n_splits == 0 and not done
        table[:, outputs] = still[outputs] if first else 0.0
        done |= first


def tree_of(tree: Tree, table: FloatArray, outputs: Outputs) -> tuple[Tree, float]:
    """Tree of the same splits with these values divided by a weight, and the weight.

    The values are at most 1, and with several classes those above 0 sum to at most 1. Such trees are in the convex hull
    of trees that vote, and have the complexity of these.
    """
    several = outputs.number > 1
    if outputs.of_classes:
        table = outputs.compared(table)
    largest = float(np.abs(table).sum(axis=1).max() / 2.0 if outputs.of_classes else np.abs(table).max())
    if largest == 0.0:
        return tree, 0.0
    if tree.n_splits == 0 and not outputs.of_classes:  # exactly: a constant may be much larger than everything else
        weight = math.ldexp(1.0, math.frexp(largest)[1])
        numbers = table / weight
    else:
        weight = rounded_up(largest)
        numbers = np.rint(table / weight * LEAF_GRID) / LEAF_GRID
    if outputs.units is not None:
        weight, numbers = weight * outputs.units.max(), numbers * (outputs.units / outputs.units.max())
    leaves = tree.feature < 0
    values = np.zeros(tree.n_nodes)
    values[leaves] = np.arange(len(numbers)) if several else numbers[:, 0]
    return tree.with_values(values, tree.n_outputs, numbers if several else None), weight


def rounded_up(number: float) -> float:
    """Weight rounded up to WEIGHT_BITS bits."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(math.ceil(mantissa * 2.0**WEIGHT_BITS), exponent - WEIGHT_BITS)
