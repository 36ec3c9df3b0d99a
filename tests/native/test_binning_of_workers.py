"""Bins that several workers find together are those of one worker that has all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from binning_tools import BINS, described, table, weights_of
from collective_tools import ThreadGroup, split_at_random
from radboost.engine import BinnedData
from radboost.trees import bin_rows


def on_workers(X: Any, weights: np.ndarray | None, parts: list[np.ndarray], counts: Any = None) -> list[BinnedData]:
    """The bins that each worker finds, where `parts` are the rows of each."""

    def work(rank: int, collective: Any) -> BinnedData:
        own = parts[rank]
        of_own = None if weights is None else weights[own]
        threads = 1 + rank % 2  # they need not have equally many
        return bin_rows(X[own], of_own, np.arange(len(own)), BINS, threads, counts, collective)

    return ThreadGroup(len(parts)).run(work)


def at_random(n_rows: int, n_workers: int, empty: int | None) -> list[np.ndarray]:
    return split_at_random(n_rows, n_workers, np.random.default_rng(n_workers), empty)


@pytest.mark.parametrize("kind", ["none", "whole", "fractions"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_workers", "empty"), [(2, None), (7, 3)])
def test_bins_of_workers(kind: str, dtype: Any, n_workers: int, empty: int | None) -> None:
    X, weights, counts = table(500, dtype), weights_of(kind, 500), {6: 9}
    expected = described(bin_rows(X, weights, np.arange(500), BINS, 1, counts))
    for data in on_workers(X, weights, at_random(500, n_workers, empty), counts):
        assert described(data) == expected


@pytest.mark.parametrize("kind", ["none", "fractions"])
def test_bins_of_sparse_rows(kind: str) -> None:
    X = sparse.random(300, 40, density=0.3, format="csr", random_state=3)
    weights = weights_of(kind, 300)
    expected = described(bin_rows(X, weights, np.arange(300), BINS, 1))
    for data in on_workers(X, weights, at_random(300, 3, 1)):
        assert described(data) == expected


@pytest.mark.parametrize("kind", ["none", pytest.param("whole", marks=pytest.mark.slow), "fractions"])
def test_bins_of_rows_that_are_drawn(kind: str) -> None:
    """Above 262,144 rows, or copies, a part of them decides; one worker has many rows and one hardly any."""
    m = 280_000
    X = np.random.default_rng(1).normal(size=(m, 2)).astype(np.float32)
    X[:, 1] = np.floor(X[:, 1] * 200.0)
    weights = weights_of(kind, m)
    expected = described(bin_rows(X, weights, np.arange(m), BINS, 1))
    for data in on_workers(X, weights, np.split(np.arange(m), [200_000, 200_010])):
        assert described(data) == expected
