"""Design matrix of the sparse models: centered and scaled columns of distinct rows, in an order by content."""

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

Indices = npt.NDArray[np.int64]

BLOCK_CELLS = 2**20  # values that are processed at a time
# A column is constant if its spread is below these fractions of its size: the rest is rounding.
CONSTANT_DENSE, CONSTANT_SPARSE = 1e-13, 1e-7


def canonical_rows(X: Any, labels: FloatArray, weights: FloatArray, n_threads: int = 1) -> tuple[Indices, FloatArray]:
    """Indices of the different rows, in an order that does not depend on the given one, and their total weights.

    Sums of floating-point numbers depend on the order of the terms. Rows are therefore sorted by a hash of their
    content, and copies become one row. Neither the order of the rows nor w copies instead of a weight w change a bit.
    `labels` has the shape (n_outputs, n_rows).
    """
    hashes = _hashes(X, n_threads) + hash_dense_rows(labels.T, X.shape[1], n_threads)
    order = np.argsort(hashes, kind="stable").astype(np.int64)
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not len(alike):
        return order, weights[order]
    # The weights of copies are sorted before they are added, too.
    order = np.lexsort((weights, hashes)).astype(np.int64)
    same = _row_comparison(X)
    leads = np.ones(len(order), dtype=bool)
    for index in alike.tolist():
        one, two = order[index], order[index + 1]
        leads[index + 1] = not (np.array_equal(labels[:, one], labels[:, two], equal_nan=True) and same(one, two))
    total: FloatArray = np.bincount(np.cumsum(leads) - 1, weights=weights[order]).astype(np.float64)
    return order[leads], total


def _row_comparison(X: Any) -> Callable[[int, int], bool]:
    """Function that compares two rows by index; stored zeros and another order of sparse entries count as different."""
    if not sparse.issparse(X):
        return lambda one, two: np.array_equal(X[one], X[two])
    rows = X.tocsr()
    starts, indices, values = rows.indptr, rows.indices, rows.data

    def same(one: int, two: int) -> bool:
        first, second = slice(starts[one], starts[one + 1]), slice(starts[two], starts[two + 1])
        return np.array_equal(indices[first], indices[second]) and np.array_equal(values[first], values[second])

    return same


def _hashes(X: Any, n_threads: int) -> npt.NDArray[np.uint64]:
    """Hash of each row, equal for equal rows; shape (n_rows,)."""
    if not sparse.issparse(X):
        return hash_dense_rows(X, 0, n_threads)
    by_column = X.format == "csc"
    X = X if by_column else X.tocsr()
    n_rows, n_columns = X.shape
    return hash_compressed(*_parts(X), by_column, n_rows, n_columns, n_threads)


