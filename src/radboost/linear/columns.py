"""Training rows as columns: in an order that depends on their content alone, centred and scaled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._typing import FloatArray
from radboost.engine import (
    CompressedColumns,
    CompressedColumns32,
    DenseColumns,
    centre_columns,
    compress_columns,
    compress_columns32,
    gather_columns,
    hash_compressed,
    hash_dense_rows,
)

Places = npt.NDArray[np.int64]

BLOCK_CELLS = 2**20
# A column whose spread is below these shares of its size is constant: the rest is rounding.
CONSTANT_DENSE, CONSTANT_SPARSE = 1e-13, 1e-7


def canonical_rows(X: Any, labels: FloatArray, weights: FloatArray, n_threads: int = 1) -> tuple[Places, FloatArray]:
    """The places of the different rows in an order that does not depend on the given one, and their total weights.

    Sums of floating-point numbers depend on the order of the terms: rows are sorted by a hash of their content, and
    copies become one row, so that neither the order of the rows nor w copies in place of a weight w changes a bit.
    `labels` has a line for each output.
    """
    hashes = _hashes(X, n_threads) + hash_dense_rows(labels.T, X.shape[1], n_threads)
    order = np.argsort(hashes, kind="stable").astype(np.int64)
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not len(alike):
        return order, weights[order]
    # The weights of copies are added in an order of their own as well.
    order = np.lexsort((weights, hashes)).astype(np.int64)
    same = _row_comparison(X)
    leads = np.ones(len(order), dtype=bool)
    for place in alike.tolist():
        one, two = order[place], order[place + 1]
        leads[place + 1] = not (np.array_equal(labels[:, one], labels[:, two], equal_nan=True) and same(one, two))
    total: FloatArray = np.bincount(np.cumsum(leads) - 1, weights=weights[order]).astype(np.float64)
    return order[leads], total


def _row_comparison(X: Any) -> Callable[[int, int], bool]:
    """Whether two rows are the same; entries of sparse ones that are zero or out of order make a difference."""
    if not sparse.issparse(X):
        return lambda one, two: np.array_equal(X[one], X[two])
    rows = X.tocsr()
    starts, places, values = rows.indptr, rows.indices, rows.data

    def same(one: int, two: int) -> bool:
        first, second = slice(starts[one], starts[one + 1]), slice(starts[two], starts[two + 1])
        return np.array_equal(places[first], places[second]) and np.array_equal(values[first], values[second])

    return same


def _hashes(X: Any, n_threads: int) -> npt.NDArray[np.uint64]:
    """A number for each row that depends on its content alone."""
    if not sparse.issparse(X):
        return hash_dense_rows(X, 0, n_threads)
    by_column = X.format == "csc"
    X = X if by_column else X.tocsr()
    n_rows, n_columns = X.shape
    return hash_compressed(*_parts(X), by_column, n_rows, n_columns, n_threads)


def _parts(X: Any) -> tuple[Any, Any, Any]:
    """Starts, places and values of a compressed matrix in the types that the native core knows."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data


