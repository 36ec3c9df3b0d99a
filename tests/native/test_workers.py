"""Trees grown by several workers, each on its own rows, against those of one process with all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from collective_tools import ThreadGroup, split_at_random
from native_rows import ClassRows, GradientRows, MarginRows
from native_tools import bin_natively, grower
from radboost import _native

Parts = tuple[int, int | None]  # workers, and one of them that has no rows
PARTS: list[Parts] = [(2, None), (2, 0), (3, None), (3, 1)]
N_ROWS = 600


def in_turns(first: str, firsts: Sequence[Any], second: str, seconds: Sequence[Any]) -> pytest.MarkDecorator:
    """Runs a test for each pair of settings, by a Latin square over the ways to part rows."""
    return pytest.mark.parametrize(
        ("parts", first, second),
        [(PARTS[(i + j) % len(PARTS)], one, other) for i, one in enumerate(firsts) for j, other in enumerate(seconds)],
    )


def columns(seed: int, n: int) -> tuple[np.ndarray, list[int]]:
    """Numbers with and without ties and missing values, a column with one value, and categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = 1.0
    X[:, 4] = rng.integers(0, 12, n)
    X[:, 5] = rng.integers(0, 3, n)
    X[rng.random(n) < 0.1, 5] = np.nan
    return X, [-1, -1, -1, -1, 12, 3]


def on_workers(data: Any, grow: Callable[[Any, np.ndarray, Any], Any], parts: Parts, seed: int) -> None:
    """Every worker's result of `grow(data, rows, collective)` is that of one process."""
    n_workers, empty = parts
    expected = grow(data, np.arange(N_ROWS), None)
    owned = split_at_random(N_ROWS, n_workers, np.random.default_rng(seed), empty)

    def work(rank: int, collective: Any) -> Any:
        return grow(data.subset(owned[rank]), owned[rank], collective)

    for found in ThreadGroup(n_workers).run(work):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def grown_by(made: Any, rounds: range) -> list[Any]:
    """Candidates, edges and arrays of some rounds."""
    found: list[Any] = []
    for round_number in rounds:
        sizes, edges = made.grow(round_number)
        found += [sizes, edges]
        for size in sizes:
            found += list(made.tree(size))
    return found


GROWTHS: list[dict[str, Any]] = [
    {"max_depth": 4},
    {"max_depth": 5, "criterion": "gini", "max_features": 1},
    {"max_depth": 5, "random_thresholds": True},
    {"max_depth": 5, "random_thresholds": True, "max_features": 2, "criterion": "gini", "subsample": 0.6},
    {"growth": "best_first", "max_leaves": 12, "max_depth": 8, "subsample": 0.7},
    {"growth": "best_first", "max_leaves": 9, "max_depth": 8, "minimum_leaf_weight": 20.0},
    {"max_depth": 5, "random_thresholds": True, "minimum_leaf_weight": 15.0},
    {"growth": "stump_pair", "max_depth": 2},
    {"growth": "stump_pair", "max_depth": 2, "max_features": 3, "minimum_leaf_weight": 10.0},
    {"growth": "stump_pair", "max_depth": 2, "random_thresholds": True},
]


@in_turns("options", GROWTHS, "weighted", ["", "copies", "factors"])
def test_two_classes(parts: Parts, options: dict[str, Any], weighted: str) -> None:
    rng = np.random.default_rng(len(str(options)))
    X, categories = columns(3, N_ROWS)
    y = np.repeat([-1, 1], [250, N_ROWS - 250])
    X[:, 0] += 0.7 * y
    weights = {"copies": rng.integers(1, 4, N_ROWS) * 1.0, "factors": rng.random(N_ROWS) + 0.1}.get(weighted)
    D = np.where(rng.random(N_ROWS) < 0.2, 0.0, rng.random(N_ROWS))  # some rows have no weight at all
    data = bin_natively(X, weights, max_bins=30, categories=categories)

    def grow(data: Any, rows: np.ndarray, collective: Any) -> Any:
        state = MarginRows(y[rows], None if weights is None else weights[rows], collective=collective)
        state.reweigh_from(np.ones(len(rows)), D[rows], 1)
        return grown_by(grower(data, state, n_threads=2, **options), range(3))

    on_workers(data, grow, parts, 1)


@in_turns("options", GROWTHS, "objective", ["sum", "maxsum", "max"])
def test_several_classes(parts: Parts, options: dict[str, Any], objective: str) -> None:
    """Edges by the gains of every answer, or by the classes alone (maxsum); one of the classes has few rows."""
    rng = np.random.default_rng(len(str(options)))
    X, categories = columns(4, N_ROWS)
    y = np.repeat([0, 1, 2, 3], [200, 150, 3, N_ROWS - 353]).astype(np.uint16)
    X[:, 0] += y
    data = bin_natively(X, max_bins=30, categories=categories)
    shape = (N_ROWS, 4) if objective == "sum" else (N_ROWS,)
    D = np.where(rng.random(shape) < 0.2, 0.0, rng.random(shape))

    def grow(data: Any, rows: np.ndarray, collective: Any) -> Any:
        state = ClassRows(objective, "", y[rows], 4, None, collective=collective)
        state.reweigh_from(np.ones(D[rows].size), D[rows].reshape(-1).copy(), 1)
        return grown_by(grower(data, state, n_threads=2, **options), range(2))

    on_workers(data, grow, parts, 2)


