"""Shapley values of forests: against their definition, with every kind of node, and however many threads there are."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from radboost.trees.tree import NODE_ARRAYS, Tree, forest_of
from reference import shapley

CATEGORICAL = 0  # the column of categories, where there is one


def random_tree(
    rng: np.random.Generator,
    *,
    n_features: int = 5,
    depth: int = 5,
    n_outputs: int = 1,
    leaves: str = "numbers",
    empty: float = 0.0,
    categories: bool = False,
    chance: float = 0.85,
) -> Tree:
    """Splits at random; a share `empty` of the nodes has a side without training weight."""
    nodes: list[dict[str, Any]] = [{"cover": 100.0}]
    waiting, asking, sets = [(0, 0)], [], []
    for node, level in waiting:
        if level >= depth or (level > 0 and rng.random() > chance):
            continue
        feature = int(rng.integers(n_features))
        share = float(rng.integers(2)) if rng.random() < empty else float(rng.random())
        nodes[node].update(feature=feature, threshold=rng.normal(), missing_left=rng.integers(2), left=len(nodes))
        if categories and feature == CATEGORICAL:
            asking.append(node)
            sets.append(rng.integers(0, 2**63, 4, dtype=np.uint64))
        waiting += [(len(nodes), level + 1), (len(nodes) + 1, level + 1)]
        nodes += [{"cover": nodes[node]["cover"] * part} for part in (share, 1.0 - share)]
    n_leaves, vectors = 0, None
    for node in nodes:
        if "feature" not in node:
            classes = n_leaves if leaves == "vectors" else rng.integers(-1, n_outputs)
            node.update(feature=-1, value=rng.normal() if n_outputs == 1 else classes)
            n_leaves += 1
    if leaves == "vectors":
        vectors = rng.normal(size=(n_leaves, n_outputs))
    arrays = [np.array([node.get(name, 0) for node in nodes], dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
    chosen = (np.array(asking, dtype=np.int32), np.array(sets, dtype=np.uint64))
    return Tree(arrays, n_features, n_leaves - 1, n_outputs, *chosen, vectors)


def random_rows(rng: np.random.Generator, n_rows: int, n_features: int = 5, categories: bool = False) -> np.ndarray:
    X = rng.normal(size=(n_rows, n_features))
    if categories:
        X[:, CATEGORICAL] = rng.integers(-3, 300, n_rows)  # some are no codes of categories
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def contributions(
    trees: list[Tree], X: np.ndarray, *, weights: Any = None, pairs: bool = False, n_threads: int = 1
) -> np.ndarray:
    weights = np.ones(len(trees)) if weights is None else np.asarray(weights, dtype=float)
    cover = np.concatenate([tree.cover for tree in trees])
    size = trees[0].n_features + 1
    found = forest_of(trees).contributions(X, weights, cover, pairs, n_threads)
    return found.reshape(len(X), trees[0].n_outputs, *((size, size) if pairs else (size,)))


KINDS = {
    "numbers": {},
    "votes": {"n_outputs": 3, "leaves": "votes"},
    "vectors": {"n_outputs": 3, "leaves": "vectors"},
    "categories": {"categories": True},
    "sides without weight": {"empty": 0.4},
    "few features": {"n_features": 2, "depth": 6},
}


@pytest.mark.parametrize("kind", KINDS)
def test_by_the_definition(kind: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(6):
        settings: dict[str, Any] = {**KINDS[kind], "depth": int(rng.integers(1, 6))}
        tree = random_tree(rng, **settings)
        X = random_rows(rng, 33, tree.n_features, kind == "categories")
        found, pairs = contributions([tree], X), contributions([tree], X, pairs=True)
        for i in (0, 31, 32):
            np.testing.assert_allclose(found[i], shapley.brute_force(tree, X[i]), rtol=0, atol=1e-13)
            np.testing.assert_allclose(pairs[i], shapley.brute_force_pairs(tree, X[i]), rtol=0, atol=1e-13)
        answers = forest_of([tree]).scores(X, np.ones(1), 1).reshape(len(X), -1)
        np.testing.assert_allclose(found.sum(axis=-1), answers, rtol=0, atol=1e-13)
        np.testing.assert_allclose(pairs.sum(axis=-1), found, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("depth", "n_features"), [(7, 30), (9, 8), (12, 40), (14, 60)])
def test_deep_trees(depth: int, n_features: int) -> None:
    """Every number of points that the kernel is compiled for, and any other."""
    rng = np.random.default_rng(depth)
    tree = random_tree(rng, n_features=n_features, depth=depth, chance=1.0 if depth < 10 else 0.75, empty=0.1)
    assert tree.depth == depth
    X = random_rows(rng, 16, n_features)
    found = contributions([tree], X)
    np.testing.assert_allclose(found[3], shapley.recursive(tree, X[3]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=-1)[:, 0], forest_of([tree]).scores(X, np.ones(1), 1), rtol=0, atol=1e-12)


def chain(depth: int) -> Tree:
    """Every question is asked at the right side of the one before, and about another feature."""
    rows: list[tuple[float, ...]] = []
    for feature in range(depth):
        rows.append((feature, 0.0, 2 * feature + 1, 0, 0.0, depth - feature + 1.0, 0.0))
        rows.append((-1, 0.0, 0, 0, feature % 3, 1.0, 0.0))
    rows.append((-1, 0.0, 0, 0, 5.0, 1.0, 0.0))
    arrays = [np.array([row[i] for row in rows], dtype=dtype) for i, dtype in enumerate(NODE_ARRAYS.values())]
    return Tree(arrays, depth, depth)


def test_a_tree_of_fifty_levels() -> None:
    tree = chain(50)
    assert tree.depth == 50
    X = np.where(np.arange(50) % 7 == 3, np.nan, 1.0) * np.ones((3, 1))
    X[2, 20] = -1.0  # leaves the chain
    found = contributions([tree], X)
    for i in (1, 2):
        np.testing.assert_allclose(found[i], shapley.recursive(tree, X[i]), rtol=0, atol=1e-12)


def test_ten_thousand_trees() -> None:
    rng = np.random.default_rng(1)
    trees = [random_tree(rng, depth=3) for _ in range(100)] * 100
    X, weights = random_rows(rng, 40), rng.normal(size=len(trees))
    found = contributions(trees, X, weights=weights)
    scores = forest_of(trees).scores(X, weights, 1)
    np.testing.assert_allclose(found.sum(axis=-1)[:, 0], scores, rtol=0, atol=1e-9)
    alone = [contributions([tree], X) for tree in trees[:100]]
    summed = sum(weight * one for weight, one in zip(weights.reshape(100, 100).sum(axis=0), alone, strict=True))
    np.testing.assert_allclose(found, summed, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pairs", [False, True])
def test_the_same_bits(pairs: bool) -> None:
    """For any number of threads, rows beside, precision and layout of the rows."""
    rng = np.random.default_rng(2)
    trees = [random_tree(rng, n_features=8, depth=6, categories=True) for _ in range(120)]
    X = random_rows(rng, 301, 8, categories=True).astype(np.float32).astype(float)
    found = contributions(trees, X, pairs=pairs)
    for n_threads in (2, 3):
        np.testing.assert_array_equal(contributions(trees, X, pairs=pairs, n_threads=n_threads), found)
    for other in (X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(contributions(trees, other, pairs=pairs), found)
    places = rng.permutation(len(X))[:50]
    np.testing.assert_array_equal(contributions(trees, X[places], pairs=pairs), found[places])


def test_what_contributes_nothing() -> None:
    rng = np.random.default_rng(3)
    leaf = random_tree(rng, depth=0)
    X = random_rows(rng, 3)
    found = contributions([leaf, leaf], X, weights=[2.0, 1.0])
    np.testing.assert_allclose(found[:, 0, -1], 3.0 * leaf.value[0], rtol=1e-15)
    assert not found[:, :, :-1].any()
    tree = random_tree(rng, depth=4)
    same = tree.arrays
    same[list(NODE_ARRAYS).index("value")] = np.full(tree.n_nodes, 2.5)
    found = contributions([Tree(same, 5, tree.n_splits)], X)
    np.testing.assert_allclose(found[:, 0, -1], 2.5, rtol=1e-15)
    assert not found[:, :, :-1].any()


def test_signals_are_heard_on_the_way() -> None:
    """A handler of Python's runs between pieces of the work, so that Ctrl-C ends it, and not only after all of it."""
    rng = np.random.default_rng(6)
    trees = [random_tree(rng, depth=5, chance=1.0) for _ in range(130)]
    X, heard = random_rows(rng, 40_000), []
    cover = np.concatenate([tree.cover for tree in trees])
    forest, weights = forest_of(trees), np.ones(len(trees))
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        forest.contributions(X, weights, cover, False, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert len(heard) > 2  # one before and one after would be heard anyway


def test_leaves() -> None:
    rng = np.random.default_rng(4)
    trees = [random_tree(rng, categories=True) for _ in range(7)]
    X = random_rows(rng, 130, categories=True)
    forest = forest_of(trees)
    found = forest.leaves(X, 1).reshape(len(X), len(trees))
    for k, tree in enumerate(trees):
        assert (tree.feature[found[:, k]] == -1).all()
        np.testing.assert_array_equal(tree.value[found[:, k]], tree.predict(X))
    np.testing.assert_array_equal(forest.leaves(X, 2), found.ravel())
    np.testing.assert_array_equal(forest.leaves(np.asfortranarray(X), 1), found.ravel())


def test_what_is_refused() -> None:
    tree = random_tree(np.random.default_rng(5))
    forest, X, one = forest_of([tree]), np.zeros((2, 5)), np.ones(1)
    for rows, weights, cover, message in (
        (X[:, :4], one, tree.cover, "another number of features"),
        (X, one, tree.cover[1:], "one cover per node"),
        (X, np.ones(2), tree.cover, "one weight per tree"),
        (X, one, np.where(tree.feature < 0, np.nan, tree.cover), "not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.contributions(rows, weights, cover, False, 1)
    with pytest.raises(ValueError, match="another number of features"):
        forest.leaves(X[:, :4], 1)