@dataclass(frozen=True)
class Columns:
    """A design matrix whose column j is (x_j - centre_j) * factor_j; sparse columns are not moved.

    Factors bring columns to a spread of 1, or with `scale=False` leave it as it is; those of constant columns are 0.
    """

    native: Any
    centres: FloatArray
    factors: FloatArray
    n_threads: int

    @classmethod
    def of(
        cls, X: Any, rows: Places, weights: FloatArray, *, intercept: bool, n_threads: int, scale: bool = True
    ) -> Columns:
        """The chosen rows of X; columns are brought to a spread of 1, and to a mean of 0 if there is an intercept."""
        if sparse.issparse(X):
            return cls._of_sparse(X, rows, weights, intercept, n_threads, scale)
        columns = np.empty((X.shape[1], len(rows)))
        gather_columns(X, rows, columns, n_threads)
        return cls.of_dense(columns, weights, intercept=intercept, n_threads=n_threads, scale=scale)

    @classmethod
    def of_dense(
        cls, columns: FloatArray, weights: FloatArray, *, intercept: bool, n_threads: int, scale: bool = True
    ) -> Columns:
        """A line of `columns` for each column; they are centred in place."""
        centres, squares = centre_columns(columns, weights, intercept, n_threads)
        spread = np.sqrt(squares)
        _check_squares(
            spread, lambda places: np.abs(columns[places]).max(axis=1) > CONSTANT_DENSE * np.abs(centres[places])
        )
        factors = _factors(spread, spread > CONSTANT_DENSE * np.abs(centres), scale)
        return cls(DenseColumns(columns, factors), centres, factors, n_threads)

    @classmethod
    def _of_sparse(
        cls, X: Any, rows: Places, weights: FloatArray, intercept: bool, n_threads: int, scale: bool
    ) -> Columns:
        n_columns = X.shape[1]
        kind: Any = CompressedColumns32 if X.dtype == np.float32 else CompressedColumns
        compress: Any = compress_columns32 if X.dtype == np.float32 else compress_columns
        starts, places, values = compress(*_parts(X.tocsr()), rows, n_columns, n_threads)
        factors = np.ones(n_columns)
        native = kind(starts, places, values, len(rows), factors)
        everything, line = np.arange(n_columns), np.ascontiguousarray(weights[None])
        squares = native.weighted_squares(everything, line, n_threads)
        means = native.correlate(everything, line, False, n_threads) if intercept else np.zeros(n_columns)
        _check_squares(np.sqrt(squares), lambda places: native.largest_entries(places) > 0.0)
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
        factors[:] = _factors(
            spread, spread > CONSTANT_SPARSE * np.sqrt(squares), scale
        )  # the native side looks at them
        return cls(native, np.zeros(n_columns), factors, n_threads)

    @property
    def n_rows(self) -> int:
        return int(self.native.n_rows)

    @property
    def n_columns(self) -> int:
        return int(self.native.n_columns)

    @cached_property
    def everything(self) -> Places:
        """The places of all columns."""
        return np.arange(self.n_columns)

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


def matrix_times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """A line of sums for each row of the matrix.

    Not by BLAS: OpenBLAS ends the process where it finds no memory for its buffers, instead of raising an error.
    """
    return np.asarray((matrix * vector).sum(axis=-1), dtype=np.float64)


def in_range(columns: FloatArray) -> npt.NDArray[np.bool_]:
    """Which lines can be scaled: all values are finite, and their squares neither too large nor too small to add up."""
    sizes = np.abs(columns).max(axis=1, initial=0.0)
    return np.asarray((sizes == 0.0) | ((sizes > 1e-150) & (sizes < 1e150)))


def check_known(unknown: npt.NDArray[np.bool_]) -> None:
    """Refuses rows in which columns are not known; scikit-learn does, unless told to assume that all values are."""
    if unknown.any():
        raise ValueError(
            f"X holds NaN or infinity, the first in column {int(np.argmax(unknown))}. Every value must be a finite "
            "number: impute what is missing, or leave these rows out."
        )


def _check_squares(sizes: FloatArray, have_values: Callable[[Places], npt.NDArray[np.bool_]]) -> None:
    """Refuses columns whose squares leave the range of double precision, above or below."""
    check_known(np.isnan(sizes))
    gone = ~np.isfinite(sizes)
    empty = np.flatnonzero(sizes == 0.0)
    if len(empty):
        gone[empty] = have_values(empty)
    if gone.any():
        raise ValueError(
            f"X holds columns whose squares leave the range of numbers, the first is column {int(np.argmax(gone))}: "
            "values must lie between 1e-150 and 1e150 in size. Rescale them."
        )


def _factors(spread: FloatArray, varies: npt.NDArray[np.bool_], scale: bool) -> FloatArray:
    """One over the spread, or one; a column that does not vary is left out by a factor of zero."""
    kept = varies & (spread > 0.0)
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=kept) if scale else kept.astype(np.float64)
