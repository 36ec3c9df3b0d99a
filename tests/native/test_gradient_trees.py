"""Regression trees on gradients against their naive twins, and leaves against the definition of the ball."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_rows import GradientRows
from native_tools import regression_grower
from radboost import _native
from radboost.rows.hashing import keyed
from radboost.trees import bin_rows
from reference import chance, constraints
from reference import gradient as naive

SEEDS = st.integers(0, 10**6)
ORDERS = {"1": 1.0, "2": 2.0, "inf": np.inf}


def make(seed: int, m: int = 40, *, outputs: int = 1, weighted: bool = False, categories: bool = False) -> Any:
    """Targets, rows in bins, a state with a gradient of its own, weights: ties in X, missing values, categories."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, int(rng.integers(2, 9)), size=(m, 3)).astype(float)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
    n_categories = {1: 9} if categories else {}
    weights = rng.integers(1, 4, m).astype(float) if weighted else None
    data = bin_rows(X, weights, np.arange(m, dtype=np.uint32), int(rng.choice([3, 255])), 1, n_categories)
    target = rng.normal(size=m) + np.nan_to_num(X[:, 0])
    if outputs == 1:
        state = GradientRows("squared", 0.0, 1, target, np.zeros(0) if weights is None else weights)
    else:
        classes = rng.integers(0, outputs, m).astype(float)
        state = GradientRows("multinomial", 0.0, outputs, classes, np.zeros(0) if weights is None else weights)
    state.set(rng.normal(size=m * outputs), 1)
    return target, data, state, weights


def binned(data: Any, state: Any, weights: Any) -> naive.Binned:
    m, k = state.n_rows, state.n_outputs
    masses = [1] * m if weights is None else [int(w) for w in weights]
    return naive.Binned(
        data.codes().reshape(m, -1),
        data.n_bins().tolist(),
        (data.is_categorical() > 0).tolist(),
        state.gradients().reshape(m, k),
        masses,
    )


def splits_by_path(data: Any, arrays: Any) -> dict[str, tuple[Any, ...]]:
    """{path: (column, codes that go left, of the bins)} of a native tree."""
    feature, threshold, left, category_nodes, words = arrays[0], arrays[1], arrays[2], arrays[7], arrays[8]
    out, stack = {}, [(0, "")]
    while stack:
        i, path = stack.pop()
        if feature[i] < 0:
            continue
        bins = int(data.n_bins()[feature[i]])
        place = np.flatnonzero(category_nodes == i)
        if len(place):
            bits = np.unpackbits(words.reshape(-1, 4)[place[0]].view(np.uint8), bitorder="little")
            codes = frozenset(np.flatnonzero(bits[:bins]).tolist())
        else:
            codes = frozenset(range(1 + int((data.thresholds(int(feature[i])) < threshold[i]).sum())))
        out[path] = (int(feature[i]), codes, bool(arrays[3][i]))
        stack += [(int(left[i]), path + "L"), (int(left[i]) + 1, path + "R")]
    return out


def same_splits(data: Any, rows: naive.Binned, arrays: Any, expected: list[naive.Node]) -> None:
    bins, found = data.n_bins(), splits_by_path(data, arrays)
    assert set(found) == {node.path for node in expected}
    for node in expected:
        assert node.split is not None
        column, left, missing_left = node.split
        numbers = frozenset(code for code in left if code < bins[column])
        present = {int(rows.codes[i, column]) for i in node.rows}
        own = found[node.path]
        assert own[0] == column
        assert own[1] & present == numbers & present
        if int(bins[column]) in present:
            assert own[2] == missing_left


@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([1, 1, 3]), st.sampled_from([0.0, 3.0]))
def test_trees_match_the_naive_grower(
    seed: int, weighted: bool, categories: bool, outputs: int, minimum: float
) -> None:
    _, data, state, weights = make(seed, outputs=outputs, weighted=weighted, categories=categories)
    rows = binned(data, state, weights)
    expected = naive.grow(rows, 9, int(minimum))
    grower = regression_grower(data, state, minimum_leaf_weight=minimum)
    assert grower.grow(0, 9) == len(expected)
    for n in range(1, len(expected) + 1):  # every smaller tree comes with the largest
        same_splits(data, rows, grower.arrays(grower.cut(n, 1e6, "2")), expected[:n])


def drawn(data: Any, targets: np.ndarray, subsample: float) -> list[int]:
    """The rows that a tree of round 3 and seed 0 is grown on: by the hash of their codes and of their target."""
    if subsample == 1.0:
        return list(range(len(targets)))
    hashes = keyed(data.row_hashes(1), (targets + 0.0).view(np.uint64))
    return chance.drawn_rows(0, 3, hashes.tolist(), subsample)


