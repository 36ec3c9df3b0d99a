"""Trees with constraints on their columns against naive growers, and what no such tree may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_tools import bin_natively, by_class, grower, growth_sample, state_with_weights
from radboost.rows.hashing import keyed
from radboost.trees.tree import Tree
from reference import chance, constraints
from reference.data import tiny
from reference.growth import Branch, by_path

GRID = 2.0**20
SEEDS = st.integers(0, 10**6)
DIRECTIONS = st.tuples(*[st.sampled_from([-1, 0, 1])] * 3).filter(any)


def problem(seed: int, m: int = 32, weighted: bool = False) -> Any:
    rng = np.random.default_rng(seed)
    X, y = tiny(seed, m=m, d=3, levels=int(rng.integers(2, 9)), missing=float(rng.choice([0.0, 0.2])))
    X, y = by_class(X, y)
    w = rng.integers(1, 4, m).astype(float) if weighted else None
    state = state_with_weights(y, rng.random(m) + 0.01, w)
    data = bin_natively(X, w)
    return X, y, data, state, growth_sample(data, state, w)


def paths(arrays: Any) -> dict[str, Branch]:
    return by_path(Tree.grown(arrays, 0, 0, 1))


def same_trees(made: Any, sizes: list[int], expected: list[dict[str, tuple[object, ...]]], rated: bool) -> None:
    assert len(sizes) == len(expected)
    for n, naive in zip(sizes, expected, strict=True):
        found = paths(made.rated_tree(n) if rated else made.tree(n))
        assert {p: q[:3] for p, q in found.items()} == {p: q[:3] for p, q in naive.items()}
        for path, (column, *_, value) in naive.items():
            if column == -1 and rated:
                assert found[path][3] == round(float(value) * GRID) / GRID  # type: ignore[arg-type]
            elif column == -1 and value != 0.0:
                assert found[path][3] == np.sign(value)


def drawn(data: Any, y: np.ndarray, subsample: float) -> list[int] | None:
    if subsample == 1.0:
        return None
    return chance.drawn_rows(0, 5, keyed(data.row_hashes(1), (y > 0).astype(np.uint64)).tolist(), subsample)


@given(
    SEEDS,
    DIRECTIONS,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["gini", "edge"]),
    st.sampled_from([1.0, 0.7]),
    st.sampled_from([0, 1, 2]),
    st.sampled_from(["layers", "best_first"]),
)
def test_monotone_trees_match_the_naive_grower(
    seed: int,
    directions: tuple[int, ...],
    weighted: bool,
    rated: bool,
    random: bool,
    criterion: str,
    subsample: float,
    max_features: int,
    growth: str,
) -> None:
    X, y, data, state, sample = problem(seed, weighted=weighted)
    made = grower(
        data,
        state,
        growth=growth,
        criterion=criterion,
        max_depth=4 if growth == "layers" else 0,
        max_leaves=0 if growth == "layers" else 7,
        rated=rated,
        random_thresholds=random,
        subsample=subsample,
        max_features=max_features,
        directions=np.array(directions, dtype=np.int8),
    )
    sizes, edges = made.grow(5)
    naive = constraints.Grower(
        sample, criterion, directions, random=random, max_features=max_features, seed=0, round_number=5
    )
    rows = drawn(data, y, subsample)
    same_trees(made, sizes, naive.grow(4, rows) if growth == "layers" else naive.grow_best_first(7, rows), rated)
    for n, edge in zip(sizes, edges, strict=True):
        arrays = made.rated_tree(n) if rated else made.tree(n)
        h = Tree(arrays[:7], 3, n, 1, *arrays[7:9]).predict(X)
        gained = sum(int(g) * int(v * GRID) for g, v in zip(state.edge_weights(), h, strict=True))
        assert edge == pytest.approx(gained / GRID / 2.0**61, rel=1e-12, abs=1e-15)


@given(
    SEEDS,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["gini", "edge"]),
    st.sampled_from([0, 1, 2]),
    st.sampled_from([0, 0, 1, 2]),
    st.one_of(st.just(()), DIRECTIONS),
)
def test_trees_with_groups_match_the_naive_grower(
    seed: int, weighted: bool, random: bool, criterion: str, max_features: int, most: int, directions: tuple[int, ...]
) -> None:
    _, _, data, state, sample = problem(seed, weighted=weighted)
    groups = constraints.groups_of(np.random.default_rng(seed), 3) if most == 0 else []
    made = grower(
        data,
        state,
        criterion=criterion,
        max_depth=4,
        random_thresholds=random,
        max_features=max_features,
        groups=groups,
        most_columns=most,
        directions=np.array(directions, dtype=np.int8),
    )
    naive = constraints.Grower(
        sample, criterion, directions, groups, most, random=random, max_features=max_features, round_number=5
    )
    sizes, _ = made.grow(5)
    expected = naive.grow(4)
    if directions:
        same_trees(made, sizes, expected, False)
        return
    assert [set(paths(made.tree(n))) for n in sizes] == [set(tree) for tree in expected]
    for n, tree in zip(sizes, expected, strict=True):
        assert {p: q[:3] for p, q in paths(made.tree(n)).items()} == {p: q[:3] for p, q in tree.items()}


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("growth", ["layers", "best_first", "stump_pair"])
def test_paths_stay_within_a_group(growth: str, n_threads: int) -> None:
    """Enough rows for histograms and for subtrees of several threads."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(6000, 8)), 1)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] * X[:, 5] + 0.3 * rng.normal(size=6000) > 0, 1, -1)
    X, y = by_class(X, y)
    data, state = bin_natively(X), state_with_weights(y, np.ones(6000))
    criterion = "edge" if growth == "stump_pair" else "gini"
    leaves = 40 if growth == "best_first" else 0
    for seed in range(6):
        groups, most = constraints.groups_of(np.random.default_rng(seed), 8), 0
        if seed > 3:
            groups, most = [], seed - 3
        for random in (False, True):
            common: dict[str, Any] = {"max_depth": 2 if growth == "stump_pair" else 7, "max_leaves": leaves}
            options = {**common, "growth": growth, "criterion": criterion, "random_thresholds": random}
            trees = []
            for threads in (1, n_threads):
                made = grower(
                    data,
                    state,
                    **options,
                    max_features=3,
                    groups=groups,
                    most_columns=most,
                    n_threads=threads,
                    seed=seed,
                )
                sizes, _ = made.grow(0)
                trees.append(paths(made.tree(sizes[-1])))
            assert trees[0] == trees[1]
            for path in trees[0]:
                asked = {trees[0][path[:k]][0] for k in range(len(path))} - {-1}
                assert most == 0 or len(asked) <= most
                assert not groups or any(asked <= set(group) for group in groups)


def test_what_cannot_be_is_refused() -> None:
    _, _, data, state, _ = problem(3)
    for options, message in (
        ({"groups": [[0, 3]]}, "does not exist"),
        ({"groups": [[]]}, "must not be empty"),
        ({"groups": [[1, 1]]}, "twice"),
        ({"directions": np.array([1, 0], dtype=np.int8)}, "one direction per column"),
        ({"directions": np.array([1, 0, 2], dtype=np.int8)}, "is -1, 0 or"),
    ):
        with pytest.raises(ValueError, match=message):
            grower(data, state, **options)
