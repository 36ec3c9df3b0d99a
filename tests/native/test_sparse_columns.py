"""The kernels of boosting with structural sparsity against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from radboost import _native
from radboost.linear.columns import DesignMatrix, canonical_rows
from radboost.penalties import ROW_PENALTIES, get_row_penalty
from reference import canonical_rows as naive_rows
from reference import sparsity as naive

M, N = 83, 11


def matrix(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(M, N)) * (rng.random(size=(M, N)) < 0.4)


def stores(X: np.ndarray, factors: np.ndarray) -> list[Any]:
    columns = sparse.csc_array(X)
    parts = (columns.indptr.astype(np.int64), columns.indices.astype(np.int32))
    return [
        _native.DenseColumns(np.ascontiguousarray(X.T), factors),
        _native.CompressedColumns(*parts, columns.data, M, factors),
        _native.CompressedColumns32(*parts, columns.data.astype(np.float32), M, factors),
    ]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_sums_over_columns(n_threads: int) -> None:
    X, rng = matrix().astype(np.float32).astype(np.float64), np.random.default_rng(1)
    factors, lines = rng.uniform(0.5, 2.0, size=N), rng.normal(size=(3, M))
    chosen, scaled = np.array([7, 2, 2, 10]), X * factors
    for store in stores(X, factors):
        found = store.correlate(chosen, lines, False, n_threads).reshape(4, 3)
        np.testing.assert_allclose(found, scaled[:, chosen].T @ lines.T, atol=1e-12)
        found = store.correlate(chosen, lines, True, n_threads).reshape(4, 3)
        np.testing.assert_allclose(found, np.abs(scaled[:, chosen]).T @ lines.T, atol=1e-12)
        found = store.weighted_squares(chosen, lines, n_threads).reshape(4, 3)
        np.testing.assert_allclose(found, (scaled[:, chosen] ** 2).T @ lines.T, atol=1e-12)
        np.testing.assert_allclose(store.row_totals(chosen, False), np.abs(scaled[:, chosen]).sum(axis=1), atol=1e-12)
        np.testing.assert_array_equal(store.row_totals(chosen, True), (X[:, chosen] != 0).sum(axis=1))
        np.testing.assert_allclose(store.largest_entries(chosen), np.abs(scaled[:, chosen]).max(axis=0), atol=1e-15)
        scores, weights = rng.normal(size=(3, M)), rng.normal(size=(4, 3))
        expected = scores + (scaled[:, chosen] @ weights).T
        store.add_columns(chosen, weights, scores, n_threads)
        np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_threads_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    X, lines = rng.normal(size=(5000, 400)), rng.normal(size=(2, 5000))
    store = _native.DenseColumns(np.ascontiguousarray(X.T), np.ones(400))
    everything = np.arange(400)
    one, four = (store.correlate(everything, lines, False, n) for n in (1, 4))
    np.testing.assert_array_equal(one, four)


def quadratic(scores: np.ndarray, start: np.ndarray, curvature: np.ndarray, row_weights: np.ndarray | None) -> float:
    value = (start * scores).sum()
    if row_weights is None:
        return float(value + 0.5 * (curvature * scores**2).sum())
    mean = (curvature * scores).sum(axis=0)
    return float(value + 0.5 * (row_weights * ((curvature * scores**2).sum(axis=0) - mean**2)).sum())


def descend(store: Any, model: tuple[np.ndarray, ...], penalty: str, n_passes: int, **more: Any) -> Any:
    """Weights, intercepts and scores after at most so many passes from zero, over all columns.

    `model` holds curvature, weights of the rows, start, squares of the columns, their totals and prices.
    """
    n, k = model[3].shape
    found = {"weights": np.zeros((n, k)), "intercepts": np.zeros(k)}
    settings = {"intercept": False, "tolerance": 1e-300, "expected_passes": 0, **more, **found}
    _, direction = store.descend(np.arange(n), *model, penalty=penalty, most_passes=n_passes, **settings)
    return *found.values(), direction


@pytest.mark.parametrize("name", sorted(ROW_PENALTIES))
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("expected_passes", [0, 1000])
def test_descent_ends_at_the_minimum_of_the_model(name: str, coupled: bool, expected_passes: int) -> None:
    """Over the rows, and in terms of X^T D X: no condition of optimality is violated."""
    rng, k, penalty = np.random.default_rng(3), 3, get_row_penalty(name)
    X, factors = matrix(4), rng.uniform(0.5, 2.0, size=N)
    start = rng.normal(size=(k, M)) / M
    curvature = rng.uniform(0.1, 1.0, size=(k, M))
    row_weights = np.full(M, 1.0 / M) if coupled else None
    if coupled:
        curvature /= curvature.sum(axis=0)
        start -= start.mean(axis=0)  # like every gradient of such a loss
        diagonal = 2.0 * curvature * (1.0 - curvature) / M
    else:
        curvature /= M
        diagonal = curvature
    prices = np.full(N, 0.02)
    for store in stores(X, factors)[:2]:
        squares = store.weighted_squares(np.arange(N), diagonal, 1).reshape(N, k)
        coupling = np.zeros(0) if row_weights is None else row_weights
        model = (curvature, coupling, start, squares, diagonal.sum(axis=1), prices)
        more = {"intercept": True, "tolerance": 1e-13, "expected_passes": expected_passes}
        weights, intercept, direction = descend(store, model, name, 5000, **more)
        scaled = X * factors
        scores = (scaled @ weights).T + intercept[:, None]
        np.testing.assert_allclose(direction.reshape(k, M), scores, atol=1e-10)
        slopes = start + curvature * scores
        if coupled:
            slopes = start + row_weights * curvature * (scores - (curvature * scores).sum(axis=0))
        violation = penalty.violation(weights, scaled.T @ slopes.T, prices)
        assert violation.max() < 1e-10
        assert np.abs(slopes.sum(axis=1)).max() < 1e-10
        assert weights.any()
        value = quadratic(scores, start, curvature, row_weights) + 0.02 * naive.PENALTIES[name](weights)
        for seed in range(5):
            noise = np.random.default_rng(seed).normal(size=weights.shape) * 0.01
            moved = (scaled @ (weights + noise)).T + intercept[:, None]
            other = quadratic(moved, start, curvature, row_weights) + 0.02 * naive.PENALTIES[name](weights + noise)
            assert other >= value


@pytest.mark.parametrize("name", sorted(ROW_PENALTIES))
@pytest.mark.parametrize("price", [0.01, 0.1])
def test_no_pass_of_the_descent_raises_the_objective(name: str, price: float) -> None:
    """Columns that are nearly copies take many passes; what is extrapolated from them must be lower, too."""
    rng, n, m, k = np.random.default_rng(5), 12, 40, 3
    X = rng.normal(size=(m, 1)) + 0.3 * rng.normal(size=(m, n))
    curvature, start = np.full((k, m), 1.0 / m), rng.normal(size=(k, m)) / m
    store = _native.DenseColumns(np.ascontiguousarray(X.T), np.ones(n))
    squares = np.repeat((X**2).mean(axis=0)[:, None], k, axis=1)
    model = (curvature, np.zeros(0), start, squares, np.ones(k), np.full(n, price))
    values = []
    for n_passes in range(61):
        weights, *_ = descend(store, model, name, n_passes)
        values.append(quadratic((X @ weights).T, start, curvature, None) + price * naive.PENALTIES[name](weights))
    assert np.diff(values).max() <= 1e-15
    assert values[-1] <= values[5] < values[1] < values[0]


@pytest.mark.parametrize("name", sorted(ROW_PENALTIES))
@pytest.mark.parametrize("k", [1, 3])
def test_update_of_a_row_is_that_of_the_oracle(name: str, k: int) -> None:
    """Columns that share no row are minimised one by one, by one update each."""
    rng, n, penalty = np.random.default_rng(8), 400, get_row_penalty(name)
    curvature, start = rng.uniform(1e-3, 3.0, size=(k, n)), rng.normal(size=(k, n)) * 10.0 ** rng.uniform(-9, 3, n)
    prices = np.where(rng.random(n) < 0.1, 0.0, 10.0 ** rng.uniform(-3, 2, n))
    store, squares = _native.DenseColumns(np.eye(n), np.ones(n)), np.ascontiguousarray(curvature.T)
    model = (curvature, np.zeros(0), start, squares, np.ones(k), prices)
    weights, *_ = descend(store, model, name, 1)
    expected = penalty.update(curvature.T, start.T, prices)
    # Where the penalty takes nearly all of a slope, the last digits of the difference are rounding.
    np.testing.assert_allclose(weights, expected, rtol=1e-11, atol=1e-14 * np.abs(start).max())
    assert np.array_equal(weights != 0.0, expected != 0.0)


def test_columns_are_centred_and_scaled() -> None:
    X, weights = matrix(5) + 3.0, np.random.default_rng(6).uniform(size=M)
    weights /= weights.sum()
    X[:, 4] = 7.0
    columns = DesignMatrix.of(X, np.arange(M), weights, intercept=True, n_threads=1)
    np.testing.assert_allclose(columns.centres, weights @ X, rtol=1e-13)
    spread = np.sqrt(weights @ (X - weights @ X) ** 2)
    spread[4] = np.inf
    np.testing.assert_allclose(columns.factors, 1.0 / spread, rtol=1e-12)
    sparser = DesignMatrix.of(sparse.csr_array(X), np.arange(M), weights, intercept=True, n_threads=1)
    np.testing.assert_allclose(sparser.factors, 1.0 / spread, rtol=1e-9)
    assert not sparser.centres.any()


def test_nonsense_is_refused() -> None:
    starts, rows, values = np.array([0, 2]), np.array([0, 5], dtype=np.int32), np.ones(2)
    for ends, places, n_rows, message in (
        (starts, rows, 3, "row number"),
        (np.array([0, 3]), rows, 9, "do not fit"),
        (starts, rows[::-1].copy(), 9, "ascend"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.CompressedColumns(ends, places, values, n_rows, np.ones(1))
    store = _native.DenseColumns(np.ones((2, 3)), np.ones(2))
    for column, n_rows, message in ((2, 3, "column number"), (1, 4, "per row")):
        with pytest.raises(ValueError, match=message):
            store.correlate(np.array([column]), np.ones((1, n_rows)), False, 1)
    with pytest.raises(ValueError, match="out of range"):
        _native.compress_columns(starts, rows, values, np.array([0]), 3, 1)
    with pytest.raises(ValueError, match="row number"):
        _native.gather_columns(np.ones((2, 2)), np.array([4]), np.empty((2, 1)), 1)


def hashes_of(X: np.ndarray, n_threads: int = 1) -> list[np.ndarray]:
    """Those of the dense rows in several layouts, and of compressed rows and columns."""
    rows, columns = sparse.csr_array(X), sparse.csc_array(X)
    shape = (*X.shape, n_threads)
    wide = np.repeat(X, 2, axis=1)
    return [
        *(_native.hash_dense_rows(part, 0, n_threads) for part in (X, np.asfortranarray(X), wide[:, ::2])),
        *(
            _native.hash_compressed(
                part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data, by_column, *shape
            )
            for part, by_column in ((rows, False), (columns, True))
        ),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_columns", [1, 7, 70])
def test_hashes_of_rows_match_the_naive_ones(dtype: Any, n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    X = (rng.normal(size=(300, n_columns)) * (rng.random((300, n_columns)) < 0.5)).astype(dtype)
    X[:4, 0] = [-0.0, np.inf, np.nan, 5e-324]
    expected = np.array([naive_rows.row_hash(row.tolist()) for row in X], dtype=np.uint64)
    for n_threads in (1, 3):
        for found in hashes_of(X, n_threads):
            np.testing.assert_array_equal(found, expected)
    shifted = np.array([naive_rows.row_hash(row.tolist(), 11) for row in X], dtype=np.uint64)
    np.testing.assert_array_equal(_native.hash_dense_rows(X, 11, 1), shifted)
    assert len(np.unique(expected)) == len(np.unique(np.nan_to_num(X, nan=7.5), axis=0))


def test_low_bits_of_hashes_differ() -> None:
    """Also where all cells are 0 or 1, whose low bits are 0."""
    X = np.array(list(product([0.0, 1.0], repeat=10)))
    low = _native.hash_dense_rows(X, 0, 1) % np.uint64(2**20)
    assert len(np.unique(low)) > 1000


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_canonical_rows_match_the_naive_ones(form: Any, weights: str, n_outputs: int) -> None:
    """Few different rows, so that many are copies; rows that differ in their labels alone stay apart."""
    rng = np.random.default_rng(n_outputs)
    m = 200
    X = rng.integers(-1, 2, size=(m, 3)) * 0.3
    labels = rng.integers(0, 2, size=(n_outputs, m)).astype(float)
    labels[0, ::9] = np.nan if n_outputs > 1 else 5.0
    given = {"none": np.ones(m), "whole": rng.integers(1, 5, m) * 1.0, "real": rng.random(m)}[weights]
    expected = naive_rows.canonical_rows(X, labels, given)
    assert len(expected) < m
    for n_threads in (1, 2):
        places, totals = canonical_rows(form(X), labels, given, n_threads)
        assert totals.tolist() == [weight for _, weight in expected]
        np.testing.assert_array_equal(X[places], X[[place for place, _ in expected]])
        np.testing.assert_array_equal(labels[:, places], labels[:, [place for place, _ in expected]])
    shuffled = rng.permutation(m)
    places, totals = canonical_rows(form(X[shuffled]), labels[:, shuffled], given[shuffled])
    assert totals.tolist() == [weight for _, weight in expected]
    np.testing.assert_array_equal(X[shuffled][places], X[[place for place, _ in expected]])
