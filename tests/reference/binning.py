"""Binning, one value at a time: weighted quantiles, thresholds at midpoints, NaN as missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

MISSING = -1  # the code of a missing value in this package; the library may number its missing bin as it likes


@dataclass(frozen=True)
class Column:
    """How one column is cut: bin b holds the values above thresholds[b-1] and up to thresholds[b]."""

    thresholds: tuple[float, ...]
    n_bins: int  # bins of present values; 0 when the whole column is missing
    has_missing: bool

    def code(self, value: float) -> int:
        """The first bin whose threshold is not below the value; the last bin has no threshold."""
        if math.isnan(value):
            return MISSING
        for b, threshold in enumerate(self.thresholds):
            if value <= threshold:
                return b
        return max(self.n_bins - 1, 0)


def midpoint(a: float, b: float) -> float:
    """A number t with a <= t < b, halfway where float64 has such a number."""
    t = a / 2 + b / 2
    return t if t < b else a


def cut_values(pairs: Sequence[tuple[float, Fraction]], max_bins: int) -> list[float]:
    """The values at which a bin ends, from sorted (value, weight): the inverse of the cumulative weight."""
    if len(pairs) <= max_bins:
        return [value for value, _ in pairs]
    total = sum((weight for _, weight in pairs), Fraction(0))
    cuts: list[float] = []
    for k in range(1, max_bins):
        reached = Fraction(0)
        for value, weight in pairs:
            reached += weight
            if reached >= Fraction(k, max_bins) * total:
                if value not in cuts:
                    cuts.append(value)
                break
    if cuts[-1] != pairs[-1][0]:
        cuts.append(pairs[-1][0])
    return cuts


def bin_column(values: Sequence[float], weights: Sequence[float] | None = None, max_bins: int = 255) -> Column:
    """Cut one column. Weights mean repetition and must be positive."""
    weights = [1.0] * len(values) if weights is None else weights
    summed: dict[float, Fraction] = {}
    missing = False
    for raw, weight in zip(values, weights, strict=True):
        value = float(raw) + 0.0  # -0.0 + 0.0 is 0.0
        if math.isnan(value):
            missing = True
        else:
            summed[value] = summed.get(value, Fraction(0)) + Fraction(float(weight))
    pairs = sorted(summed.items())
    if not pairs:
        return Column((), 0, missing)
    distinct = [value for value, _ in pairs]
    ends = cut_values(pairs, max_bins)
    thresholds = tuple(midpoint(end, distinct[distinct.index(end) + 1]) for end in ends[:-1])
    return Column(thresholds, len(ends), missing)


def bin_matrix(
    X: np.ndarray, weights: Sequence[float] | None = None, max_bins: int = 255
) -> tuple[list[Column], np.ndarray]:
    """All columns, and the codes of every cell (MISSING where NaN)."""
    X = np.asarray(X, dtype=np.float64)
    columns = [bin_column([float(v) for v in X[:, j]], weights, max_bins) for j in range(X.shape[1])]
    codes = np.array([[columns[j].code(float(v)) for j, v in enumerate(row)] for row in X], dtype=np.int64).reshape(
        X.shape
    )
    return columns, codes
