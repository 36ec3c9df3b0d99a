"""The rows that a model is pruned with, in an order that depends on their content alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.rows.read import dense_rows, row_blocks

# The part of the different rows that is held back: it judges, and nothing is fitted to it.
HELD_BACK = 0.25
# A made row takes each of its columns from a second row with a chance of up to twice this, drawn for each row.
SHARE_OF_COLUMNS = 0.25
# Made rows for each row, and at least so many; what all of them weigh together, where all rows and they weigh 1.
MADE_PER_ROW, FEWEST_MADE, WEIGHT_OF_MADE = 2, 3_000, 0.8
SEED = 47


@dataclass(frozen=True)
class DistinctRows:
    """Different rows with their targets (places of classes, or numbers), and the sum of the weights of their copies.

    Several targets have a column for each, and so have the offsets, where scores begin at some. Rows are sorted by a
    hash of their content: the order and the number of copies that were given do not matter.
    """

    X: FloatArray
    targets: FloatArray
    weights: FloatArray
    offset: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.X)

    def select(self, part: slice) -> DistinctRows:
        offset = None if self.offset is None else self.offset[part]
        return DistinctRows(self.X[part], self.targets[part], self.weights[part], offset)

    def hold_back(self) -> tuple[DistinctRows, DistinctRows]:
        """Rows to prune with, and rows that are held back: by the hash, so that copies of a row stay together."""
        n_held_back = min(max(1, round(HELD_BACK * len(self))), len(self) - 1)
        return self.select(slice(0, len(self) - n_held_back)), self.select(slice(len(self) - n_held_back, None))


def distinct_rows(
    X: Any, targets: npt.NDArray[Any], weights: FloatArray | None, most: int, offset: FloatArray | None = None
) -> DistinctRows:
    """The different rows; of more than `most` those with the smallest hashes."""
    numbers = np.asarray(targets, dtype=np.float64)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    keys = _hashes(X, numbers if offset is None else np.column_stack([numbers, offset]))
    order = np.lexsort((given, keys[:, 1], keys[:, 0]))  # weights of copies are added in one order
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    sums = np.add.reduceat(given[order], first)
    places = order[first][:most]
    begun = None if offset is None else offset[places]
    return DistinctRows(_plain(dense_rows(X[places])), numbers[places], sums[:most], begun)


def made_rows(rows: DistinctRows, n_made: int) -> FloatArray:
    """New rows: each is one of the rows with some of its columns taken from another, both drawn by their weights."""
    draws = np.random.default_rng(SEED)
    cumulative = np.cumsum(rows.weights)

    def drawn() -> npt.NDArray[np.intp]:
        places = np.searchsorted(cumulative, draws.random(n_made) * cumulative[-1], "right")
        return np.asarray(np.minimum(places, len(rows) - 1), dtype=np.intp)

    made, other = rows.X[drawn()], rows.X[drawn()]
    shares = 2.0 * SHARE_OF_COLUMNS * draws.random((n_made, 1))
    return np.asarray(np.where(draws.random(made.shape) < shares, other, made))


def with_made_rows(rows: DistinctRows, most: int) -> tuple[FloatArray, FloatArray]:
    """Rows and made rows, and weights that sum to 1."""
    n_made = min(max(MADE_PER_ROW * len(rows), FEWEST_MADE), most)
    own = rows.weights / rows.weights.sum()
    if n_made <= 0:
        return rows.X, own
    weights = np.concatenate([(1.0 - WEIGHT_OF_MADE) * own, np.full(n_made, WEIGHT_OF_MADE / n_made)])
    return np.concatenate([rows.X, made_rows(rows, n_made)]), weights


def _plain(X: npt.NDArray[Any]) -> FloatArray:
    """One spelling for zero and one for missing values."""
    rows = np.array(X, dtype=np.float64, order="C") + 0.0
    rows[np.isnan(rows)] = np.nan
    return rows


def _hashes(X: Any, targets: FloatArray) -> npt.NDArray[np.uint64]:
    """128 bits for each row and what is learned of it."""
    digests, place = bytearray(), 0
    for block in row_blocks(X, n_outputs=2):
        rows = _plain(dense_rows(block))
        for row, target in zip(rows, targets[place : place + len(rows)] + 0.0, strict=True):
            digests += hashlib.blake2b(row.tobytes() + target.tobytes(), digest_size=16).digest()
        place += len(rows)
    return np.frombuffer(bytes(digests), dtype="<u8").reshape(-1, 2)
