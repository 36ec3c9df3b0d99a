"""Kernels on sets of rows: in plain C++ and as the processor has them, against the definition."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from radboost import _native

pytestmark = pytest.mark.native

masks = _native.MaskKernels

SIZES = [1, 63, 64, 65, 127, 128, 700, 1024 + 17, 4096]
SHARES = [0.0, 0.02, 0.5, 1.0]
EVERY_SIZE = [(size, share) for size in SIZES for share in SHARES]
PLAIN = pytest.mark.parametrize("plain", [True, False])


def words(rows: np.ndarray) -> np.ndarray:
    """The set of rows as bits, 64 in a word."""
    bits = np.zeros(-(-len(rows) // 64) * 64, dtype=np.uint8)
    bits[: len(rows)] = rows
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def make(size: int, share: float) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size + int(100 * share))
    wanted = rng.random(size) < share
    codes = rng.integers(0, 256 if size % 2 else 9, size).astype(np.uint8)
    return rng, wanted, codes, rng.integers(0, 2**18, size).astype(np.uint32)


@PLAIN
def test_ranges(plain: bool) -> None:
    for (size, share), missing_code in itertools.product(EVERY_SIZE, (-1, 8, 255)):
        _, wanted, codes, _ = make(size, share)
        if size == 700:
            codes[:] = max(missing_code, 0)  # nothing but missing values
        here = codes[wanted].tolist()
        values = [code for code in here if code != missing_code]
        expected = (min(values, default=255), max(values, default=0), missing_code in here)
        assert masks.range_of(codes, words(wanted), missing_code, 0, 255, True, plain) == expected
        if here:  # bounds that are reached end the search with the same result
            assert masks.range_of(codes, words(wanted), missing_code, *expected, plain) == expected


@PLAIN
def test_sums(plain: bool) -> None:
    for (size, share), n_cuts in itertools.product(EVERY_SIZE, (1, 4, 10, 23)):
        rng, wanted, codes, weights = make(size, share)
        columns = rng.integers(0, 256, (n_cuts, size)).astype(np.uint8)
        bins = rng.integers(0, 256, n_cuts).astype(np.uint8)
        expected = [int(weights[wanted & (column <= bin_)].sum()) for column, bin_ in zip(columns, bins, strict=True)]
        assert masks.sums_of(columns, bins, weights, words(wanted), plain).tolist() == expected
        for code in (0, 3, 255):
            expected_sum = int(weights[wanted & (codes == code)].sum())
            assert masks.sum_of_code(codes, code, weights, words(wanted), plain) == expected_sum


@PLAIN
def test_halves(plain: bool) -> None:
    questions = [(0, -1), (4, -1), (4, 8), (200, 255), (255, -1)]
    for (size, share), (bin_, left_code) in itertools.product(EVERY_SIZE, questions):
        _, wanted, codes, _ = make(size, share)
        to_left = wanted & ((codes <= bin_) | (codes == left_code))
        left, right, count = masks.halves_of(codes, bin_, left_code, words(wanted), plain)
        np.testing.assert_array_equal(left, words(to_left))
        np.testing.assert_array_equal(right, words(wanted & ~to_left))
        assert count == to_left.sum()


@PLAIN
def test_packing(plain: bool) -> None:
    for size, share in EVERY_SIZE:
        _, wanted, codes, weights = make(size, share)
        mask = words(wanted)
        np.testing.assert_array_equal(masks.packed_codes(codes, mask, plain), codes[wanted])
        np.testing.assert_array_equal(masks.packed_values(weights, mask, plain), weights[wanted])
        np.testing.assert_array_equal(masks.packed_numbers(7, mask, plain), 7 + np.flatnonzero(wanted))


@PLAIN
def test_rows(plain: bool) -> None:
    questions = [(4, -1, -1), (4, 8, 8), (2, -1, 8), (100, 255, 255)]
    for (size, share), (bin_, left_code, missing_code) in itertools.product(EVERY_SIZE, questions):
        _, wanted, codes, _ = make(size, share)
        for consecutive, rows in ((False, np.flatnonzero(wanted)), (True, np.arange(size // 3, size))):
            here = codes[rows]
            to_left = (here <= bin_) | (here == left_code)
            left, right, missing = masks.rows_of(
                codes, bin_, left_code, missing_code, rows.tolist(), consecutive, size // 3, plain
            )
            np.testing.assert_array_equal(left, rows[to_left])
            np.testing.assert_array_equal(right, rows[~to_left])
            assert missing == (here == missing_code).sum()


@pytest.mark.skipif(not masks.has_fast(), reason="this processor has the plain kernels only")
@pytest.mark.parametrize("instruction_set", ["x86-64", pytest.param("avx2", marks=pytest.mark.slow)])
def test_trees_on_masks_with_plain_kernels(instruction_set: str) -> None:
    """The comparison of trees on masks with trees row by row, in a process that has the plain kernels only."""
    path = Path(__file__).with_name("test_growth.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path), "-k", "swept_by_words"]
    environment = os.environ | {"RADBOOST_INSTRUCTION_SET": instruction_set}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
