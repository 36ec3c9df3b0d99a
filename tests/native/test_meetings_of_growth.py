"""How often workers meet to grow a tree, and how many numbers they bring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collective_tools import ThreadGroup
from native_rows import ClassRows, GradientRows, MarginRows
from native_tools import bin_natively, grower, regression_grower

N_ROWS, N_COLUMNS, N_BINS, DEPTH = 4000, 5, 40, 6


@pytest.fixture(scope="module")
def rows() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    return bin_natively(X, max_bins=N_BINS), X


def sorted_by(classes: np.ndarray, X: np.ndarray) -> tuple[Any, np.ndarray]:
    order = np.argsort(classes, kind="stable")
    return bin_natively(X[order], max_bins=N_BINS), classes[order]


def searched_nodes(left: np.ndarray, depth: int) -> tuple[int, int]:
    """How many nodes with a search below them were divided, and how many layers the tree has."""
    layers, divided, layer = 0, 0, [0]
    while any(left[node] >= 0 for node in layer):
        inner = [node for node in layer if left[node] >= 0]
        layers += 1
        divided += len(inner) if layers < depth else 0
        layer = [child for node in inner for child in (left[node], left[node] + 1)]
    return divided, layers


def grown(data: Any, make: Any, **options: Any) -> tuple[list[tuple[str, int]], Any]:
    """What two workers met for while they grew one tree, and the tree."""
    group = ThreadGroup(2)
    halves = [np.arange(0, N_ROWS, 2), np.arange(1, N_ROWS, 2)]

    def work(rank: int, collective: Any) -> Any:
        made = grower(data.subset(halves[rank]), make(halves[rank], collective), **options)
        before = len(group.met)
        sizes, _ = made.grow(0)
        return group.met[before:], made.tree(sizes[-1])

    return group.run(work)[0]


@pytest.mark.parametrize("criterion", ["edge", "gini"])
def test_two_classes_need_one_meeting_a_layer_and_eight_bytes_a_bin(rows: Any, criterion: str) -> None:
    X = rows[1]
    rng = np.random.default_rng(2)
    data, y = sorted_by(np.where(np.sin(3 * X).sum(axis=1) + rng.normal(size=N_ROWS) > 0, 1, -1), X)

    def make(own: np.ndarray, collective: Any) -> Any:
        state = MarginRows(y[own], collective=collective)
        state.reweigh_from(np.ones(len(own)), np.ones(len(own)), 1)
        return state

    met, tree = grown(data, make, max_depth=DEPTH, criterion=criterion)
    divided, layers = searched_nodes(tree[2], DEPTH)
    assert layers == DEPTH
    assert {kind for kind, _ in met} == {"sum"}
    assert len(met) <= 8  # the root, six layers, the leaves
    theory = (1 + divided) * N_COLUMNS * N_BINS  # words of eight bytes
    assert theory <= sum(length for _, length in met) <= 1.2 * theory


def test_regression_trees_meet_once_a_split(rows: Any) -> None:
    """They are grown best first: two children at a time, with a gradient and a weight in each word."""
    data, X = rows
    group, halves, n_leaves = ThreadGroup(2), [np.arange(0, N_ROWS, 2), np.arange(1, N_ROWS, 2)], 20
    targets = np.sin(3 * X).sum(axis=1)

    def work(rank: int, collective: Any) -> Any:
        own = halves[rank]
        state = GradientRows("squared", 0.0, 1, targets[own], None, collective=collective)
        state.set(np.zeros(len(own)), 1)
        trees = regression_grower(data.subset(own), state)
        before = len(group.met)
        trees.grow(0, n_leaves)
        return group.met[before:]

    met = group.run(work)[0]
    assert len(met) <= 1 + (n_leaves - 1) + 1
    assert sum(length for _, length in met) <= 1.2 * n_leaves * N_COLUMNS * N_BINS


@pytest.mark.parametrize("bins", [60, 255])
def test_threads_that_share_the_rows_of_a_worker(bins: int) -> None:
    """Some workers have no rows of a class; columns of many bins have slots that no value uses."""
    rng = np.random.default_rng(4)
    n = 24000
    X = rng.normal(size=(n, 5))
    X[rng.random(n) < 0.1, 0] = np.nan
    y = np.repeat([0, 1, 2], n // 3).astype(np.uint16)
    X[:, 1] += 0.3 * y
    data = bin_natively(X, max_bins=bins)
    weights = np.exp(rng.normal(size=n))
    owned = [np.arange(0, n // 2), np.arange(n // 2, n)]

    def grow(own: np.ndarray, collective: Any, n_threads: int) -> list[Any]:
        state = ClassRows("maxsum", "", y[own], 3, None, collective=collective)
        state.reweigh_from(np.ones(len(own)), weights[own], 1)
        made = grower(data.subset(own), state, max_depth=5, criterion="gini", n_threads=n_threads)
        return list(made.tree(made.grow(0)[0][-1]))

    expected = grow(np.arange(n), None, 1)
    for found in ThreadGroup(2).run(lambda rank, collective: grow(owned[rank], collective, 3)):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
