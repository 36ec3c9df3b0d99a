"""Native prediction on raw rows against a walk in Python, and what a broken forest is told."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_tools import forest_of
from radboost import _native
from reference import growth

FEW_CUTS = [0.0, -0.5, 0.5, 1.0, math.inf, 1e300, -1e300, 0.1]


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 200), st.sampled_from([np.float64, np.float32]))
def test_scores(seed: int, n_trees: int, m: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    trees = [grown(rng, int(rng.integers(8)), 3, [-1, 1], FEW_CUTS) for _ in range(n_trees)]
    X = rng.choice([0.0, -0.0, 0.5, 0.1, -0.5, 2.0, np.nan, 1e30, -1e30, np.nextafter(0.5, 1)], (m, 3)).astype(dtype)
    weights = rng.integers(-9, 9, n_trees) / 8
    values = np.array([growth.predict(tree, X) for tree in trees])
    for layout in (X, np.asfortranarray(X), X[::-1].copy()[::-1]):
        for n_threads in (1, 3):
            forest = forest_of(trees, 3)
            np.testing.assert_array_equal(forest.scores(layout, weights, n_threads), weights @ values)
            np.testing.assert_array_equal(forest.tree_values(layout, n_threads).reshape(n_trees, m), values)


@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 200),
    st.sampled_from([2, 3, 26, 1000]),
    st.sampled_from([np.float64, np.float32]),
)
def test_votes_for_classes(seed: int, n_trees: int, m: int, n_outputs: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    trees = [grown(rng, int(rng.integers(8)), 3, range(-1, n_outputs), FEW_CUTS) for _ in range(n_trees)]
    X = rng.choice([0.0, -0.0, 0.5, 0.1, -0.5, 2.0, np.nan, 1e30, np.nextafter(0.5, 1)], (m, 3)).astype(dtype)
    weights = rng.integers(0, 2**20, n_trees) / 2**20
    votes = np.array([growth.predict(tree, X) for tree in trees]).astype(int)
    expected = np.zeros((m, n_outputs))
    for tree, weight in enumerate(weights):
        for row in range(m):
            if votes[tree, row] >= 0:
                expected[row, votes[tree, row]] += weight
    forest = forest_of(trees, 3, n_outputs)
    assert forest.n_outputs == n_outputs
    for layout in (X, np.asfortranarray(X)):
        for n_threads in (1, 3):
            scores = forest.scores(layout, weights, n_threads)
            np.testing.assert_array_equal(scores.reshape(m, n_outputs), expected)
            np.testing.assert_array_equal(forest.tree_values(layout, n_threads).reshape(n_trees, m), votes)


def grown(
    rng: np.random.Generator, n_splits: int, n_features: int, answers: Any, thresholds: Any = (), chain: bool = False
) -> Any:
    """A tree of any shape, or one whose every split is of the last leaf."""
    tree = SimpleNamespace(
        feature=[-1], threshold=[0.0], left=[0], missing_left=[0], value=[float(rng.choice(answers))]
    )
    leaves = [0]
    for _ in range(n_splits):
        leaf = leaves.pop(-1 if chain else int(rng.integers(len(leaves))))
        tree.feature[leaf], tree.left[leaf] = int(rng.integers(n_features)), len(tree.feature)
        tree.threshold[leaf] = float(rng.choice(thresholds) if len(thresholds) else rng.normal())
        tree.missing_left[leaf] = int(rng.integers(2))
        for _ in range(2):
            leaves.append(len(tree.feature))
            for name, entry in (("feature", -1), ("threshold", 0.0), ("left", 0), ("missing_left", 0)):
                getattr(tree, name).append(entry)
            tree.value.append(float(rng.choice(answers)))
    return tree


CUTS = [*(np.arange(-60, 61) / 32), math.inf, -1e300, 1e300]
FORESTS: dict[str, Any] = {
    "votes": lambda rng: ([grown(rng, int(rng.integers(0, 64)), 4, [-1, 1], CUTS) for _ in range(50)], 1),
    "many values": lambda rng: ([grown(rng, 40, 4, np.arange(90) / 8, CUTS) for _ in range(30)], 1),
    "more values than a byte has": lambda rng: ([grown(rng, 600, 4, np.arange(5000), CUTS) for _ in range(6)], 1),
    "classes": lambda rng: ([grown(rng, 30, 4, range(-1, 5), CUTS) for _ in range(30)], 5),
    "alike on both sides": lambda rng: ([grown(rng, 40, 4, [1, 1, 1, -1], CUTS) for _ in range(30)], 1),
    "one answer": lambda rng: ([grown(rng, 9, 4, [1], CUTS) for _ in range(30)], 1),
    "chains": lambda rng: ([grown(rng, 60, 4, [-1, 1], CUTS, chain=True) for _ in range(20)], 1),
    "more thresholds than a byte has": lambda rng: (
        [grown(rng, 40, 4, [-1, 1], CUTS if i % 2 else ()) for i in range(60)],
        1,
    ),
}


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_at_once_score_like_few(name: str, dtype: Any) -> None:
    """Few rows walk through the trees one by one, as in the tests above; many are asked all questions together."""
    rng = np.random.default_rng(sorted(FORESTS).index(name))
    trees, n_outputs = FORESTS[name](rng)
    X = rng.choice([*CUTS[:-3], -0.0, 0.01, 1e30, -1e30, np.nextafter(0.5, 1)], (700, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.05] = math.nan
    X[300:600, :2] = 0.25  # a tile without missing values in some columns
    weights = rng.integers(-(2**20), 2**20, len(trees)) / 2**20
    few = np.concatenate([forest_of(trees, 4, n_outputs).scores(X[i : i + 50], weights, 1) for i in range(0, 700, 50)])
    assert len(np.unique(few)) > (0 if name == "one answer" else 100)
    for layout in (X, np.asfortranarray(X), X[::-1].copy()[::-1]):
        for n_threads in (1, 3):
            scores = forest_of(trees, 4, n_outputs).scores(layout, weights, n_threads)
            np.testing.assert_array_equal(scores, few)
    if name == "votes":
        walked = np.array([growth.predict(tree, X[:60]) for tree in trees])
        np.testing.assert_array_equal(few[:60], weights @ walked)


GOOD: dict[str, Any] = {
    "offsets": [0, 3],
    "feature": [0, -1, -1],
    "threshold": [0.0, 0.0, 0.0],
    "left": [1, 0, 0],
    "missing_left": [0, 0, 0],
    "value": [0.0, 1.0, -1.0],
    "n_features": 2,
    "n_outputs": 1,
    "category_nodes": [],
    "category_sets": [],
}
#: a tree that is a leaf, and one that splits by categories: 0, 2 and 254 go left
WITH_SETS: dict[str, Any] = {
    "offsets": [0, 1, 4],
    "feature": [-1, 0, -1, -1],
    "threshold": [0.0] * 4,
    "left": [0, 1, 0, 0],
    "missing_left": [0] * 4,
    "value": [1.0, 0.0, 1.0, -1.0],
    "n_features": 1,
    "category_nodes": [1],
    "category_sets": [5, 0, 0, 1 << 62],
}
DTYPES = {"feature": np.int32, "left": np.int32, "missing_left": np.uint8, "threshold": float, "value": float}
DTYPES |= {"offsets": np.int64, "category_nodes": np.int64, "category_sets": np.uint64}


def build(**changes: Any) -> Any:
    parts = GOOD | changes
    return _native.Forest(*(np.array(part, DTYPES[name]) if name in DTYPES else part for name, part in parts.items()))


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": [0, 4]},
        {"offsets": [1, 3]},
        {"offsets": []},
        {"offsets": [0, 3, 3]},
        {"offsets": [0, 5, 3]},
        {"offsets": [0, -1, 3]},
        {"feature": [2, -1, -1]},
        {"feature": [-2, -1, -1]},
        {"feature": [0, 0, -1]},
        {"left": [0, 0, 0]},
        {"left": [2, 0, 0]},
        {"left": [-1, 0, 0]},
        {"left": [2**31 - 1, 0, 0]},
        {"threshold": [math.nan, 0, 0]},
        {"value": [0, math.nan, 1]},
        {"value": [0, math.inf, 1]},
        {"left": [1, 0]},
        {"threshold": [0.0] * 4},
        {"n_features": 2**40},
        {"n_outputs": 0},
        {"n_outputs": -1},
        {"n_outputs": 2**31},
        {"n_outputs": 2**64 - 1},
        {"n_outputs": 3, "value": [0, 3, 0]},
        {"n_outputs": 3, "value": [0, -2, 0]},
        {"n_outputs": 3, "value": [0, 0.5, 0]},
        {"n_outputs": 3, "value": [0, -0.5, 0]},
        {"n_outputs": 3, "value": [0, 1e300, 0]},
        {"n_outputs": 3, "value": [0, math.nan, 0]},
        {"n_outputs": 2**31 - 1, "value": [0, 2**31 - 1, 0]},
    ],
    ids=str,
)
def test_broken_forests_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        build(**changes)


def test_a_forest_with_sets() -> None:
    X = np.array([[0.0], [1.0], [2.0], [254.0], [253.0], [np.nan]])
    scores = build(**WITH_SETS).scores(X, np.array([10.0, 1.0]), 1)
    assert (scores - 10).tolist() == [1, -1, 1, 1, -1, -1]


def test_broken_sets_are_refused() -> None:
    nodes: list[list[int]] = [[], [2], [0], [4], [-1], [2**62]]
    sets: list[list[int]] = [[5, 0, 0], [], [0] * 8]
    broken = [{"category_nodes": one} for one in nodes] + [{"category_sets": one} for one in sets]
    for changes in (*broken, {"category_nodes": [1, 1], "category_sets": [0] * 8}):
        with pytest.raises(ValueError, match="categories"):
            build(**WITH_SETS | changes)


def test_width_and_weights_are_checked() -> None:
    forest = build()
    assert forest.scores(np.array([[0.0, 9.0], [1.0, 9.0]]), np.array([2.0]), 1).tolist() == [2.0, -2.0]
    with pytest.raises(ValueError, match="features"):
        forest.scores(np.zeros((2, 3)), np.ones(1), 1)
    with pytest.raises(ValueError, match="weight"):
        forest.scores(np.zeros((2, 2)), np.ones(2), 1)
    # Rows that take no memory, times classes: the number of scores must not wrap around.
    wide = build(n_outputs=2**31 - 1, value=[0, 0, 2**31 - 2])
    with pytest.raises((ValueError, MemoryError)):
        wide.scores(np.broadcast_to(np.zeros(2), (2**33, 2)), np.ones(1), 1)
    assert build(offsets=[0], feature=[], threshold=[], left=[], missing_left=[], value=[]).scores(
        np.zeros((2, 2)), np.ones(0), 1
    ).tolist() == [0.0, 0.0]
