"""Native binning against its naive twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from native_tools import bin_natively, naive_columns
from radboost import _native
from radboost.rows.hashing import keyed
from reference import binning, chance

FINITE = st.floats(allow_nan=True, allow_infinity=False, width=64)
LEVELS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, 1e308, -1e308, 1.0 + 2**-52, 1.0 + 2**-51, math.nan])


@given(
    X=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=FINITE | LEVELS),
    max_bins=st.integers(2, 8),
    weighted=st.booleans(),
    data=st.data(),
)
def test_bins_and_codes(X: np.ndarray, max_bins: int, weighted: bool, data: Any) -> None:
    counts = st.lists(st.integers(1, 5) | st.integers(1, 300), min_size=len(X), max_size=len(X))
    w = np.array(data.draw(counts)) if weighted else None
    binned = bin_natively(X, w, max_bins)
    expected, codes = binning.bin_matrix(X, None if w is None else w.tolist(), max_bins)
    assert naive_columns(binned) == (expected, codes.tolist())


@given(
    hnp.arrays(np.float32, (15, 2), elements=st.floats(allow_nan=True, allow_infinity=False, width=32)),
    st.integers(2, 8),
)
def test_float32_gives_the_bins_of_the_same_numbers_in_float64(X: np.ndarray, max_bins: int) -> None:
    assert naive_columns(bin_natively(X, None, max_bins)) == naive_columns(
        bin_natively(X.astype(float), None, max_bins)
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neighbouring_numbers_are_told_apart(dtype: Any) -> None:
    """Halfway between an odd and the next even number rounds up to the latter: then the threshold is the former."""
    eps = np.finfo(dtype).eps
    values = np.array([1 + eps, 1 + 2 * eps, 1 + 3 * eps, 1 + 4 * eps, -1 - eps, -1 - 2 * eps], dtype=dtype)
    binned = bin_natively(values[:, None])
    assert binned.codes().tolist() == np.argsort(np.argsort(values)).tolist()
    ordered = np.sort(values).astype(float)
    assert np.all(ordered[:-1] <= binned.thresholds(0))
    assert np.all(binned.thresholds(0) < ordered[1:])


@pytest.mark.parametrize("n", [254, 255, 256, 257, 600])
@pytest.mark.parametrize("missing", [False, True])
def test_around_the_limit_of_255_bins(n: int, missing: bool) -> None:
    values = np.random.default_rng(n).permutation(n).astype(float)
    X = np.append(values, math.nan if missing else 0.0)[:, None]
    expected, codes = binning.bin_matrix(X)
    assert naive_columns(bin_natively(X)) == (expected, codes.tolist())
    assert expected[0].n_bins == min(n, 255)


def frequent_values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "whole numbers": np.append(np.round(rng.normal(size=20_000) * 40.0), np.arange(-150, 150)),
        "skewed": np.append(np.floor(rng.exponential(60.0, 5000)), np.arange(784)),
        "one of 256": np.append(np.arange(256.0), np.full(2304, 31.0)),
        "one among many": np.where(rng.random(5000) < 0.5, 0.0, rng.normal(size=5000)),
        "one at an end": np.where(rng.random(20_000) < 0.97, 0.0, np.floor(rng.exponential(1000.0, 20_000))),
        "every tenth": np.append(np.arange(3000.0), np.repeat(np.arange(0, 3000, 10), rng.integers(1, 200, 300))),
    }


@pytest.mark.parametrize("name", frequent_values())
def test_frequent_values_leave_the_bins_to_the_others(name: str) -> None:
    """Every bin is used; a value heavier than any bin of several has to be is alone; weights mean repetition."""
    x = frequent_values()[name]
    values, counts = np.unique(x, return_counts=True)
    binned = bin_natively(values[:, None], counts.astype(float))
    np.testing.assert_array_equal(binned.thresholds(0), bin_natively(x[:, None]).thresholds(0))
    expected = binning.bin_column(values.tolist(), counts.tolist())
    np.testing.assert_array_equal(binned.thresholds(0), expected.thresholds)
    assert binned.n_bins()[0] == 255
    bins = binned.codes()
    sizes, weights = np.bincount(bins), np.bincount(bins, counts)
    least = binning.least_weight(counts.tolist(), 255)
    assert np.all(sizes[bins][counts > least] == 1)
    assert np.all(weights[sizes > 1] < 2 * least)


def test_weights_that_are_lost_beside_others() -> None:
    """Values 1 and 3 weigh nothing beside 1e20, and still need bins beside those of 0, 2 and 4."""
    weights = np.array([1e20, 1.0, 2e20, 1.0, 1e20])
    for max_bins in (2, 3, 4, 5):
        assert bin_natively(np.arange(5.0)[:, None], weights, max_bins).n_bins().tolist() == [max_bins]


def test_strides_of_weights() -> None:
    """Weights that have to be copied do not make 32-bit numbers of the values."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(600, 1)), rng.random(1200)
    found = [_native.bin_matrix(X, v, np.arange(600), 255, 1).thresholds(0) for v in (w[::2], w[::2].copy())]
    assert found[0].tobytes() == found[1].tobytes()


