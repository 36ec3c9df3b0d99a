"""Rows of which nothing is kept but their bins, with values that the trees of these bins cannot tell from their own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatMatrix, RowOrder
from radboost.engine import BinnedData


class BinnedRows:
    """Stands for a matrix of rows that are binned: `rows[places]` has a value out of the bin of each value.

    Every tree that is grown on the bins has its thresholds at their ends, so that it sends these rows where it sends
    the rows themselves. Categories are their places, and missing values NaN. Other hypotheses must not see them.
    """

    def __init__(self, data: BinnedData, order: RowOrder, dtype: npt.DTypeLike) -> None:
        self.data, self._order = data, order
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (data.n_rows, data.n_columns)

    def __getitem__(self, places: npt.NDArray[Any]) -> FloatMatrix:
        """Some rows, by their places in the matrix."""
        rows = self._rows[places].astype(np.int64)
        codes = self.data.subset(rows).codes().reshape(len(rows), self.shape[1])
        found = np.empty(codes.shape, dtype=self.dtype)
        for column, values in enumerate(self._values):
            found[:, column] = values[codes[:, column]]
        return found

    @cached_property
    def _rows(self) -> RowOrder:
        """The engine's row of each row of the matrix."""
        rows = np.empty_like(self._order)
        rows[self._order] = np.arange(len(self._order), dtype=self._order.dtype)
        return rows

    @cached_property
    def _values(self) -> list[npt.NDArray[Any]]:
        """Of each column, a value for every code."""
        categorical, n_bins = self.data.is_categorical(), self.data.n_bins().tolist()
        values = [
            np.arange(n_bins[column], dtype=self.dtype)
            if categorical[column]
            else values_of_bins(self.data.thresholds(column), self.dtype)[: n_bins[column]]
            for column in range(self.shape[1])
        ]
        return [np.append(one, one.dtype.type(np.nan)) for one in values]


def values_of_bins(thresholds: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A value of each bin: x is in the first bin whose threshold t has x <= t, and in the last one beyond all of them.

    The threshold itself is the largest number of its bin; in 32 bits the largest number that is not above it, which is
    not below the values of the rows between which it lies. After the last threshold comes the next number above it.
    """
    rounded = thresholds.astype(dtype)
    with np.errstate(over="ignore"):  # of those that are not taken
        lower = np.nextafter(rounded, rounded.dtype.type(-np.inf))
    below = np.where(rounded.astype(np.float64) > thresholds, lower, rounded)
    last = np.nextafter(below[-1:], below.dtype.type(np.inf)) if len(below) else np.zeros(1, dtype=dtype)
    return np.concatenate([below, last])
