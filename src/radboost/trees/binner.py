"""Binning: columns of raw rows to uint8 codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from radboost._typing import FloatArray, RowOrder
from radboost._validation import free_memory
from radboost.engine import BinnedData, Collective, current
from radboost.trees.row_blocks import RowBlocks

BYTES_PER_CELL = 2  # a uint8 each in the row-major and in the column-major copy
DENSE_BLOCK_BYTES = 2**26  # of sparse rows that are made dense at a time


def bin_rows(
    X: Any,
    weights: FloatArray | None,
    order: RowOrder,
    max_bins: int,
    n_threads: int,
    n_categories: Mapping[int, int] | None = None,
    collective: Collective | None = None,
    *,
    sketched: bool = False,
) -> BinnedData:
    """Bin all columns, with one extra bin for missing values; sparse input is made dense block by block.

    A column of numbers gets min(`max_bins`, number of different values) bins (native/data/bin_ends.hpp).

    Row i of the result is row order[i] of X: the engine expects rows sorted by class. Categorical columns, with their
    numbers of categories in `n_categories`, hold codes 0, 1, ... already; only a dense X can have them. With a
    collective X has the rows of one of its workers, and bins are those of all rows. Each worker calls with the same
    columns, all dense or all sparse, and of one type. X may be `RowBlocks`, of which one is in memory at a time.
    `sketched`: approximate quantiles from merged sketches, one per block or worker (native/data/sketch.hpp).
    """
    weights = np.zeros(0) if weights is None else weights
    n_rows, n_columns = X.shape
    if not sparse.issparse(X):
        counts = np.full(n_columns, -1, dtype=np.int32)
        for column, count in (n_categories or {}).items():
            counts[column] = count
        if isinstance(X, RowBlocks):
            first_rows, of_32_bits = X.first_rows.tolist(), X.dtype == np.float32
            rest = (weights, order, max_bins, n_threads, counts, collective, sketched)
            return current().bin_blocks(X.load, first_rows, n_columns, of_32_bits, *rest)
        return current().bin(X, weights, order, max_bins, n_threads, counts, collective, sketched)
    _check_memory(n_rows, n_columns)
    # of all workers, so that all cut the same chunks of columns
    n_rows = current().row_weights(n_rows, None, folds_large=False, collective=collective).n_rows
    columns = X.tocsc()
    width = max(1, DENSE_BLOCK_BYTES // (8 * max(1, n_rows)))
    parts = [
        current().bin(
            columns[:, first : first + width].toarray(), weights, order, max_bins, n_threads, None, collective, sketched
        )
        for first in range(0, n_columns, width)
    ]
    return parts[0] if len(parts) == 1 else current().side_by_side(parts)


def _check_memory(n_rows: int, n_columns: int) -> None:
    needed = 2 * BYTES_PER_CELL * n_rows * n_columns  # the parts and the whole exist side by side for a moment
    available = free_memory()
    if needed > available:
        raise ValueError(
            f"A sparse matrix of {n_rows} x {n_columns} needs about {needed / 2**30:.1f} GiB as bins, and "
            f"{available / 2**30:.1f} GiB are free. Select fewer columns first, for example with "
            "sklearn.feature_selection.SelectKBest or by a minimum document frequency."
        )
