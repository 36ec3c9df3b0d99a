"""Bins from mergeable summaries: those of rows whose weights are wrong by no more than the stated error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from binning_tools import Loaded, described, table, weights_of
from collective_tools import ThreadCollective, ThreadGroup
from radboost.engine import BinnedData
from radboost.trees import bin_rows
from reference import binning
from turns import in_turns

BINS = 20
PER_BIN = 8


def column(kind: str, m: int) -> np.ndarray:
    rng = np.random.default_rng(len(kind))
    values = {
        "normal": rng.normal(size=m),
        "heavy": np.exp(4.0 * rng.normal(size=m)),
        "sorted": np.sort(rng.random(m)),
        "one value often": np.where(rng.random(m) < 0.6, 3.0, rng.normal(size=m)),
        "few and many": np.where(rng.random(m) < 0.5, rng.integers(0, 5, m), rng.random(m) * 5.0),
        "one value nearly always": np.where(rng.random(m) < 0.97, 3.0, np.floor(rng.normal(size=m) * 30.0)),
        "missing": np.where(rng.random(m) < 0.4, np.nan, rng.normal(size=m)),
    }
    return values[kind]


def quantile(x: np.ndarray, w: np.ndarray, rank: float) -> float:
    """The naive oracle: the smallest value with so much weight up to it, the largest where no value has."""
    order = np.argsort(x, kind="stable")
    reached = np.flatnonzero(np.cumsum(w[order]) >= rank * (1.0 - 1e-12))
    return float(x[order][reached[0]] if len(reached) else x[order][-1])


def check_weights(thresholds: np.ndarray, x: np.ndarray, w: np.ndarray, error: float) -> None:
    """As in exact bins, of values whose weights are wrong by the error: frequent values are alone, no bin is heavy."""
    values, places = np.unique(x, return_inverse=True)
    weights = np.bincount(places, w)
    assert len(thresholds) + 1 == min(BINS, len(values))
    bins = np.searchsorted(thresholds, values)
    of_bin, of_last = np.bincount(bins, weights), weights[np.flatnonzero(np.diff(bins, append=BINS))]
    least = binning.least_weight(np.rint(weights * 7.0).astype(int).tolist(), BINS) / 7.0
    error *= 1.0 + 1e-9
    assert np.all((of_bin <= 2.0 * least + 3.0 * error) | (of_bin - of_last <= error))
    frequent = weights > least + 2.0 * error
    assert np.all(of_bin[bins[frequent]] - weights[frequent] <= error)


def check_ranks(thresholds: np.ndarray, x: np.ndarray, w: np.ndarray, error: float) -> None:
    total, largest = float(w.sum()), float(x.max())
    targets = [total * k / BINS for k in range(1, BINS)]
    ranges = [(quantile(x, w, q), quantile(x, w, q + error)) for q in targets]
    for threshold in thresholds:
        assert any(low <= threshold <= high for low, high in ranges)
    for low, high in ranges:  # and none is left out, unless nothing lies above it
        assert any(low <= threshold <= high for threshold in thresholds) or high == largest


KINDS = ["normal", "heavy", "sorted", "one value often", "one value nearly always", "few and many", "missing"]


@in_turns("kind, weights", KINDS, ["none", "fractions"], one_in=2)
@pytest.mark.parametrize(("n_blocks", "n_workers"), [(1, 1), (1, 3), (5, 2), (16, 1)])
def test_weights_are_right_up_to_the_stated_error(kind: str, weights: str, n_blocks: int, n_workers: int) -> None:
    m = 3000
    x, w = column(kind, m), weights_of(weights, m)
    parts = np.array_split(np.arange(m), n_workers)

    def work(rank: int, collective: Any) -> BinnedData:
        own = parts[rank]
        ends = [len(own) * k // n_blocks for k in range(1, n_blocks)]
        of_own = None if w is None else w[own]
        return bin_rows(
            Loaded(x[own][:, None], ends), of_own, np.arange(len(own)), BINS, 1, None, collective, sketched=True
        )

    found = ThreadGroup(n_workers).run(work)
    assert len({str(described(data)) for data in found}) == 1
    there = ~np.isnan(x)
    x, w = x[there], np.ones(m)[there] if w is None else w[there]
    error = (2 + math.ceil(math.log2(n_blocks))) * float(w.sum()) / (PER_BIN * BINS)
    check_weights(found[0].thresholds(0), x, w, error)
    if len(np.unique(x)) == len(x):
        check_ranks(found[0].thresholds(0), x, w, error)


def test_rows_in_another_order_have_the_same_bins() -> None:
    x = column("heavy", 2000)[:, None]
    shuffled = x.copy()
    for block in (shuffled[:900], shuffled[900:]):
        np.random.default_rng(1).shuffle(block)
    one, other = (bin_rows(Loaded(X, [900]), None, np.arange(2000), BINS, 1, sketched=True) for X in (x, shuffled))
    assert described(one) == described(other)


def test_columns_of_few_values_and_of_categories_are_exact() -> None:
    X = table(600)[:, [2, 3, 4, 6]]
    expected = bin_rows(X, None, np.arange(600), BINS, 1, {3: 9})
    found = bin_rows(Loaded(X, [100, 450]), None, np.arange(600), BINS, 1, {3: 9}, sketched=True)
    assert described(found) == described(expected)
    assert found.codes().tobytes() == expected.codes().tobytes()


def test_summaries_are_much_smaller_than_what_they_stand_for() -> None:
    """What a worker tells the others of a column: at most 16 values with their weights for each bin."""

    class Counting(ThreadCollective):
        def gather(self, data: bytes) -> list[bytes]:
            sizes[-1] = max(sizes[-1], len(data))
            return super().gather(data)

    X = np.random.default_rng(1).normal(size=(40_000, 1))
    sizes: list[int] = []
    for sketched in (False, True):
        sizes.append(0)
        ThreadGroup(2).run(
            lambda rank, collective, flag=sketched: bin_rows(
                X[rank::2], None, np.arange(20_000), BINS, 1, None, collective, sketched=flag
            ),
            Counting,
        )
    assert sizes[0] > 8 * 20_000
    assert sizes[1] <= 16 + 16 * (2 * PER_BIN * BINS + 1)