REGRESSIONS: list[tuple[dict[str, Any], int]] = [
    *(
        (options, n_outputs)
        for n_outputs in (1, 3)
        for options in (
            {},
            {"subsample": 0.6, "max_features": 2},
            {"minimum_leaf_weight": 25.0},
            {"random_thresholds": True},
        )
    ),
    ({"directions": np.array([1, 0, -1, 0, 0, 0], dtype=np.int8)}, 1),
]


@in_turns("case", REGRESSIONS, "weighted", [False, True])
def test_regression_trees(parts: Parts, case: tuple[dict[str, Any], int], weighted: bool) -> None:
    options, n_outputs = case
    rng = np.random.default_rng(9)
    X, categories = columns(5, N_ROWS)
    targets = rng.normal(size=N_ROWS) + np.nan_to_num(X[:, 2]) + X[:, 4] % 3
    if n_outputs > 1:
        targets = (X[:, 4] % 3).astype(float)
    scores = rng.normal(size=(N_ROWS, n_outputs))
    weights = rng.integers(1, 4, N_ROWS) * 1.0 if weighted else None
    data = bin_natively(X, weights, max_bins=30, categories=categories)
    settings = {
        "max_features": 0,
        "subsample": 1.0,
        "random_thresholds": False,
        "minimum_leaf_weight": 0.0,
        "directions": np.zeros(0, dtype=np.int8),
        "seed": 5,
        "n_threads": 2,
    }

    def grow(data: Any, rows: np.ndarray, collective: Any) -> Any:
        loss = "squared" if n_outputs == 1 else "multinomial"
        own = None if weights is None else weights[rows]
        state = GradientRows(loss, 0.0, n_outputs, targets[rows], own, collective=collective)
        state.set(scores[rows].reshape(-1).copy(), 1)
        trees = _native.RegressionTrees(data, state.weighting, **settings | options)
        found: list[Any] = []
        for round_number in range(2):
            trees.grow(round_number, 14)
            for size in (5, 14):
                cut = trees.cut(size, 0.7, "2")
                found += [cut.slope, cut.mean_square, *trees.arrays(cut)]
        return found

    on_workers(data, grow, parts, 3)


GIVEN: list[dict[str, Any]] = [
    {"growth": "layers", "criterion": "gini", "max_depth": 5},
    {"growth": "layers", "criterion": "edge", "max_depth": 5, "random_thresholds": True, "max_features": 2},
    {"growth": "best_first", "criterion": "gini", "max_depth": 20, "max_leaves": 10, "minimum_leaf_weight": 7.5},
]


@in_turns("options", GIVEN, "problem", [(2, False), (5, False), (2, True), (5, True)])
def test_given_weights(parts: Parts, options: dict[str, Any], problem: tuple[int, bool]) -> None:
    """A worker may have no rows of a problem that others have rows of."""
    n_classes, counted = problem
    rng = np.random.default_rng(n_classes)
    X, categories = columns(6, N_ROWS)
    classes = ((np.nan_to_num(X[:, 2]) > 0) + rng.integers(0, n_classes - 1, (3, N_ROWS))).astype(np.uint16)
    weights = np.where(rng.random((3, N_ROWS)) < 0.4, 0, rng.integers(1, 2**20, (3, N_ROWS))).astype(np.uint32)
    weights[2, 2:] = 0
    counts = rng.integers(1, 4, N_ROWS) * 1.0 if counted else np.zeros(0)
    data = bin_natively(X, max_bins=30, categories=categories)
    settings = {"max_leaves": 0, "max_features": 0, "random_thresholds": False, "minimum_leaf_weight": 0.0, "seed": 2}

    def grow(data: Any, rows: np.ndarray, collective: Any) -> Any:
        trees = _native.WeightedTrees(data, n_classes, **settings | options, n_threads=2, collective=collective)
        own = np.ones(1) if counted and len(rows) == 0 else counts[rows] if counted else counts
        grown = trees.grow(classes[:, rows].copy(), weights[:, rows].copy(), own, 4, 2)
        return [array for tree in grown for array in trees.arrays(tree)]

    on_workers(data, grow, parts, 4)


def test_a_problem_without_weight_is_refused_by_all() -> None:
    X, categories = columns(7, N_ROWS)
    data = bin_natively(X, categories=categories)
    options = {"growth": "layers", "criterion": "gini", "max_depth": 3, "max_leaves": 0, "max_features": 0}

    def work(rank: int, collective: Any) -> str:
        trees = _native.WeightedTrees(
            data,
            2,
            **options,
            random_thresholds=False,
            minimum_leaf_weight=0.0,
            seed=0,
            n_threads=1,
            collective=collective,
        )
        lines = np.zeros((1, N_ROWS), dtype=np.uint16), np.zeros((1, N_ROWS), dtype=np.uint32)
        with pytest.raises(ValueError, match="at least one row") as caught:
            trees.grow(*lines, np.zeros(0), 0, 1)
        return str(caught.value)

    assert len(set(ThreadGroup(2).run(work))) == 1