@given(
    SEEDS,
    st.booleans(),
    st.sampled_from(["numbers", "categories"]),
    st.tuples(*[st.sampled_from([-1, 0, 1])] * 3).filter(any),
    st.sampled_from([0.0, 3.0]),
    st.sampled_from([1.0, 0.6]),
    st.sampled_from(sorted(ORDERS)),
    st.sampled_from([0.05, 1.0, 1e6]),
)
def test_monotone_trees_match_the_naive_grower(
    seed: int,
    weighted: bool,
    columns: str,
    directions: tuple[int, ...],
    minimum: float,
    subsample: float,
    order: str,
    radius: float,
) -> None:
    """Splits, order of growth and values, with bounds that come down from every split on a monotone column."""
    if columns == "categories":
        directions = (directions[0] or 1, 0, directions[2])  # column 1 has no order
    targets, data, state, weights = make(seed, weighted=weighted, categories=columns == "categories")
    rows = binned(data, state, weights)
    expected = naive.grow(rows, 9, int(minimum), directions, drawn(data, targets, subsample))
    given_directions = np.array(directions, dtype=np.int8)
    grower = regression_grower(
        data, state, minimum_leaf_weight=minimum, directions=given_directions, subsample=subsample
    )
    assert grower.grow(3, 9) == len(expected)
    m = float(sum(rows.masses))
    for n in range(len(expected) + 1):
        cut = grower.cut(n, radius, order)
        same_splits(data, rows, grower.arrays(cut), expected[:n])
        paths = naive.paths_of(expected[:n], rows)
        sums = {path: rows.sums([i for i, own in enumerate(paths) if own == path]) for path in sorted(set(paths))}
        means = np.array([-gradients[0] * state.unit / mass / radius for gradients, mass in sums.values()])
        shares = {path: mass / m for path, (_, mass) in sums.items()}
        inside = naive.project(means, np.array(list(shares.values())), 1.0, ORDERS[order])
        values = dict.fromkeys([leaf for node in expected[:n] for leaf in (node.path + "L", node.path + "R")], 0.0)
        values |= dict(zip(sums, inside, strict=True))
        kept = naive.keep_directions(expected[:n], values, shares, directions, ORDERS[order])
        np.testing.assert_allclose(grower.answers(cut), [kept[path] for path in paths], rtol=1e-7, atol=1e-9)


@given(
    SEEDS,
    st.booleans(),
    st.sampled_from([1, 3]),
    st.sampled_from([0, 0, 1, 2]),
    st.one_of(st.just(()), st.tuples(*[st.sampled_from([-1, 0, 1])] * 3).filter(any)),
)
def test_regression_trees_with_groups_match_the_naive_grower(
    seed: int, weighted: bool, outputs: int, most: int, directions: tuple[int, ...]
) -> None:
    directions = directions if outputs == 1 else ()
    _, data, state, weights = make(seed, outputs=outputs, weighted=weighted)
    groups = constraints.groups_of(np.random.default_rng(seed), 3) if most == 0 else []
    rows = binned(data, state, weights)
    expected = naive.grow(
        rows, 9, 0, directions, None, lambda asked: constraints.allowed_columns(asked, 3, groups, most)
    )
    made = regression_grower(
        data, state, directions=np.array(directions, dtype=np.int8), groups=groups, most_columns=most
    )
    assert made.grow(0, 9) == len(expected)
    for n in range(1, len(expected) + 1):
        same_splits(data, rows, made.arrays(made.cut(n, 1e6, "2")), expected[:n])