def _parts(X: Any) -> tuple[Any, Any, Any]:
    """Starts, indices and values of a compressed matrix in the types of the native core."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data


@dataclass(frozen=True)
class DesignMatrix:
    """A design matrix whose column j is (x_j - centre_j) * factor_j; sparse columns are not centered.

    Factors bring columns to a spread of 1, or with `scale=False` leave it as it is; those of constant columns are 0.
    """

    native: Any
    centres: FloatArray
    factors: FloatArray
    n_threads: int

    @classmethod
    def of(
        cls, X: Any, rows: Indices, weights: FloatArray, *, intercept: bool, n_threads: int, scale: bool = True
    ) -> DesignMatrix:
        """The chosen rows of X; columns are brought to a spread of 1, and to a mean of 0 if there is an intercept."""
        if sparse.issparse(X):
            return cls._of_sparse(X, rows, weights, intercept, n_threads, scale)
        columns = np.empty((X.shape[1], len(rows)))
        gather_columns(X, rows, columns, n_threads)
        return cls.of_dense(columns, weights, intercept=intercept, n_threads=n_threads, scale=scale)

    @classmethod
    def of_dense(
        cls, columns: FloatArray, weights: FloatArray, *, intercept: bool, n_threads: int, scale: bool = True
    ) -> DesignMatrix:
        """The matrix of `columns`, shape (n_columns, n_rows), which are centered in place."""
        centres, squares = centre_columns(columns, weights, intercept, n_threads)
        spread = np.sqrt(squares)
        _check_squares(
            spread, lambda chosen: np.abs(columns[chosen]).max(axis=1) > CONSTANT_DENSE * np.abs(centres[chosen])
        )
        factors = _factors(spread, spread > CONSTANT_DENSE * np.abs(centres), scale)
        return cls(DenseColumns(columns, factors), centres, factors, n_threads)

    @classmethod
    def _of_sparse(
        cls, X: Any, rows: Indices, weights: FloatArray, intercept: bool, n_threads: int, scale: bool
    ) -> DesignMatrix:
        n_columns = X.shape[1]
        kind: Any = CompressedColumns32 if X.dtype == np.float32 else CompressedColumns
        compress: Any = compress_columns32 if X.dtype == np.float32 else compress_columns
        starts, indices, values = compress(*_parts(X.tocsr()), rows, n_columns, n_threads)
        factors = np.ones(n_columns)
        native = kind(starts, indices, values, len(rows), factors)
        everything, of_rows = np.arange(n_columns), np.ascontiguousarray(weights[None])
        squares = native.weighted_squares(everything, of_rows, n_threads)
        means = native.correlate(everything, of_rows, False, n_threads) if intercept else np.zeros(n_columns)
        _check_squares(np.sqrt(squares), lambda chosen: native.largest_entries(chosen) > 0.0)
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
        factors[:] = _factors(
            spread, spread > CONSTANT_SPARSE * np.sqrt(squares), scale
        )  # in place: the native matrix refers to this array
        return cls(native, np.zeros(n_columns), factors, n_threads)

    @property
    def n_rows(self) -> int:
        return int(self.native.n_rows)

    @property
    def n_columns(self) -> int:
        return int(self.native.n_columns)

    @cached_property
    def everything(self) -> Indices:
        """Indices of all columns."""
        return np.arange(self.n_columns)

    def correlate(self, columns: Indices, vectors: FloatArray, *, absolute: bool = False) -> FloatArray:
        """Products of columns and vectors over the rows, or of the columns' absolute values.

        `vectors` have the shape (n_vectors, n_rows), the result (n_columns, n_vectors).
        """
        flat = self.native.correlate(columns, vectors, absolute, self.n_threads)
        return np.asarray(flat).reshape(len(columns), len(vectors))

    def weighted_squares(self, columns: Indices, vectors: FloatArray) -> FloatArray:
        """Products of squared columns and vectors over the rows; shapes as in `correlate`."""
        flat = self.native.weighted_squares(columns, vectors, self.n_threads)
        return np.asarray(flat).reshape(len(columns), len(vectors))

    def row_sums(self, columns: Indices) -> FloatArray:
        """Sum of the absolute values of each row in these columns; shape (n_rows,)."""
        return np.asarray(self.native.row_totals(columns, False))

    def row_counts(self, columns: Indices) -> FloatArray:
        """Number of nonzero entries of each row in these columns; shape (n_rows,)."""
        return np.asarray(self.native.row_totals(columns, True))

    def largest(self, columns: Indices) -> FloatArray:
        """The largest absolute value of each column."""
        return np.asarray(self.native.largest_entries(columns))

    def scores(self, columns: Indices, weights: FloatArray) -> FloatArray:
        """Scores that the columns add with these weights; shape (n_outputs, n_rows)."""
        scores = np.zeros((weights.shape[1], self.n_rows))
        self.native.add_columns(columns, np.ascontiguousarray(weights), scores, self.n_threads)
        return scores


def matrix_times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Product of a matrix and a vector.

    Not by BLAS: OpenBLAS ends the process if it cannot allocate its buffers, instead of raising an error.
    """
    return np.asarray((matrix * vector).sum(axis=-1), dtype=np.float64)


def in_range(columns: FloatArray) -> npt.NDArray[np.bool_]:
    """Mask of the columns, given as rows, whose values are finite and whose squares stay in range when added up."""
    sizes = np.abs(columns).max(axis=1, initial=0.0)
    return np.asarray((sizes == 0.0) | ((sizes > 1e-150) & (sizes < 1e150)))


def check_known(unknown: npt.NDArray[np.bool_]) -> None:
    """Raise ValueError for missing values; scikit-learn does so, unless configured to assume finite values."""
    if unknown.any():
        raise ValueError(
            f"X holds NaN or infinity, the first in column {int(np.argmax(unknown))}. Every value must be a finite "
            "number: impute what is missing, or leave these rows out."
        )


def _check_squares(sizes: FloatArray, have_values: Callable[[Indices], npt.NDArray[np.bool_]]) -> None:
    """Raise ValueError for columns whose squares overflow or underflow."""
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
    """One over the spread, or one; factor 0 excludes a constant column."""
    kept = varies & (spread > 0.0)
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=kept) if scale else kept.astype(np.float64)
