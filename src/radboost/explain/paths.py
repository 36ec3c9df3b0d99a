"""Paths of a row through trees: its splits, their effect on the score, and the training rows in its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.explain.explanation import Asked
from radboost.families.trees import leaf_rows
from radboost.trees import Tree
from radboost.trees.describe import TreeNames, plain_question


def leaf_values(tree: Tree, direction: FloatArray) -> FloatArray:
    """Contribution of each leaf to a weighted sum of outputs; shape (n_nodes,), 0 at inner nodes."""
    values = np.zeros(tree.n_nodes)
    values[tree.feature < 0] = leaf_rows(tree) @ direction
    return values


def expected_values(tree: Tree, values: FloatArray) -> FloatArray:
    """Mean of the leaves below each node by training weight (if that is 0, the mean of both children)."""
    expected, cover, left = values.tolist(), np.maximum(tree.cover, 0.0).tolist(), tree.left.tolist()
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():  # children come after their parents
        yes, no = left[node], left[node] + 1
        total = cover[yes] + cover[no]
        fraction = cover[yes] / total if total > 0.0 else 0.5
        expected[node] = fraction * expected[yes] + (1.0 - fraction) * expected[no]
    return np.array(expected)


def path_to(tree: Tree, leaf: int) -> list[tuple[int, int]]:
    """Pairs of a node and the child that the path to a leaf takes from it, from the root down."""
    parents = np.full(tree.n_nodes, -1)
    inner = np.flatnonzero(tree.feature >= 0)
    parents[tree.left[inner]] = parents[tree.left[inner] + 1] = inner
    path = []
    while parents[leaf] >= 0:
        path.append((int(parents[leaf]), leaf))
        leaf = int(parents[leaf])
    return path[::-1]


def questions_on_paths(
    trees: Sequence[Any],
    weights: FloatArray,
    leaves: npt.NDArray[Any],
    direction: FloatArray,
    matrix: FloatArray,
    names: TreeNames,
) -> tuple[Asked, ...]:
    """Questions on the paths of a row to these leaves. Each moves the expected score by the difference of two nodes.

    The moves on a path sum to the value of the tree minus its mean, so that all together are f(x) minus its base. They
    depend on the order of the splits; Shapley values are the mean over all orders.
    """
    effects: dict[tuple[Any, ...], list[float]] = {}
    questions: dict[tuple[Any, ...], str] = {}
    for tree, weight, leaf in zip(trees, weights.tolist(), leaves.tolist(), strict=True):
        expected = weight * expected_values(tree, leaf_values(tree, direction))
        for node, child in path_to(tree, leaf):
            codes = tree.categories_left(node)
            set_or_number = float(tree.threshold[node]) if codes is None else tuple(codes)
            key = (int(tree.feature[node]), set_or_number, bool(child == tree.left[node]))
            effects.setdefault(key, []).append(float(expected[child] - expected[node]))
            if key not in questions:
                questions[key] = plain_question(tree, node, names)
    result = [
        Asked(
            question=questions[key],
            yes=key[2],
            effect=float(np.sum(moves)),
            times=len(moves),
            column=key[0],
            threshold=key[1] if isinstance(key[1], float) and np.isfinite(key[1]) else None,
            missing=bool(np.isnan(matrix[key[0]])),
        )
        for key, moves in effects.items()
    ]
    return tuple(sorted(result, key=lambda one: (-abs(one.effect), one.question, one.yes)))


def company(
    trees: Sequence[Any], weights: FloatArray, leaves: npt.NDArray[Any], sample_size: float
) -> tuple[float, float] | None:
    """How many training rows are in the leaf of the row: the mean over trees by the sizes of weights, and the fewest.

    In numbers of all training rows.
    """
    fractions = [
        float(tree.cover[leaf] / tree.cover[0]) if tree.cover[0] > 0.0 else 0.0
        for tree, leaf in zip(trees, leaves.tolist(), strict=True)
    ]
    sizes = np.abs(weights)
    if not fractions or sizes.sum() == 0.0:
        return None
    return sample_size * float(np.average(fractions, weights=sizes)), sample_size * min(fractions)
