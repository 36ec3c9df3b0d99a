"""Trees on given weights against the naive twin, and their answers on rows that were not in the problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_tools import bin_natively, naive_columns
from radboost import _native
from radboost.trees import GivenTrees, GrowthSettings, TreeOptions, quantize
from reference import growth, splits
from reference.data import smooth, smooth_classes, tiny

SEEDS = st.integers(0, 10**6)


def given_trees(data: Any, n_classes: int = 2, **changes: Any) -> GivenTrees:
    options = {"growth": "best_first", "max_leaves": 12} | changes.pop("options", {})
    return GivenTrees(data, n_classes, GrowthSettings(**{"max_depth": 20, **changes}, options=TreeOptions(**options)))


def one_tree(trees: GivenTrees, classes: Any, weights: Any, counts: Any = None, round_index: int = 0) -> Any:
    lines = np.asarray(classes, dtype=np.uint16)[None, :], np.asarray(weights, dtype=np.uint32)[None, :]
    return trees.grow(*lines, round_index, counts)[0]


def random_problem(seed: int, n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes in any order, and weights of which a third is zero."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(n) < 1 / 3, 0, rng.integers(1, 2**20, n))
    weights[:2] = 7
    return rng.integers(0, n_classes, n), weights


@given(SEEDS, st.integers(2, 20), st.sampled_from(["gini", "edge"]), st.sampled_from([0.0, 3.0]), st.booleans())
def test_two_classes(seed: int, leaves: int, criterion: str, minimum: float, counted: bool) -> None:
    X, _ = tiny(seed, m=60, d=3, levels=9, missing=0.1)
    data = bin_natively(X)
    y, weights = random_problem(seed, len(X), 2)
    counts = np.random.default_rng(seed).integers(1, 4, len(X)) * 1.0 if counted else None
    trees = given_trees(data, criterion=criterion, options={"max_leaves": leaves, "min_leaf_weight": minimum})
    tree = one_tree(trees, y, weights, counts)
    columns, codes = naive_columns(data)
    used = np.flatnonzero(weights)
    sample = splits.make_sample(
        columns,
        [codes[i] for i in used],
        [int(v) for v in weights[used]],
        2 * y[used] - 1,
        None if counts is None else counts[used],
    )
    expected = growth.grow_best_first(sample, leaves, None, criterion, min_leaf_weight=minimum)[-1]
    hypothesis = trees.hypothesis(tree)
    assert growth.by_path(hypothesis) == growth.by_path(expected)
    inner = hypothesis.feature < 0
    assert sorted(hypothesis.cover[inner]) == sorted(np.array(expected.cover)[np.array(expected.feature) < 0])
    answers = np.where(trees.classes(tree) == 1, 1, -1)
    np.testing.assert_array_equal(answers, growth.predict(expected, X))
    np.testing.assert_array_equal(answers, hypothesis.predict(X))


@given(SEEDS, st.integers(2, 8))
def test_leaves_of_several_classes_answer_by_plurality(seed: int, leaves: int) -> None:
    X, _ = smooth_classes(seed, m=80, n_classes=4, missing=0.1)
    data = bin_natively(X)
    y, weights = random_problem(seed, len(X), 4)
    trees = given_trees(data, 4, options={"max_leaves": leaves})
    tree = one_tree(trees, y, weights)
    columns, codes = naive_columns(data)
    used = np.flatnonzero(weights)
    mass = [int(v) for v in weights[used]]
    own = [[m if c == k else 0 for k in range(4)] for m, c in zip(mass, y[used], strict=True)]
    kept = [codes[i] for i in used]
    sample = splits.Sample(columns, kept, [int(c) for c in y[used]], own, mass, [1.0] * len(used), 4)
    expected = growth.grow_best_first(sample, leaves, 20, "gini")[-1]
    np.testing.assert_array_equal(trees.classes(tree), growth.predict(expected, X))
    np.testing.assert_array_equal(trees.hypothesis(tree).predict(X).argmax(axis=1), trees.classes(tree))


@pytest.mark.parametrize("leaves", [12, 40, 90])  # the answers of trees of different sizes are found in different ways
@pytest.mark.parametrize("categorical", [False, True])
def test_answers_on_all_rows(leaves: int, categorical: bool) -> None:
    rng = np.random.default_rng(leaves)
    X = rng.normal(size=(3000, 4))
    X[:, 0] = rng.integers(0, 9, len(X))
    X[rng.random(X.shape) < 0.1] = np.nan
    categories = [9, -1, -1, -1] if categorical else None
    data = bin_natively(X, categories=categories)
    y = (np.nan_to_num(X[:, 0]) % 2 + np.nan_to_num(X[:, 1]) * rng.normal(size=len(X)) > 0.5).astype(int)
    weights = np.where(rng.random(len(X)) < 0.5, 0, 1000)
    trees = given_trees(data, options={"max_leaves": leaves})
    tree = one_tree(trees, y, weights)
    hypothesis = trees.hypothesis(tree)
    assert hypothesis.n_splits == leaves - 1
    assert bool(len(hypothesis.category_nodes)) == categorical
    np.testing.assert_array_equal(np.where(trees.classes(tree) == 1, 1, -1), hypothesis.predict(X))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_quantised_weights_fill_the_histograms_and_no_more(scale: float) -> None:
    rng = np.random.default_rng(2)
    for n in (1, 10, 10**5):
        D, copies = rng.random(n) * scale, rng.random(n) * 10
        for weights in (quantize(D), quantize(D, copies), quantize(D, np.ceil(copies))):
            assert 2**28 < int(weights.astype(np.int64).sum()) <= 2**30
    with pytest.raises(ValueError, match="all weights are zero"):
        quantize(np.zeros(3))


def test_bad_problems_are_refused() -> None:
    X, _ = smooth(0, m=50)
    trees = given_trees(bin_natively(X))
    y, weights = random_problem(0, 50, 2)
    for classes, given_weights, message in [
        (y + 1, weights, "a class that does not exist"),
        (y, np.zeros(50), "at least one row"),
        (y, np.full(50, 2**30), "more than 2\\^30"),
        (y[:40], weights, "one class and one weight per row"),
    ]:
        with pytest.raises(ValueError, match=message):
            one_tree(trees, classes, given_weights)
    with pytest.raises(ValueError, match="one count per row"):
        one_tree(trees, y, weights, np.ones(3))
    assert isinstance(one_tree(trees, y, weights), _native.AnsweringTree)  # a refused problem leaves nothing behind


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("leaves", [15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 300])
def test_rows_find_their_leaf_in_trees_of_every_size(n_classes: int, leaves: int) -> None:
    """Up to 64 leaves are told apart by bits of a word; rows of larger trees walk on from there."""
    rng = np.random.default_rng(leaves)
    X = rng.normal(size=(1500, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    trees = given_trees(bin_natively(X), n_classes, max_depth=40, options={"max_leaves": leaves})
    tree = one_tree(trees, rng.integers(0, n_classes, 1500), np.full(1500, 9))
    hypothesis = trees.hypothesis(tree)
    assert hypothesis.n_splits == leaves - 1
    predicted = hypothesis.predict(X)
    expected = predicted > 0 if n_classes == 2 else predicted.argmax(axis=1)
    np.testing.assert_array_equal(trees.classes(tree), expected)