@given(SEEDS, st.booleans(), st.sampled_from([1, 3]), st.sampled_from(sorted(ORDERS)), st.floats(0.01, 20.0))
def test_leaves_are_the_best_fit_inside_the_ball(
    seed: int, weighted: bool, outputs: int, order: str, radius: float
) -> None:
    _, data, state, weights = make(seed, outputs=outputs, weighted=weighted)
    rows = binned(data, state, weights)
    grower, nodes = regression_grower(data, state), naive.grow(rows, 6)
    grower.grow(0, 6)
    m = float(sum(rows.masses))
    for n in range(len(nodes) + 1):
        cut = grower.cut(n, radius, order)
        leaves = naive.leaves_after(nodes, n, state.n_rows)
        sums = [rows.sums(leaf) for leaf in leaves]
        means = np.array([[-g * state.unit / mass for g in gradients] for gradients, mass in sums])
        shares = np.repeat([mass / m for _, mass in sums], outputs)
        best = naive.project(means.reshape(-1), shares, radius, ORDERS[order]).reshape(means.shape)
        answers = radius * grower.answers(cut).reshape(-1, outputs)
        for leaf, value in zip(leaves, best, strict=True):
            np.testing.assert_allclose(answers[leaf], np.tile(value, (len(leaf), 1)), rtol=1e-7, atol=1e-9)
        values = np.array([answers[leaf[0]] for leaf in leaves]).reshape(-1)
        assert np.linalg.norm(values, ORDERS[order]) <= radius * (1 + 1e-12)
        gradients = np.array([g for g, _ in sums], dtype=float) * state.unit
        np.testing.assert_allclose(cut.slope, (best * gradients).sum() / m / radius, rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(cut.mean_square, (shares * best.reshape(-1) ** 2).sum() / radius**2, rtol=1e-6)


@given(SEEDS, st.integers(1, 30), st.sampled_from(sorted(ORDERS)), st.sampled_from([1e-9, 1.0, 1e9]))
def test_projection(seed: int, size: int, order: str, scale: float) -> None:
    rng = np.random.default_rng(seed)
    values, masses = scale * rng.normal(size=size), 10.0 ** rng.uniform(-8, 0, size)
    found = _native.project_to_unit_ball(values, masses, order)
    np.testing.assert_allclose(found, naive.project(values, masses, 1.0, ORDERS[order]), rtol=1e-7, atol=1e-12)
    assert np.linalg.norm(found, ORDERS[order]) <= 1 + 1e-12
    np.testing.assert_allclose(_native.project_to_unit_ball(found, masses, order), found, rtol=0, atol=1e-14)


def test_projection_of_nothing_and_of_zeros() -> None:
    for order in ORDERS:
        assert len(_native.project_to_unit_ball(np.zeros(0), np.zeros(0), order)) == 0
        np.testing.assert_array_equal(_native.project_to_unit_ball(np.zeros(3), np.ones(3), order), np.zeros(3))


def test_means_do_not_depend_on_the_order_nor_on_magnitudes_before() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=5000) * 10.0 ** rng.integers(-20, 20, 5000)
    state = GradientRows("squared", 0.0, 1, np.zeros(5000), np.zeros(0))
    first = state.mean(values, 1)
    state.mean(1e-30 * values, 2)
    assert state.mean(values[rng.permutation(5000)], 2) == first
    np.testing.assert_allclose(first, values.mean(), rtol=1e-9)
    assert state.mean(np.zeros(5000), 1) == 0.0


def test_what_is_refused() -> None:
    data = bin_rows(np.arange(6.0).reshape(3, 2), None, np.arange(3, dtype=np.uint32), 255, 1, {})
    y = np.array([0.0, 1.0, 2.0])
    for loss, outputs, targets, weights, message in (
        ("hinge", 1, y, [], "unknown loss"),
        ("multinomial", 2, y, [], "does not exist"),
        ("squared", 2, y, [], "one for each of its scores"),
        ("logistic", 2, np.ones(3), [], "one score per row"),
        ("squared", 1, np.array([np.nan]), [], "finite"),
        ("squared", 1, y, [1.0, 0.0, 1.0], "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            GradientRows(loss, 0.0, outputs, targets, np.array(weights))
    state = GradientRows("squared", 0.0, 1, y, np.zeros(0))
    state.set(np.zeros(3), 1)
    grower = regression_grower(data, state)
    with pytest.raises(ValueError, match="no tree"):  # before one is grown
        grower.cut(1, 1.0, "2")
    grower.grow(0, 1)
    with pytest.raises(ValueError, match="radius"):
        grower.cut(1, 0.0, "2")
    with pytest.raises(ValueError, match="order"):
        grower.cut(1, 1.0, "3")
    with pytest.raises(ValueError, match="direction"):
        regression_grower(data, state, directions=np.array([2, 0], dtype=np.int8))
    other = GradientRows("squared", 0.0, 1, y[:2], np.zeros(0))
    with pytest.raises(ValueError, match="other rows"):
        other.step(grower, grower.cut(1, 1.0, "2"), 1.0, 1)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_column_of_two_values_has_one_threshold_to_draw(outputs: int) -> None:
    """Where nothing is left to chance, trees with drawn thresholds are those with the best ones."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(300, 7)).astype(float)
    data = bin_rows(X, None, np.arange(300, dtype=np.uint32), 255, 1, {})
    y = rng.integers(0, outputs, 300).astype(float) if outputs > 1 else rng.normal(size=300) + X[:, 1] * X[:, 2]
    state = GradientRows("multinomial" if outputs > 1 else "squared", 0.0, outputs, y, np.zeros(0))
    state.set(np.zeros(300 * outputs), 1)
    found = []
    for drawn in (False, True):
        trees = regression_grower(data, state, random_thresholds=drawn)
        trees.grow(0, 20)
        found.append(trees.arrays(trees.cut(20, 1.0, "2")))
    for best, drawn_one in zip(*found, strict=True):
        np.testing.assert_array_equal(best, drawn_one)
