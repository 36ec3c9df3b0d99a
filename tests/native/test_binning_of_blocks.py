"""Rows that are loaded block by block have the bins and the codes of the same rows in one matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from binning_tools import BINS, Loaded, described, table, weights_of
from collective_tools import ThreadGroup
from radboost.engine import BinnedData
from radboost.trees import bin_rows


def same(found: BinnedData, expected: BinnedData) -> bool:
    return described(found) == described(expected) and found.codes().tobytes() == expected.codes().tobytes()


@pytest.mark.parametrize("kind", ["none", "whole", "fractions"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_loaded_twice(kind: str, dtype: Any) -> None:
    X, weights, order = table(700, dtype), weights_of(kind, 700), np.random.default_rng(1).permutation(700)
    expected = bin_rows(X, weights, order, BINS, 1, {6: 9})
    for ends in ([], [1], [100, 100, 350, 699]):
        blocks = Loaded(X, ends)
        assert same(bin_rows(blocks, weights, order, BINS, 2, {6: 9}), expected)
        assert blocks.loads == [2] * len(blocks.blocks) or not ends


@pytest.mark.parametrize("kind", ["none", "fractions"])
def test_blocks_of_workers(kind: str) -> None:
    """One worker has three blocks, one a single one, and one has none."""
    X, weights = table(500), weights_of(kind, 500)
    expected = bin_rows(X, weights, np.arange(500), BINS, 1, {6: 9})
    owned = [slice(0, 300), slice(300, 500), slice(0, 0)]

    def work(rank: int, collective: Any) -> BinnedData:
        own, of_own = X[owned[rank]], None if weights is None else weights[owned[rank]]
        blocks = Loaded(own, [[90, 120], [], []][rank])
        return bin_rows(blocks, of_own, np.arange(len(own)), BINS, 1, {6: 9}, collective)

    codes = expected.codes().reshape(500, -1)
    for rank, data in enumerate(ThreadGroup(3).run(work)):
        assert described(data) == described(expected)
        assert data.codes().tobytes() == codes[owned[rank]].tobytes()


@pytest.mark.parametrize("kind", ["none", *(pytest.param(k, marks=pytest.mark.slow) for k in ("whole", "fractions"))])
def test_rows_that_are_drawn(kind: str) -> None:
    m = 280_000
    X = np.random.default_rng(1).normal(size=(m, 2)).astype(np.float32)
    X[:, 1] = np.floor(X[:, 1] * 200.0)
    blocks = Loaded(X, [200_000, 200_010])
    weights = weights_of(kind, m)
    assert same(bin_rows(blocks, weights, np.arange(m), BINS, 1), bin_rows(X, weights, np.arange(m), BINS, 1))
    assert blocks.loads == [2, 2, 2]


@pytest.mark.parametrize("scale", [1e9, 1e9 + 0.5])
def test_few_rows_of_which_none_is_drawn(scale: float) -> None:
    """Then all of them count, and the blocks are loaded once more."""
    X = np.repeat(np.arange(40.0)[:, None] * 1.7, 3, axis=0)
    weights = np.tile([1.0, 2.0, 3.0], 40) * scale
    blocks = Loaded(X, [50, 70])
    assert same(bin_rows(blocks, weights, np.arange(120), BINS, 1), bin_rows(X, weights, np.arange(120), BINS, 1))
    assert blocks.loads == [3 if scale == 1e9 else 2] * 3  # weights with fractions: there are 120 rows, and all count


def test_values_that_drawn_rows_do_not_have() -> None:
    """Then all rows count, and the blocks are loaded once more."""
    m, rng = 300_000, np.random.default_rng(5)
    X = np.column_stack([np.zeros(m), rng.normal(size=m)])
    X[rng.permutation(m)[:400], 0] = np.arange(400)  # of rows that are drawn not even half
    weights, blocks = rng.integers(1, 4, m).astype(float), Loaded(X, [1000, 280_000])
    expected = bin_rows(X, weights, np.arange(m), 255, 2)
    assert expected.n_bins().tolist() == [255, 255]
    assert same(bin_rows(blocks, weights, np.arange(m), 255, 2), expected)
    assert blocks.loads == [3, 3, 3]
    copies = bin_rows(np.repeat(X, weights.astype(int), axis=0), None, np.arange(int(weights.sum())), 255, 1)
    assert described(copies) == described(expected)
    halves = [slice(0, m // 2), slice(m // 2, m)]
    found = ThreadGroup(2).run(
        lambda rank, collective: bin_rows(
            X[halves[rank]], weights[halves[rank]], np.arange(m // 2), 255, 1, None, collective
        )
    )
    assert all(described(data) == described(expected) for data in found)
    assert bin_rows(blocks, weights, np.arange(m), 255, 2, sketched=True).n_bins().tolist() == [255, 255]


@pytest.mark.slow
def test_wide_rows_take_several_passes() -> None:
    X = np.random.default_rng(3).normal(size=(150_000, 150)).astype(np.float32)
    blocks = Loaded(X, [70_000])
    assert same(bin_rows(blocks, None, np.arange(len(X)), BINS, 1), bin_rows(X, None, np.arange(len(X)), BINS, 1))
    assert blocks.loads == [1 + 3, 1 + 3]  # 64 columns at once


def test_blocks_that_are_not_what_was_said_are_refused() -> None:
    class Growing(Loaded):
        def load(self, block: int) -> np.ndarray:
            return np.zeros((self.loads[block] + 9, 8))

    with pytest.raises(ValueError, match="another shape"):
        bin_rows(Growing(table(60), [30]), None, np.arange(60), BINS, 1)


def test_an_error_of_a_block_is_the_error_of_binning() -> None:
    class Gone(Loaded):
        def load(self, block: int) -> np.ndarray:
            raise OSError(f"block {block} is gone")

    with pytest.raises(OSError, match="block 0 is gone"):
        bin_rows(Gone(table(60), [30]), None, np.arange(60), BINS, 1)


def test_rows_are_taken_from_their_blocks() -> None:
    X = table(60)
    blocks = Loaded(X, [10, 10, 45])
    places = np.array([59, 0, 9, 10, 44, 45, 0])
    np.testing.assert_array_equal(blocks[places], X[places])
    np.testing.assert_array_equal(blocks.whole(), X)
