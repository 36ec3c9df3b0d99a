"""Native split search, partition and growth against their naive twins, integer by integer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from native_tools import (
    bin_natively,
    by_class,
    grow_natively,
    growth_sample,
    state_with_weights,
    stored_predictions,
)
from radboost import _native
from radboost.rows.hashing import keyed
from reference import chance, growth, splits
from reference.data import smooth, tiny

SEEDS = st.integers(0, 10**6)


def problem(seed: int, m: int = 24, weighted: bool = False, max_bins: int = 255, tied: bool = True) -> Any:
    """Binned rows with ties and missing values, labels, and a state with uneven row weights, some of them zero.

    Scores that tie on paper but not in double (gini, gains) have no right winner: `tied=False` keeps them apart.
    """
    rng = np.random.default_rng(seed)
    X, y = tiny(seed, m=m, d=3, levels=int(rng.integers(2, 9)), missing=float(rng.choice([0.0, 0.2])))
    X, y = by_class(X, y)
    D = rng.choice([0.0, 1.0, 1.0, 2.0, 3.7], m) * rng.choice([1.0, 1e-6], m, p=[0.9, 0.1])
    D = D if tied else rng.random(m)
    D[0] = 1.0
    w = rng.integers(1, 4, m).astype(float) if weighted else None
    data, state = bin_natively(X, w, max_bins), state_with_weights(y, D, w)
    return X, y, w, data, state, growth_sample(data, state, w)


def same(native: Any, naive: Any) -> None:
    assert growth.by_path(native) == growth.by_path(naive)


def check_questions(sizes: list[int], trees: list[Any], naive: list[Any]) -> None:
    """The same trees, but for the answers of their leaves."""
    assert sizes == [tree.n_splits for tree in naive]
    for native, expected in zip(trees, naive, strict=True):
        asked, wanted = (
            {path: question[:3] for path, question in growth.by_path(tree).items()} for tree in (native, expected)
        )
        assert asked == wanted


@given(SEEDS, st.booleans(), st.integers(1, 4), st.sampled_from([0.0, 2.0, 3.0]), st.sampled_from([3, 255]))
@example(seed=1028, weighted=False, depth=3, minimum=0.0, max_bins=3)
def test_layers_by_edge(seed: int, weighted: bool, depth: int, minimum: float, max_bins: int) -> None:
    X, _, _, data, state, sample = problem(seed, weighted=weighted, max_bins=max_bins)
    made, sizes, edges, trees = grow_natively(data, state, max_depth=depth, minimum_leaf_weight=minimum)
    naive = growth.grow_layers(sample, depth, min_leaf_weight=minimum)
    assert sizes == [t.n_splits for t in naive]
    assert edges == [t.edge / 2.0**61 for t in naive]
    for native, expected, size in zip(trees, naive, sizes, strict=True):
        same(native, expected)
        np.testing.assert_array_equal(native.feature, expected.feature)
        np.testing.assert_array_equal(native.cover, expected.cover)
        assert stored_predictions(made, size, data.n_rows) == expected.train_value
        assert growth.predict(native, X) == expected.train_value


@given(SEEDS, st.booleans(), st.integers(1, 4))
def test_layers_by_gini(seed: int, weighted: bool, depth: int) -> None:
    X, _, _, data, state, sample = problem(seed, weighted=weighted, tied=False)
    _, sizes, edges, trees = grow_natively(data, state, criterion="gini", max_depth=depth)
    naive = growth.grow_layers(sample, depth, "gini")
    check_questions(sizes, trees, naive)
    for native, found in zip(trees, edges, strict=True):
        h = growth.predict(native, X)
        assert found == sum(s * v for s, v in zip(sample.judge, h, strict=True)) / 2.0**61


@given(SEEDS, st.integers(2, 7), st.sampled_from(["edge", "gini"]), st.sampled_from([0.0, 2.0]))
def test_best_first(seed: int, leaves: int, criterion: str, minimum: float) -> None:
    *_, data, state, sample = problem(seed, tied=False)
    options = {"growth": "best_first", "criterion": criterion, "max_leaves": leaves, "max_depth": 6}
    _, sizes, _, trees = grow_natively(data, state, **options, minimum_leaf_weight=minimum)
    naive = growth.grow_best_first(sample, leaves, 6, criterion, min_leaf_weight=minimum)
    check_questions(sizes, trees, naive)


@given(SEEDS, st.booleans())
@example(seed=2271, weighted=False)
@example(seed=38, weighted=False)  # another question about the same column would be better, and is not allowed
@example(seed=333, weighted=False)
def test_stump_pairs(seed: int, weighted: bool) -> None:
    X, _, _, data, state, sample = problem(seed, weighted=weighted)
    made, sizes, edges, trees = grow_natively(data, state, growth="stump_pair", max_depth=2)
    naive = growth.grow_stump_pair(sample)
    assert edges == [t.edge / 2.0**61 for t in naive]
    for native, expected, size in zip(trees, naive, sizes, strict=True):
        same(native, expected)
        assert stored_predictions(made, size, data.n_rows) == expected.train_value
        assert growth.predict(native, X) == expected.train_value


@settings(max_examples=15)
@given(
    SEEDS, st.sampled_from(["edge", "gini"]), st.sampled_from(["layers", "best_first"]), st.sampled_from([0.0, 20.0])
)
def test_many_rows(seed: int, criterion: str, order: str, minimum: float) -> None:
    """Nodes with enough rows for histograms and the subtraction of the smaller child."""
    *_, data, state, sample = problem(seed, m=400, tied=criterion == "edge" and order == "layers")
    leaves = 6 if order == "best_first" else 0
    _, sizes, _, trees = grow_natively(
        data, state, growth=order, criterion=criterion, max_depth=4, max_leaves=leaves, minimum_leaf_weight=minimum
    )
    if order == "layers":
        naive = growth.grow_layers(sample, 4, criterion, min_leaf_weight=minimum)
    else:
        naive = growth.grow_best_first(sample, leaves, 4, criterion, min_leaf_weight=minimum)
    check_questions(sizes, trees, naive)


def test_with_one_column_both_questions_of_a_pair_are_about_it() -> None:
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    y = np.where(X[:, 0] == 1, -1, 1)
    y[:3] = -y[:3]
    X, y = by_class(X, y)
    _, _, edges, trees = grow_natively(
        bin_natively(X), state_with_weights(y, np.ones(60)), growth="stump_pair", max_depth=2
    )
    assert trees[1].feature[:3].tolist() == [0, 0, 0]
    assert edges[1] == pytest.approx(1 - 6 / 60)


@given(SEEDS, st.integers(1, 3), st.booleans())
def test_subsampled_rows_grow_the_tree_and_all_rows_judge_it(seed: int, depth: int, weighted: bool) -> None:
    X, y, w, data, state, sample = problem(seed, m=30, weighted=weighted)
    made, sizes, edges, trees = grow_natively(data, state, seed, max_depth=depth, subsample=0.5)
    rows = chance.drawn_rows(0, seed, keyed(data.row_hashes(1), (y > 0).astype(np.uint64)).tolist(), 0.5)
    naive = growth.grow_layers(sample, depth, grow_rows=rows)
    assert sizes == [t.n_splits for t in naive]
    for native, expected in zip(trees, naive, strict=True):
        same(native, expected)
    signed = [int(v) for v in state.edge_weights()]
    assert np.all(np.diff([0.0, *edges]) >= 0)
    for native, size, edge in zip(trees, sizes, edges, strict=True):
        h = growth.predict(native, X)
        assert stored_predictions(made, size, 30) == h
        assert edge == sum(s * v for s, v in zip(signed, h, strict=True)) / 2.0**61
        weights = np.ones(30) if w is None else w
        assert native.cover[0] == weights.sum()
        inner = native.feature >= 0
        np.testing.assert_array_equal(
            native.cover[inner], native.cover[native.left[inner]] + native.cover[native.left[inner] + 1]
        )


@given(SEEDS, st.sampled_from(["edge", "gini"]), st.integers(0, 2), st.sampled_from([0.0, 3.0]), st.integers(0, 9))
def test_random_thresholds_are_drawn_by_node_and_column(
    seed: int, criterion: str, max_features: int, minimum: float, round_number: int
) -> None:
    """The very draws of the naive twin, which knows nothing but (seed, round, node, column)."""
    *_, data, state, sample = problem(seed, m=40, tied=False)
    check_random_thresholds(data, state, sample, criterion, seed, round_number, max_features, minimum)


def test_columns_are_drawn_until_one_differs() -> None:
    """One column at first, then one, two and four more, until one of them has two values in the node."""
    for seed in range(20):
        X, y = tiny(seed, m=40, d=8, levels=6)
        X[:, np.random.default_rng(seed).permutation(8)[:5]] = 0.0
        X, y = by_class(X, y)
        data, state = bin_natively(X), state_with_weights(y, np.ones(40))
        check_random_thresholds(data, state, growth_sample(data, state), "gini", seed, 0, 1, 0.0)


def check_random_thresholds(
    data: Any, state: Any, sample: Any, criterion: str, seed: int, round_number: int, max_features: int, minimum: float
) -> None:
    options = {"criterion": criterion, "random_thresholds": True, "max_features": max_features, "seed": seed}
    _, sizes, _, trees = grow_natively(data, state, round_number, **options, minimum_leaf_weight=minimum)

    def choose(node: growth.Node) -> splits.Split | None:
        if len(node.grown) < 2:
            return None
        return chance.random_split(sample, node, criterion, seed, round_number, max_features, minimum)

    naive = growth.grow_layers(sample, 3, choose=choose)
    check_questions(sizes, trees, naive)


@pytest.mark.parametrize("sizes", [(1025, 1025), (1025, 1088), (2049, 1), (1087, 1087), (3001, 1113)])
@pytest.mark.parametrize("options", [{}, {"criterion": "gini", "max_features": 2}, {"subsample": 0.7}])
def test_rows_swept_by_words_are_those_of_the_node(sizes: tuple[int, int], options: dict[str, Any]) -> None:
    """Large trees with drawn thresholds are grown on masks of 64 rows, the last word of a class seldom full.

    A least weight of one row forbids nothing, but trees with such a limit are grown row by row.
    """
    rng = np.random.default_rng(sum(sizes))
    y = np.repeat([-1, 1], sizes)
    X = rng.normal(size=(len(y), 5)) + 0.3 * y[:, None] * rng.random(5)
    w = rng.integers(1, 4, len(y)).astype(float) if "subsample" in options else None
    data, state = bin_natively(X, w), state_with_weights(y, rng.random(len(y)), w)
    options = {"random_thresholds": True, "max_depth": 8, **options}
    for round_number in range(12):
        _, *swept, trees = grow_natively(data, state, round_number, **options)
        _, *one_by_one, expected = grow_natively(data, state, round_number, minimum_leaf_weight=1.0, **options)
        assert swept == one_by_one
        for native, other in zip(trees, expected, strict=True):
            same(native, other)
            np.testing.assert_array_equal(native.cover, other.cover)


def test_reused_grower_forgets() -> None:
    """One grower grows many trees: the second is that of a fresh one."""
    X, y = by_class(*smooth(6, m=150, missing=0.1))
    data, state = bin_natively(X), state_with_weights(y, np.random.default_rng(0).random(150))
    for options in (
        {"subsample": 0.5},
        {"max_features": 2, "random_thresholds": True},
        {"growth": "best_first", "max_leaves": 9},
        {"growth": "stump_pair", "max_depth": 2},
    ):
        made, *_ = grow_natively(data, state, 1, **options)
        sizes, edges = made.grow(2)
        _, sizes_2, edges_2, trees = grow_natively(data, state, 2, **options)
        assert (sizes, edges) == (sizes_2, edges_2)
        for n, tree in zip(sizes, trees, strict=True):
            arrays = (*tree.arrays, tree.category_nodes, tree.category_sets.ravel())
            for again, array in zip(made.tree(n), arrays, strict=True):
                np.testing.assert_array_equal(again, array)


def test_many_columns_and_deep_trees() -> None:
    rng = np.random.default_rng(7)
    X, y = by_class(rng.normal(size=(200, 150)), rng.choice([-1, 1], 200))
    data, state = bin_natively(X), state_with_weights(y, np.ones(200))
    _, sizes, edges, trees = grow_natively(data, state, max_depth=60, criterion="gini")
    assert edges[-1] == pytest.approx(1.0)
    assert growth.predict(trees[-1], X) == y.tolist()
    assert len(sizes) <= 60


def test_options_are_checked() -> None:
    X, y = by_class(*tiny(0))
    data, state = bin_natively(X), state_with_weights(y, np.ones(14))
    for changes in (
        {"growth": "x"},
        {"criterion": "x"},
        {"max_depth": 0},
        {"max_depth": 61},
        {"n_threads": 0},
    ):
        with pytest.raises(ValueError, match=r"growth|criterion|max_depth|n_threads"):
            grow_natively(data, state, **changes)
    other = state_with_weights(np.array([-1, 1]), np.ones(2))
    with pytest.raises(ValueError, match="rows"):
        grow_natively(data, other)
    made, sizes, *_ = grow_natively(data, state)
    with pytest.raises(ValueError, match="splits"):
        made.tree(sizes[-1] + 1)
    columns = _native.HypothesisColumns(13)
    with pytest.raises(ValueError, match="rows"):
        made.store(1, columns, columns.take_slot())
