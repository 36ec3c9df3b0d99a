"""Numbers of a report: finite, rounded, and with the interval that chance leaves around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from radboost._typing import FloatArray
from radboost.guarantees.holdout import exact_interval

DIGITS = 6  # significant digits of the numbers in blocks
CONFIDENCE = 0.95
RESAMPLES = 1000
MOST_GROUPS = 1000
FEWEST_TO_RESAMPLE = 10

Interval = tuple[float, float]


def rounded(value: Any) -> float | None:
    """Number with few digits, so that pages are small and do not depend on the last bit; None if it is not finite."""
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        return None
    return float(f"{number:.{DIGITS}g}")


def plain(value: Any) -> float:
    """Rounded number that must be finite."""
    number = rounded(value)
    if number is None:
        raise ValueError(f"{value!r} is no number that a report can show.")
    return number


def plain_all(values: Iterable[Any]) -> tuple[float, ...]:
    return tuple(plain(value) for value in values)


def percent(fraction: float, digits: int = 1) -> str:
    """Fraction in percent; one that is not 0 does not look like it."""
    shown = f"{100.0 * fraction:.{digits}f}%"
    if fraction > 0.0 and float(shown[:-1]) == 0.0:
        return f"under {10.0**-digits:.{digits}f}%"
    return shown


def count(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def between(interval: Interval, show: Callable[[float], str]) -> str:
    return f"{show(interval[0])} to {show(interval[1])}"


Groups = npt.NDArray[np.intp]
"""Observation that each row belongs to, numbered from 0. Functions take None where every row is its own."""


def gathered(sums: FloatArray, groups: Groups | None) -> FloatArray:
    """Column sums over the rows of each group, shape (n_groups, n_columns)."""
    if groups is None:
        return sums
    return np.column_stack([np.bincount(groups, column) for column in sums.T])


def groups_among(groups: Groups | None, rows: npt.NDArray[Any]) -> Groups | None:
    """Groups of some of the rows, numbered anew."""
    return None if groups is None else np.unique(groups[rows], return_inverse=True)[1].reshape(-1)


def observations(values: FloatArray, groups: Groups | None) -> FloatArray:
    """Number for each group of rows, with the mean of the rows and the variance of that mean."""
    if groups is None:
        return values
    mean = float(values.mean())
    sums = gathered(np.column_stack([values, np.ones(len(values))]), groups)
    return np.asarray(mean + (sums[:, 0] - mean * sums[:, 1]) * len(sums) / len(values))


def fraction_of(
    hits: npt.NDArray[Any], weights: FloatArray | None, groups: Groups | None = None
) -> tuple[float, float]:
    """Fraction of hits, and the number of rows of equal weight that would say as much of it.

    The rows of a group are one observation, with their weight and their fraction of hits.
    """
    rates = np.asarray(hits, dtype=np.float64)
    counted = np.ones(len(rates)) if weights is None else weights
    if groups is not None:
        sums = gathered(np.column_stack([counted * rates, counted]), groups)
        rates, counted = sums[:, 0] / sums[:, 1], sums[:, 1]
    if not len(rates):
        return math.nan, 0.0
    if np.isin(rates, (0.0, 1.0)).all() and (counted == counted[0]).all():
        return float(rates.mean()), len(rates)
    fraction = float(np.clip(np.average(rates, weights=counted), 0.0, 1.0))
    return fraction, _effective_rows(rates, counted, fraction)


def fraction_interval(
    hits: npt.NDArray[Any], weights: FloatArray | None, groups: Groups | None = None
) -> tuple[float, Interval]:
    """Fraction with its 95% interval: exact for rows of equal weight (Clopper and Pearson), else approximate."""
    fraction, n = fraction_of(hits, weights, groups)
    if n == 0.0:
        return fraction, (0.0, 1.0)
    if isinstance(n, int):
        return fraction, exact_interval(round(fraction * n), n, 1.0 - CONFIDENCE)
    side = 0.5 * (1.0 - CONFIDENCE)
    low = float(beta.ppf(side, fraction * n, n - fraction * n + 1.0)) if np.any(hits) else 0.0
    high = float(beta.isf(side, fraction * n + 1.0, n - fraction * n)) if not np.all(hits) else 1.0
    return fraction, (low, high)


def _effective_rows(hits: FloatArray, weights: FloatArray, fraction: float) -> float:
    """Number of rows of equal weight that would say as much: for these Clopper's and Pearson's limits are taken."""
    # Korn and Graubard, 1998: p (1 - p) / v. Here v = sum w^2 (h - p)^2 / (sum w)^2 estimates the variance of the
    # weighted fraction p. With few hits v is uncertain, and with none it is 0. So there are never more than
    # (sum w)^2 / sum w^2 rows (Kish, 1965), which is the same where hits do not depend on weights.
    parts = weights / weights.sum()
    most = float(1.0 / np.sum(parts**2))
    variance = float(np.sum((parts * (hits - fraction)) ** 2))
    return min(most, fraction * (1.0 - fraction) / variance) if variance > 0.0 and 0.0 < fraction < 1.0 else most


Statistic = Callable[[FloatArray], FloatArray]
"""Function of column sums, shape (..., n_columns); NaN for sums that say nothing, such as those without any weight."""


def bootstrap(sums: FloatArray, statistic: Statistic, seed: int, groups: Groups | None = None) -> Interval | None:
    """Percentile interval of a function of column sums over rows, by resampling; None for too few rows.

    The rows of a group are drawn together. Beyond 1,000 of them they are drawn by parts: sums of these vary alike, and
    the cost stays the same.
    """
    sums = gathered(sums, groups)
    if len(sums) < FEWEST_TO_RESAMPLE:
        return None
    rng = np.random.default_rng(seed)
    grouped = _parts(np.asarray(sums, dtype=np.float64), rng)
    n = len(grouped)
    values = statistic(rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) @ grouped)
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    side = 0.5 * (1.0 - CONFIDENCE)
    low, high = np.quantile(values, [side, 1.0 - side])
    return float(low), float(high)


def quotient(over: FloatArray, under: FloatArray) -> FloatArray:
    """Quotient of arrays of one shape; NaN where the divisor is not positive."""
    return np.asarray(np.divide(over, under, out=np.full(np.shape(over), np.nan), where=np.asarray(under > 0.0)))


def mean_of_sums(totals: FloatArray) -> FloatArray:
    """Mean from the sum of weighted values and that of the weights."""
    return quotient(totals[..., 0], totals[..., 1])


def _parts(sums: FloatArray, rng: np.random.Generator) -> FloatArray:
    if len(sums) <= MOST_GROUPS:
        return sums
    order = rng.permutation(len(sums))
    starts = np.linspace(0, len(sums), MOST_GROUPS, endpoint=False).astype(np.intp)
    return np.asarray(np.add.reduceat(sums[order], starts, axis=0))


def thinned(n: int, most: int) -> npt.NDArray[np.intp]:
    """Indices of `most` of n points, evenly, with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def means_along(x: FloatArray, y: FloatArray, n_parts: int) -> tuple[FloatArray, FloatArray]:
    """Means of x and y over values of x, or over about `n_parts` parts of the rows where there are many values."""
    levels = np.unique(x)
    if len(levels) > n_parts:
        # By rows, and by values: where most rows have the same one, quantiles of rows alone would hide the others.
        inner = np.linspace(0.0, 1.0, n_parts // 2 + 1)[1:-1]
        levels = np.unique(np.concatenate([np.quantile(x, inner), np.quantile(levels, inner)]))
    parts = np.searchsorted(levels, x)
    counts = np.bincount(parts)
    there = counts > 0
    return (np.bincount(parts, x)[there] / counts[there], np.bincount(parts, y)[there] / counts[there])
