"""Training rows as columns: in an order that depends on their content alone, centred and scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._native import CompressedColumns, CompressedColumns32, DenseColumns
from radboost._typing import FloatArray

Places = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

BLOCK_CELLS = 2**20
# A column whose spread is below these shares of its size is constant: the rest is rounding.
CONSTANT_DENSE, CONSTANT_SPARSE = 1e-13, 1e-7


def canonical_rows(X: Any, labels: FloatArray, weights: FloatArray) -> tuple[Places, FloatArray]:
    """The places of the different rows in an order that does not depend on the given one, and their total weights.

    Sums of floating-point numbers depend on the order of the terms: rows are sorted by a hash of their content, and
    copies become one row, so that neither the order of the rows nor w copies in place of a weight w changes a bit.
    `labels` has a line for each output.
    """
    hashes = _hashes(X) + _hashes(labels.T, first=X.shape[1])
    order = np.argsort(hashes, kind="stable").astype(np.int64)
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not len(alike):
        return order, weights[order]
    rows = sparse.csr_array(X) if sparse.issparse(X) else X
    leads = np.ones(len(order), dtype=bool)
    for place in alike.tolist():
        one, two = order[place], order[place + 1]
        same_labels = np.array_equal(labels[:, one], labels[:, two], equal_nan=True)
        leads[place + 1] = not (same_labels and _same_row(rows, one, two))
    group = np.cumsum(leads) - 1
    return order[leads], np.bincount(group, weights=weights[order])


def _same_row(X: Any, one: int, two: int) -> bool:
    first, second = (X[[place]].toarray() if sparse.issparse(X) else X[place] for place in (one, two))
    return bool(np.array_equal(first, second))


def _hashes(X: Any, first: int = 0) -> Bits:
    """A number for each row: the bits of its cells times odd constants; zeros count nothing, dense or sparse."""
    n_rows, n_columns = X.shape
    numbers = np.arange(first + 1, first + n_columns + 1, dtype=np.uint64)
    odd = _mixed(numbers) | np.uint64(1)
    if sparse.issparse(X):
        rows = X.tocsr()
        terms = _mixed(_bits(rows.data)) * odd[rows.indices]
        total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return np.asarray(total[rows.indptr[1:]] - total[rows.indptr[:-1]])
    hashes = np.empty(n_rows, dtype=np.uint64)
    height = max(1, BLOCK_CELLS // max(1, n_columns))
    for begin in range(0, n_rows, height):
        hashes[begin : begin + height] = (_mixed(_bits(X[begin : begin + height])) * odd).sum(axis=1, dtype=np.uint64)
    return hashes


def _bits(values: npt.NDArray[Any]) -> Bits:
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0


def _mixed(bits: Bits) -> Bits:
    """Spreads the bits of a number over all 64; zero stays zero."""
    mixed = bits ^ (bits >> np.uint64(32))
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return mixed


@dataclass(frozen=True)
class Columns:
    """A design matrix whose column j is (x_j - centre_j) * factor_j; sparse columns are not moved."""

    native: Any
    centres: FloatArray
    factors: FloatArray
    n_threads: int

    @classmethod
    def of(cls, X: Any, rows: Places, weights: FloatArray, *, intercept: bool, n_threads: int) -> Columns:
        """The chosen rows of X; columns are brought to a spread of 1, and to a mean of 0 if there is an intercept."""
        if sparse.issparse(X):
            return cls._of_sparse(X, rows, weights, intercept, n_threads)
        columns = np.empty((X.shape[1], len(rows)))
        height = max(1, BLOCK_CELLS // max(1, X.shape[1]))
        for begin in range(0, len(rows), height):
            columns[:, begin : begin + height] = X[rows[begin : begin + height]].T
        return cls.of_dense(columns, weights, intercept=intercept, n_threads=n_threads)

    @classmethod
    def of_dense(cls, columns: FloatArray, weights: FloatArray, *, intercept: bool, n_threads: int) -> Columns:
        """A line of `columns` for each column; they are centred in place."""
        n_columns = len(columns)
        centres = columns @ weights if intercept else np.zeros(n_columns)
        if intercept:
            columns -= centres[:, None]
        line = np.ascontiguousarray(weights[None])
        native = DenseColumns(columns, np.ones(n_columns))
        squares = native.weighted_squares(np.arange(n_columns), line, n_threads)
        spread = np.sqrt(squares)
        factors = _inverse(spread, spread > CONSTANT_DENSE * np.abs(centres))
        return cls(DenseColumns(columns, factors), centres, factors, n_threads)

    @classmethod
    def _of_sparse(cls, X: Any, rows: Places, weights: FloatArray, intercept: bool, n_threads: int) -> Columns:
        n_columns = X.shape[1]
        chosen = _as_columns(X, rows)
        starts = chosen.indptr.astype(np.int64)
        kind = CompressedColumns32 if chosen.data.dtype == np.float32 else CompressedColumns
        parts = (starts, chosen.indices.astype(np.int32, copy=False), chosen.data, len(rows))
        native = kind(*parts, np.ones(n_columns))
        everything, line = np.arange(n_columns), np.ascontiguousarray(weights[None])
        squares = native.weighted_squares(everything, line, n_threads)
        means = native.correlate(everything, line, False, n_threads) if intercept else np.zeros(n_columns)
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
        factors = _inverse(spread, spread > CONSTANT_SPARSE * np.sqrt(squares))
        return cls(kind(*parts, factors), np.zeros(n_columns), factors, n_threads)

    @property
    def n_rows(self) -> int:
        return int(self.native.n_rows)

    @property
    def n_columns(self) -> int:
        return int(self.native.n_columns)

    def correlate(self, columns: Places, lines: FloatArray, *, absolute: bool = False) -> FloatArray:
        """For each column and each line the sum of their products, or of those of the absolute values."""
        flat = self.native.correlate(columns, lines, absolute, self.n_threads)
        return np.asarray(flat).reshape(len(columns), len(lines))

    def weighted_squares(self, columns: Places, lines: FloatArray) -> FloatArray:
        """For each column and each line the sum of x^2 times the line."""
        flat = self.native.weighted_squares(columns, lines, self.n_threads)
        return np.asarray(flat).reshape(len(columns), len(lines))

    def row_sums(self, columns: Places) -> FloatArray:
        """For each row the sum of the absolute values of its entries in these columns."""
        return np.asarray(self.native.row_totals(columns, False))

    def row_counts(self, columns: Places) -> FloatArray:
        """For each row the number of its entries in these columns that are not zero."""
        return np.asarray(self.native.row_totals(columns, True))

    def largest(self, columns: Places) -> FloatArray:
        """The largest absolute value of each column."""
        return np.asarray(self.native.largest_entries(columns))

    def scores(self, columns: Places, weights: FloatArray) -> FloatArray:
        """What the columns add to the scores of each output."""
        scores = np.zeros((weights.shape[1], self.n_rows))
        self.native.add_columns(columns, np.ascontiguousarray(weights), scores, self.n_threads)
        return scores


def _as_columns(X: Any, rows: Places) -> Any:
    """The chosen rows of a sparse matrix, compressed by columns, with one copy of it in memory."""
    if len(rows) < X.shape[0]:
        return sparse.csc_array(sparse.csr_array(X)[rows])
    columns = sparse.csc_array(X, copy=True)
    ranks = np.empty(len(rows), dtype=columns.indices.dtype)
    ranks[rows] = np.arange(len(rows))
    columns.indices = ranks[columns.indices]
    columns.has_sorted_indices = False
    columns.sum_duplicates()
    return columns


def _inverse(spread: FloatArray, varies: npt.NDArray[np.bool_]) -> FloatArray:
    """One over the spread; a column that does not vary is left out by a factor of zero."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=varies & (spread > 0.0))
