"""Numbers as a report shows them: finite, rounded, and with the interval that chance leaves around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from radboost._typing import FloatArray
from radboost.guarantees.holdout import exact_interval

DIGITS = 6  # significant ones of the numbers behind a picture
CONFIDENCE = 0.95
RESAMPLES = 1000
MOST_GROUPS = 1000
FEWEST_TO_RESAMPLE = 10
SHORTEN = 60  # characters of a name or a value

Interval = tuple[float, float]


def rounded(value: Any) -> float | None:
    """A number with few digits, so that pages are small and do not depend on the last bit; None where there is none."""
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        return None
    return float(f"{number:.{DIGITS}g}")


def plain(value: Any) -> float:
    """A number that is known to be finite."""
    found = rounded(value)
    if found is None:
        raise ValueError(f"{value!r} is no number that a report can show.")
    return found


def plain_all(values: Iterable[Any]) -> tuple[float, ...]:
    return tuple(plain(value) for value in values)


def percent(share: float, digits: int = 1) -> str:
    """A share in percent; one that is not 0 does not look like it."""
    shown = f"{100.0 * share:.{digits}f}%"
    if share > 0.0 and float(shown[:-1]) == 0.0:
        return f"under {10.0**-digits:.{digits}f}%"
    return shown


def count(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def shortened(text: str, most: int = SHORTEN) -> str:
    """A name or value that fits into a line."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def between(interval: Interval, show: Callable[[float], str]) -> str:
    return f"{show(interval[0])} to {show(interval[1])}"


Groups = npt.NDArray[np.intp]
"""The observation that each row belongs to, numbered from 0; None in its place where every row is one of its own."""


def gathered(sums: FloatArray, groups: Groups | None) -> FloatArray:
    """Column sums over the rows of each group: one line for each observation."""
    if groups is None:
        return sums
    return np.column_stack([np.bincount(groups, column) for column in sums.T])


def groups_among(groups: Groups | None, rows: npt.NDArray[Any]) -> Groups | None:
    """The groups of some of the rows, numbered anew."""
    return None if groups is None else np.unique(groups[rows], return_inverse=True)[1].reshape(-1)


def observations(values: FloatArray, groups: Groups | None) -> FloatArray:
    """A number for each group of rows: their mean is that of the rows, and they vary as the mean of the rows does."""
    if groups is None:
        return values
    mean = float(values.mean())
    sums = gathered(np.column_stack([values, np.ones(len(values))]), groups)
    return np.asarray(mean + (sums[:, 0] - mean * sums[:, 1]) * len(sums) / len(values))


def share_of(hits: npt.NDArray[Any], weights: FloatArray | None, groups: Groups | None = None) -> tuple[float, float]:
    """A share, and how many rows that count alike would say as much of it.

    The rows of a group are one observation, with their weight and their share of hits.
    """
    found = np.asarray(hits, dtype=np.float64)
    counted = np.ones(len(found)) if weights is None else weights
    if groups is not None:
        sums = gathered(np.column_stack([counted * found, counted]), groups)
        found, counted = sums[:, 0] / sums[:, 1], sums[:, 1]
    if not len(found):
        return math.nan, 0.0
    if np.isin(found, (0.0, 1.0)).all() and (counted == counted[0]).all():
        return float(found.mean()), len(found)
    share = float(np.clip(np.average(found, weights=counted), 0.0, 1.0))
    return share, _effective_rows(found, counted, share)


def share_interval(
    hits: npt.NDArray[Any], weights: FloatArray | None, groups: Groups | None = None
) -> tuple[float, Interval]:
    """A share with its interval: exact for rows that count alike (Clopper and Pearson), else approximately so."""
    share, n = share_of(hits, weights, groups)
    if n == 0.0:
        return share, (0.0, 1.0)
    if isinstance(n, int):
        return share, exact_interval(round(share * n), n, 1.0 - CONFIDENCE)
    side = 0.5 * (1.0 - CONFIDENCE)
    low = float(beta.ppf(side, share * n, n - share * n + 1.0)) if np.any(hits) else 0.0
    high = float(beta.isf(side, share * n + 1.0, n - share * n)) if not np.all(hits) else 1.0
    return share, (low, high)


def _effective_rows(hits: FloatArray, weights: FloatArray, share: float) -> float:
    """How many rows that count alike would say as much: in their place Clopper's and Pearson's limits are taken.

    As proposed by Korn and Graubard, 1998: p (1 - p) / v, where v = sum w^2 (h - p)^2 / (sum w)^2 is an estimate of the
    variance of the weighted share p. With few hits v is uncertain, and with none it is 0; so there are never more than
    (sum w)^2 / sum w^2 rows (Kish, 1965), to which the first comes down where hits do not depend on weights.
    """
    parts = weights / weights.sum()
    most = float(1.0 / np.sum(parts**2))
    variance = float(np.sum((parts * (hits - share)) ** 2))
    return min(most, share * (1.0 - share) / variance) if variance > 0.0 and 0.0 < share < 1.0 else most


def bootstrap(
    sums: FloatArray, statistic: Callable[[FloatArray], float], seed: int, groups: Groups | None = None
) -> Interval | None:
    """The percentile interval of a function of column sums over rows, by drawing rows anew; None of too few rows.

    The rows of a group are drawn together. Beyond 1,000 of them they are drawn by parts: sums of these vary alike, and
    the cost stays the same. `statistic`
    may return NaN for a draw that says nothing, such as one without any weight.
    """
    sums = gathered(sums, groups)
    if len(sums) < FEWEST_TO_RESAMPLE:
        return None
    rng = np.random.default_rng(seed)
    grouped = _parts(np.asarray(sums, dtype=np.float64), rng)
    n = len(grouped)
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) @ grouped
    found = np.array([statistic(line) for line in drawn])
    found = found[np.isfinite(found)]
    if not len(found):
        return None
    side = 0.5 * (1.0 - CONFIDENCE)
    low, high = np.quantile(found, [side, 1.0 - side])
    return float(low), float(high)


def mean_of_sums(line: FloatArray) -> float:
    """Of the sum of weighted values and that of the weights."""
    return float(line[0] / line[1]) if line[1] > 0.0 else math.nan


def _parts(sums: FloatArray, rng: np.random.Generator) -> FloatArray:
    if len(sums) <= MOST_GROUPS:
        return sums
    order = rng.permutation(len(sums))
    starts = np.linspace(0, len(sums), MOST_GROUPS, endpoint=False).astype(np.intp)
    return np.asarray(np.add.reduceat(sums[order], starts, axis=0))


def thinned(n: int, most: int) -> npt.NDArray[np.intp]:
    """Places of `most` of n points, evenly, with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