def hard_columns(m: int, dtype: Any) -> dict[str, np.ndarray]:
    """Columns whose cuts lie where an index of equal cells finds them hard to tell apart, or cannot be made at all."""
    rng = np.random.default_rng(8)
    largest, least = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    columns = {
        "normal": rng.normal(size=m),
        "heavy tails": rng.standard_cauchy(m) ** 3,
        "one far away": np.append(rng.random(m - 1), 1e30),
        "range without a number": rng.choice([-1.0, -0.5, 0.5, 1.0], m) * largest,
        "scale without a number": rng.integers(0, 9, m) * float(least),
        "two values": rng.integers(0, 2, m) + 0.5,
        "constant": np.full(m, -3.0),
        "whole numbers": rng.integers(0, 256, m),
        "whole numbers and halves": rng.integers(-100, 200, m) / 2,
        "missing only": np.full(m, math.nan),
    }
    columns = {name: column.astype(dtype) for name, column in columns.items()}
    columns["neighbours"] = np.nextafter(dtype(1), dtype(2)) * rng.choice([1, 1 - np.finfo(dtype).eps], m).astype(dtype)
    columns["some missing"] = np.where(rng.random(m) < 0.1, dtype(math.nan), columns["normal"])
    return columns


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [2047, 2048, 5000])
def test_codes_of_many_rows_follow_from_the_thresholds(m: int, dtype: Any) -> None:
    columns = hard_columns(m, dtype)
    X = np.column_stack(list(columns.values()))
    for layout in (X, np.asfortranarray(X)):
        binned = bin_natively(layout, None, 255, 2)
        codes = binned.codes().reshape(X.shape)
        for c, (name, x) in enumerate(columns.items()):
            thresholds, missing = binned.thresholds(c), np.isnan(x)
            expected = np.searchsorted(thresholds, x.astype(np.float64))
            expected[missing] = binned.n_bins()[c]
            np.testing.assert_array_equal(codes[:, c], expected, err_msg=name)
            assert binned.has_missing()[c] == missing.any()


def test_threads_do_not_matter() -> None:
    X = np.random.default_rng(1).normal(size=(5000, 9))
    w = np.random.default_rng(2).random(5000)
    first = bin_natively(X, w, 255, 1)
    for n_threads in (2, 3, 8):
        other = bin_natively(X, w, 255, n_threads)
        np.testing.assert_array_equal(other.codes(), first.codes())
        for c in range(9):
            np.testing.assert_array_equal(other.thresholds(c), first.thresholds(c))


def test_quantiles_of_large_data_come_from_content() -> None:
    """Above 262,144 rows a sample is drawn: order and copies of rows must not matter, and bins stay even."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300_000, 2))
    first = bin_natively(X)
    shuffled = bin_natively(X[rng.permutation(len(X))])
    copies = bin_natively(np.repeat(X[:150_000], 2, axis=0))
    weighted = bin_natively(X[:150_000], np.full(150_000, 2.0))
    for c in range(2):
        np.testing.assert_array_equal(first.thresholds(c), shuffled.thresholds(c))
        np.testing.assert_array_equal(copies.thresholds(c), weighted.thresholds(c))
    counts = np.bincount(first.codes().reshape(-1, 2)[:, 0], minlength=255)
    assert counts.min() > 0.5 * 300_000 / 255
    assert counts.max() < 1.5 * 300_000 / 255


@pytest.mark.parametrize("n_columns", [1, 8, 21])
def test_hashes_know_codes_only(n_columns: int) -> None:
    rng = np.random.default_rng(4)
    X, order = rng.integers(0, 300, (600, n_columns)).astype(float), rng.permutation(600)
    binned = bin_natively(X)
    hashes, codes = binned.row_hashes(1), binned.codes().reshape(X.shape).tolist()
    np.testing.assert_array_equal(bin_natively(X[order]).row_hashes(2), hashes[order])
    assert keyed(hashes, np.full(600, 3, dtype=np.uint64)).tolist() == [chance.row_hash(row, 3) for row in codes]
    assert len(np.unique(hashes)) == len(np.unique(codes, axis=0))


def test_subset() -> None:
    X = np.random.default_rng(6).integers(0, 5, (30, 3)).astype(float)
    binned = bin_natively(X)
    rows = np.array([3, 3, 0, 29])
    part = binned.subset(rows)
    assert naive_columns(part)[0] == naive_columns(binned)[0]
    assert naive_columns(part)[1] == [naive_columns(binned)[1][i] for i in rows]
    for bad in ([30], [-1]):
        with pytest.raises(ValueError, match="range"):
            binned.subset(np.array(bad))


def test_bad_sizes_are_refused() -> None:
    X = np.zeros((4, 2))
    for max_bins in (-1, 0, 1, 256, 10**6):
        with pytest.raises(ValueError, match="max_bins"):
            bin_natively(X, None, max_bins)
    with pytest.raises(ValueError, match="weight"):
        _native.bin_matrix(X, np.ones(3), np.zeros(0, dtype=np.int64), 255, 1)
    for order in ([0, 1, 2], [0, 1, 2, 4], [0, 1, 2, -1]):
        with pytest.raises(ValueError, match="row"):
            _native.bin_matrix(X, np.zeros(0), np.array(order), 255, 1)
    with pytest.raises(ValueError, match="column"):
        bin_natively(X).thresholds(2)


def test_rows_can_be_put_in_another_order() -> None:
    rng = np.random.default_rng(3)
    X, w, order = rng.normal(size=(3000, 4)), rng.random(3000), rng.permutation(3000)
    plain = bin_natively(X, w)
    moved = _native.bin_matrix(X, w, order, 255, 2)
    np.testing.assert_array_equal(moved.codes().reshape(3000, 4), plain.codes().reshape(3000, 4)[order])
    for c in range(4):
        np.testing.assert_array_equal(moved.thresholds(c), plain.thresholds(c))
