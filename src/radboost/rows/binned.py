"""Matrix rows rebuilt from bins, with values that trees grown on these bins cannot distinguish from the originals."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatMatrix, RowOrder
from radboost.engine import BinnedData


class BinnedRows:
    """Matrix of binned rows: `rows[indices]` holds, for each value, a representative of its bin.

    Thresholds of trees grown on the bins are ends of bins, so that these rows reach the same leaves as the originals.
    Categories are integer codes, missing values NaN. Hypotheses other than trees must not be evaluated on them.
    """

    def __init__(self, data: BinnedData, order: RowOrder, dtype: npt.DTypeLike) -> None:
        self.data, self._order = data, order
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (data.n_rows, data.n_columns)

    def __getitem__(self, indices: npt.NDArray[Any]) -> FloatMatrix:
        """Dense rows for these row indices (or a mask), shape (n_chosen, n_columns)."""
        rows = self._rows[indices].astype(np.int64)
        codes = self.data.subset(rows).codes().reshape(len(rows), self.shape[1])
        rows_of_bins = np.empty(codes.shape, dtype=self.dtype)
        for column, values in enumerate(self._values):
            rows_of_bins[:, column] = values[codes[:, column]]
        return rows_of_bins

    @cached_property
    def _rows(self) -> RowOrder:
        """Engine row index of each row of the matrix (the inverse of `order`), shape (n_rows,)."""
        rows = np.empty_like(self._order)
        rows[self._order] = np.arange(len(self._order), dtype=self._order.dtype)
        return rows

    @cached_property
    def _values(self) -> list[npt.NDArray[Any]]:
        """Representative values of each column, indexed by bin code; the last one, NaN, is for missing values."""
        categorical, n_bins = self.data.is_categorical(), self.data.n_bins().tolist()
        values = [
            np.arange(n_bins[column], dtype=self.dtype)
            if categorical[column]
            else values_of_bins(self.data.thresholds(column), self.dtype)[: n_bins[column]]
            for column in range(self.shape[1])
        ]
        return [np.append(one, one.dtype.type(np.nan)) for one in values]


def values_of_bins(thresholds: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Representative of each bin, shape (n_thresholds + 1,): x is in the first bin whose threshold t has x <= t.

    A bin is represented by the largest number of `dtype` that is not above its threshold. Rounding down stays in the
    bin, because the rows themselves are of this type. The last bin is represented by the next number after that.
    """
    rounded = thresholds.astype(dtype)
    with np.errstate(over="ignore"):  # from entries that `where` discards
        lower = np.nextafter(rounded, rounded.dtype.type(-np.inf))
    below = np.where(rounded.astype(np.float64) > thresholds, lower, rounded)
    last = np.nextafter(below[-1:], below.dtype.type(np.inf)) if len(below) else np.zeros(1, dtype=dtype)
    return np.concatenate([below, last])
