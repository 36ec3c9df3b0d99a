"""Rows for pruning: distinct training rows in an order by content, and generated ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.pruning.columns import Indices
from radboost.rows.read import dense_rows, row_blocks

HELD_BACK = 0.25  # fraction of the distinct rows that evaluates sizes
# A generated row takes each column from a second row with a probability, drawn for each row, of up to twice this.
MEAN_EXCHANGED = 0.25
MADE_PER_ROW, FEWEST_MADE = 2, 3_000  # generated rows: for each row, and at least
WEIGHT_OF_MADE = 0.8  # total weight of generated rows; all rows weigh 1 together
SEED = 47
BLOCK_CELLS = 2**22  # random numbers that are drawn at a time


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows with their targets (class indices, or regression targets), and the total weights of their copies.

    Several targets have shape (n_rows, n_targets), as have offsets (None: no offsets). Rows are sorted by a hash of
    their content, so that order and copies do not matter. X has only the `columns` that trees split on.
    """

    X: FloatArray
    targets: FloatArray
    weights: FloatArray
    columns: Indices
    n_features: int
    offset: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.X)

    def select(self, part: slice) -> DistinctRows:
        offset = None if self.offset is None else self.offset[part]
        return replace(self, X=self.X[part], targets=self.targets[part], weights=self.weights[part], offset=offset)

    def hold_back(self) -> tuple[DistinctRows, DistinctRows]:
        """Rows to prune with, and held-back rows, which have the largest hashes."""
        n_held_back = min(max(1, round(HELD_BACK * len(self))), len(self) - 1)
        return self.select(slice(0, len(self) - n_held_back)), self.select(slice(len(self) - n_held_back, None))


def distinct_rows(
    X: Any,
    targets: npt.NDArray[Any],
    weights: FloatArray | None,
    most: int,
    offset: FloatArray | None = None,
    columns: Indices | None = None,
) -> DistinctRows:
    """Distinct rows by all their columns; the `most` rows with the smallest hashes if there are more.

    `columns`: columns to keep; None: all.
    """
    numbers = np.asarray(targets, dtype=np.float64)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    keys = _hashes(X, numbers if offset is None else np.column_stack([numbers, offset]))
    order = np.lexsort((given, keys[:, 1], keys[:, 0]))  # sorted, so that sums of weights do not depend on the order
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    sums = np.add.reduceat(given[order], first)
    kept = order[first][:most]
    begun = None if offset is None else offset[kept]
    columns = np.arange(X.shape[1]) if columns is None else columns
    dense = _plain(dense_rows(X[kept][:, columns]))
    return DistinctRows(dense, numbers[kept], sums[:most], columns, X.shape[1], begun)


def made_rows(rows: DistinctRows, n_made: int) -> FloatArray:
    """Generated rows: each is a row with some columns of another one, both drawn by their weights."""
    draws = np.random.default_rng(SEED)
    cumulative = np.cumsum(rows.weights)

    def drawn() -> npt.NDArray[np.intp]:
        indices = np.searchsorted(cumulative, draws.random(n_made) * cumulative[-1], "right")
        return np.asarray(np.minimum(indices, len(rows) - 1), dtype=np.intp)

    made, other = rows.X[drawn()], rows.X[drawn()]
    exchanged = 2.0 * MEAN_EXCHANGED * draws.random((n_made, 1))
    height = max(1, BLOCK_CELLS // rows.n_features)
    for first in range(0, n_made, height):
        part = slice(first, min(first + height, n_made))
        # drawn for all columns, so that generated rows do not depend on the columns that a model splits on
        drawn_columns = draws.random((part.stop - first, rows.n_features))[:, rows.columns]
        np.copyto(made[part], other[part], where=drawn_columns < exchanged[part])
    return np.asarray(made)


def with_made_rows(rows: DistinctRows, most: int) -> tuple[FloatArray, FloatArray]:
    """Rows and generated rows, and weights that sum to 1."""
    n_made = min(max(MADE_PER_ROW * len(rows), FEWEST_MADE), most)
    weights_of_rows = rows.weights / rows.weights.sum()
    if n_made <= 0:
        return rows.X, weights_of_rows
    weights = np.concatenate([(1.0 - WEIGHT_OF_MADE) * weights_of_rows, np.full(n_made, WEIGHT_OF_MADE / n_made)])
    return np.concatenate([rows.X, made_rows(rows, n_made)]), weights


def _plain(X: npt.NDArray[Any]) -> FloatArray:
    """Rows with one bit pattern for zero and one for missing values."""
    rows = np.array(X, dtype=np.float64, order="C") + 0.0
    rows[np.isnan(rows)] = np.nan
    return rows


def _hashes(X: Any, targets: FloatArray) -> npt.NDArray[np.uint64]:
    """128-bit hash of each row and its target."""
    digests, begin = bytearray(), 0
    for block in row_blocks(X, n_outputs=2):
        rows = _plain(dense_rows(block))
        for row, target in zip(rows, targets[begin : begin + len(rows)] + 0.0, strict=True):
            digests += hashlib.blake2b(row.tobytes() + target.tobytes(), digest_size=16).digest()
        begin += len(rows)
    return np.frombuffer(bytes(digests), dtype="<u8").reshape(-1, 2)
