"""Trees whose leaves hold numbers: edges, predictions and lines of the native core against plain sums over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from native_rows import ClassRows, MarginRows
from native_tools import NO_WEIGHTS, bin_natively, grower
from radboost import _native
from radboost.trees.tree import Tree
from reference.data import smooth, smooth_classes

GRID = 2.0**20
PAIRS = [("sum", "exponential"), ("sum", "logistic"), ("compsum", "logistic")]


def rows(n_classes: int, weights: str, pair: tuple[str, str], seed: int = 0) -> tuple[Any, ...]:
    """Binned rows sorted by class, their state after a step, and the gain of every answer in every row."""
    make = smooth if n_classes == 2 else smooth_classes
    X, y = make(seed, m=150, d=4, **({} if n_classes == 2 else {"n_classes": n_classes}))
    y = np.unique(y, return_inverse=True)[1]
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    rng = np.random.default_rng(seed)
    w = {"none": NO_WEIGHTS, "whole": rng.integers(1, 4, 150) * 1.0, "real": rng.random(150) + 0.5}[weights]
    if n_classes == 2:
        state: Any = MarginRows(np.where(y == 1, 1, -1).astype(np.int8), w, pair[1])
    else:
        state = ClassRows(*pair, y.astype(np.uint16), n_classes, w)
    columns = _native.HypothesisColumns(150, n_classes)
    slot = columns.take_slot()
    columns.set_answers(slot, np.arange(150, dtype=np.int32), rng.integers(0, n_classes, 150).astype(np.int32), 1)
    state.step(columns, slot, 0.5, 1)
    state.reweigh(1)
    columns.release(slot)
    gains = np.array(state.gains(False), dtype=object).reshape(150, n_classes + 1)[:, :-1]
    return bin_natively(X, None if weights == "none" else w), X, y, state, columns, gains


def as_tree(grown: Any, n_splits: int, n_features: int, n_outputs: int) -> Tree:
    arrays = grown.rated_tree(n_splits)
    return Tree(arrays[:-3], n_features, n_splits, n_outputs, *arrays[-3:-1], arrays[-1] if n_outputs > 1 else None)


@pytest.mark.parametrize("growth", ["layers", "best_first"])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_leaves_say_what_they_gain_as_a_share_of_what_they_could(n_classes: int, weights: str, growth: str) -> None:
    data, X, y, state, columns, gains = rows(n_classes, weights, ("sum", "logistic"))
    more = {"max_leaves": 6} if growth == "best_first" else {}
    for subsample in (1.0, 0.6):
        grown = grower(data, state, criterion="gini", growth=growth, rated=True, subsample=subsample, **more)
        sizes, edges = grown.grow(1)
        assert len(sizes) > 1
        for n_splits, edge in zip(sizes, edges, strict=True):
            tree = as_tree(grown, n_splits, 4, 1 if n_classes == 2 else n_classes)
            numbered, table = tree.leaf_numbers()
            leaf = numbered.predict(X).astype(int)
            answers = gains[:, 1:] if n_classes == 2 else gains
            total, most = 0, sum(gains[np.arange(150), y].tolist())
            for number in range(len(table)):
                inside = leaf == number
                own, could = answers[inside].sum(axis=0), sum(gains[inside, y[inside]].tolist())
                ratings = [round(int(v) * 2**20 / int(could)) if could else 0 for v in np.atleast_1d(own)]
                np.testing.assert_allclose(table[number] * GRID, ratings, atol=1.0)
                total += sum(int(v) * int(r) for v, r in zip(np.atleast_1d(own), table[number] * GRID, strict=True))
            assert edge == pytest.approx(total / GRID / most, rel=1e-12)
            assert np.all(np.abs(table) <= 1.0)
            slot = grown.store_rated(n_splits, columns)
            stored = columns.predictions(slot).reshape(150, -1)
            np.testing.assert_array_equal(stored, tree.predict(X).reshape(150, -1))
            assert state.edges(columns, False, 1)[slot] == pytest.approx(edge, rel=1e-12)
            again = columns.add_leaves(leaf.astype(np.int32), np.ascontiguousarray(table).ravel(), 2)
            np.testing.assert_array_equal(columns.predictions(again).reshape(150, -1), stored)
            columns.release(slot)
            columns.release(again)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rating_a_tree_gains_less_than_its_votes_and_more_with_every_split(n_classes: int) -> None:
    """Of two classes, a leaf that is rated |e| <= 1 gains |e| of what its vote gains."""
    data, _, _, state, _, _ = rows(n_classes, "none", ("sum", "logistic"))
    votes, rated = (grower(data, state, criterion="gini", rated=flag) for flag in (False, True))
    sizes, edges = votes.grow(0)
    same, lower = rated.grow(0)
    assert sizes == same
    assert np.all(np.diff(lower) >= -1e-6)
    assert len(lower) == len(edges)
    if n_classes == 2:
        assert np.all(np.asarray(lower) <= np.asarray(edges) + 1e-6)
        assert lower[-1] < edges[-1]


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_lines_and_steps(n_classes: int, pair: tuple[str, str], weights: str) -> None:
    """Slopes are those of finite differences, at any step, and a step goes where the line said."""
    data, _, _, state, columns, _ = rows(n_classes, weights, pair)
    grown = grower(data, state, criterion="gini", rated=True)
    sizes, edges = grown.grow(0)
    slot = grown.store_rated(sizes[-1], columns)
    for eta in (0.0, 0.25, 1.5):
        loss, slope = state.along(columns, slot, eta, 1)
        assert state.slope_along(columns, slot, eta, 2) == slope
        width = 2.0**-9  # scores are multiples of 2^-20
        ahead, behind = (state.along(columns, slot, eta + side * width, 1)[0] for side in (1.0, -1.0))
        assert slope == pytest.approx((ahead - behind) / (2.0 * width), rel=2e-3, abs=1e-6 * abs(loss))
    at_start = state.slope_along(columns, slot, 0.0, 1)
    expected, _ = state.along(columns, slot, 0.75, 1)
    sums = state.reweigh(1)
    assert at_start == pytest.approx(-edges[-1] * sums.slope, rel=1e-5)
    state.step(columns, slot, 0.75, 2)
    assert state.reweigh(1).loss == pytest.approx(expected, rel=1e-12)


def test_trees_of_many_leaves() -> None:
    """Leaves take a byte, two or four for each row."""
    rng = np.random.default_rng(0)
    for n_leaves in (256, 257, 65536, 65537):
        columns = _native.HypothesisColumns(70_000, 2)
        leaf = np.concatenate([np.arange(n_leaves), rng.integers(0, n_leaves, 70_000 - n_leaves)]).astype(np.int32)
        numbers = np.rint(rng.uniform(-1.0, 1.0, n_leaves) * GRID) / GRID
        slot = columns.add_leaves(leaf, numbers, 2)
        np.testing.assert_array_equal(columns.predictions(slot), numbers[leaf])


def test_what_is_out_of_range_is_refused() -> None:
    columns = _native.HypothesisColumns(3, 3)
    for leaf, numbers in (([0, 1, 2], np.zeros(6)), ([0, 0, -1], np.zeros(3)), ([0, 0, 0], np.array([0.0, 1.1, 0.0]))):
        with pytest.raises(ValueError, match=r"out of range|lie in"):
            columns.add_leaves(np.array(leaf, dtype=np.int32), numbers, 1)
    data, _, _, state, columns, _ = rows(3, "none", ("maxsum", "logistic"))
    grown = grower(data, state, criterion="gini", rated=True)
    sizes, _ = grown.grow(0)
    slot = grown.store_rated(sizes[-1], columns)
    for move in (state.along, state.step):
        with pytest.raises(ValueError, match="leaf values for each class need"):
            move(columns, slot, 0.5, 1)
