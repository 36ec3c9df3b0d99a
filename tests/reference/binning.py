"""Binning, one value at a time: frequent values apart, weighted quantiles, thresholds at midpoints, NaN as missing."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
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


def runs_between(apart: Sequence[int], n: int) -> list[range]:
    """The non-empty ranges of 0 ... n - 1 that ascending indices leave between them."""
    ends = [-1, *apart, n]
    return [range(a + 1, b) for a, b in itertools.pairwise(ends) if a + 1 < b]


def values_apart(weights: Sequence[Fraction], bins: int) -> list[int]:
    """Indices of the values that have a bin of their own.

    The h heaviest, h being the largest for which the others, in runs between them, need no more than the bins that are
    left when a bin may weigh as much as the lightest of the h. Larger weights come first, then smaller values.
    """
    by_weight = sorted(range(len(weights)), key=lambda i: (-weights[i], i))
    below = [Fraction(0), *itertools.accumulate(weights)]
    apart: list[int] = []
    for h in range(1, bins):
        tried, least = sorted(by_weight[:h]), weights[by_weight[h - 1]]
        runs = runs_between(tried, len(weights))
        needed = (math.ceil((below[run.stop] - below[run.start]) / least) for run in runs)
        if h + sum(needed) > bins:
            break  # nor with a larger h
        apart = tried
    return apart


def divide(weights: Sequence[Fraction], bins: int) -> list[int]:
    """Number of values in each bin: as many bins as asked for, or as there are values, each of neighbours."""
    n, total = len(weights), sum(weights, Fraction(0))
    if n <= bins:
        return [1] * n
    apart = values_apart(weights, bins)
    if apart:
        runs = runs_between(apart, n)
        totals = [sum((weights[i] for i in run), Fraction(0)) for run in runs]
        counts = [1] * len(runs)

        def weight_of_a_bin(j: int) -> tuple[Fraction, int]:  # of equal ones the first
            return totals[j] / counts[j], -j

        for _ in range(bins - len(apart) - len(runs)):
            counts[max((j for j in range(len(runs)) if counts[j] < len(runs[j])), key=weight_of_a_bin)] += 1
        parts = [(i, [1]) for i in apart]
        parts += [(run[0], divide([weights[i] for i in run], k)) for run, k in zip(runs, counts, strict=True)]
        return [size for _, sizes in sorted(parts) for size in sizes]
    ends, reached = [0], list(itertools.accumulate(weights))
    for k in range(1, bins):  # at the value that reaches k / bins of the weight, where bins and values allow it
        end = 1 + bisect_left(reached, total * k / bins)
        ends.append(min(max(end, ends[-1] + 1), n - (bins - k)))
    return [b - a for a, b in itertools.pairwise([*ends, n])]


def cut_values(pairs: Sequence[tuple[float, Fraction]], max_bins: int) -> list[float]:
    """The values at which a bin ends, from sorted (value, weight)."""
    sizes = divide([weight for _, weight in pairs], max_bins)
    return [pairs[end - 1][0] for end in itertools.accumulate(sizes)]


def least_weight(weights: Sequence[int], bins: int) -> int:
    """Weight of the heaviest bin of several values where the values are divided so that it is smallest."""

    def n_needed(most: int) -> int:
        count, room = 0, -1
        for weight in weights:
            room -= weight
            if room < 0:
                count, room = count + 1, most - weight
        return count

    return bisect_left(range(sum(weights) + 1), True, key=lambda most: n_needed(most) <= bins)


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
