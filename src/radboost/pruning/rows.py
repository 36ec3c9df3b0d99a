"""Rows that a model is pruned with, in an order that depends on their content alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.pruning.columns import Indices
from radboost.rows.read import dense_rows, row_blocks

# Fraction of the different rows that is held back to evaluate sizes.
HELD_BACK = 0.25
# A made row takes each column from a second row with a probability of up to twice this, drawn for each row.
MEAN_EXCHANGED = 0.25
# Made rows for each row, and fewest of them; their total weight, where all rows and they weigh 1.
MADE_PER_ROW, FEWEST_MADE, WEIGHT_OF_MADE = 2, 3_000, 0.8
SEED = 47
BLOCK_CELLS = 2**22  # numbers that are drawn at a time


@dataclass(frozen=True)
class DistinctRows:
    """Different rows with their targets (indices of classes, or numbers), and the total weights of their copies.

    Several targets have a column for each, and so have offsets, None where there are none. Rows are sorted by a hash of
    their content, so that order and copies do not matter. X has the `columns` that trees split on, of `n_features`.
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
    """Different rows, by all their columns; of more than `most` those with the smallest hashes.

    They keep these columns, None for all of them.
    """
    numbers = np.asarray(targets, dtype=np.float64)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    keys = _hashes(X, numbers if offset is None else np.column_stack([numbers, offset]))
    order = np.lexsort((given, keys[:, 1], keys[:, 0]))  # weights of copies are added in one order
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    sums = np.add.reduceat(given[order], first)
    kept = order[first][:most]
    begun = None if offset is None else offset[kept]
    columns = np.arange(X.shape[1]) if columns is None else columns
    dense = _plain(dense_rows(X[kept][:, columns]))
    return DistinctRows(dense, numbers[kept], sums[:most], columns, X.shape[1], begun)


def made_rows(rows: DistinctRows, n_made: int) -> FloatArray:
    """New rows: each is one of the rows with some columns of another, both drawn by their weights."""
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
        # drawn for all columns, so that a made row does not depend on which of them a model splits on
        drawn_columns = draws.random((part.stop - first, rows.n_features))[:, rows.columns]
        np.copyto(made[part], other[part], where=drawn_columns < exchanged[part])
    return np.asarray(made)


def with_made_rows(rows: DistinctRows, most: int) -> tuple[FloatArray, FloatArray]:
    """Rows and made rows, and weights that sum to 1."""
    n_made = min(max(MADE_PER_ROW * len(rows), FEWEST_MADE), most)
    own = rows.weights / rows.weights.sum()
    if n_made <= 0:
        return rows.X, own
    weights = np.concatenate([(1.0 - WEIGHT_OF_MADE) * own, np.full(n_made, WEIGHT_OF_MADE / n_made)])
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
