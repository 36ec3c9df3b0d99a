"""Columns that give the target away, and columns that only name the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import poisson

from radboost._numbers import listed, number_text
from radboost._typing import FloatArray
from radboost.guarantees.holdout import exact_interval
from radboost.report.html import shortened

N_BINS, ROWS_OF_BIN = 128, 10  # most intervals of a number, and how many rows each should have
FEWEST_ROWS = 40  # to suspect anything by
DECIDES = 0.9  # of what a constant answer leaves unexplained
MISSINGNESS_DECIDES = 0.5
PURE, MIXED = 0.9, 0.7  # shares of a class among rows with a missing value, and among all
FEWEST_MISSING = 20
LEVEL = 1e-3
NAMED = 5
ID_NAME = re.compile(
    r"(^|[^A-Za-z])(?i:id|ids|uuid|guid|key|index|row|rownum|nr|number)$|[a-z](ID|Id|Key|Index|Nr|No|Number)$|^[A-Z]{1,4}ID$"
)


@dataclass(frozen=True)
class Finding:
    """Note or warning about the data; a serious one is a reason to doubt every score."""

    text: str
    weight: Literal["note", "warning", "serious"] = "warning"
    short: str = ""  # text of a serious one in the verdict


@dataclass(frozen=True)
class Suspicion:
    """Signs that a column leaks the target, or only names the rows."""

    name: str
    alone: float | None  # fraction that it explains by itself: 0 no more than a constant, 1 everything
    threshold: float | None  # decides the target, where one does
    missingness: bool  # whether missing values nearly decide the target
    id_like: bool

    @property
    def by_gaps(self) -> bool:
        """True if the threshold separates missing values, which are taken for -inf, from others."""
        return self.threshold == -np.inf


def findings(columns: Sequence[Suspicion]) -> list[Finding]:
    """Warnings of columns, possible leakage first."""
    made = []
    decisive = [one for one in columns if (one.alone or 0.0) >= DECIDES and not (one.missingness and one.by_gaps)]
    decisive.sort(key=lambda one: -(one.alone or 0.0))
    if decisive:
        verb = "decides" if len(decisive) == 1 else "decide, each of them,"
        what = f"{listed([_question(one) for one in decisive], NAMED, str)} alone nearly {verb} the target"
        question = "Is it known before the target is, when the model will be used?"
        made.append(Finding(f"Possible leakage: {what}. {question}", "serious", what))
    gaps = [one for one in columns if one.missingness]
    if gaps:
        what = f"whether {quoted([one.name for one in gaps])} is missing nearly decides the target"
        why = "Values that are filled in afterwards look like this."
        made.append(Finding(f"Possible leakage: {what}. {why}", "serious", what))
    ids = [one for one in columns if one.id_like]
    if ids:
        has, rest = ("has", "it") if len(ids) == 1 else ("have", "them")
        what = f"{quoted([one.name for one in ids])} {has} a value of its own in nearly every row"
        made.append(Finding(f"{what}, as names and numbers of rows do: leave {rest} out."))
    return made


def _question(one: Suspicion) -> str:
    name = repr(shortened(one.name))
    if one.threshold is None:
        return name
    return f"{name} (whether it is {'missing' if one.by_gaps else f'above {number_text(one.threshold)}'})"


def quoted(names: Sequence[str]) -> str:
    """First of some names, in quotes."""
    return listed([shortened(name) for name in names], NAMED)


def is_id(name: str, known: Any, distinct: int, *, is_text: bool) -> bool:
    """True if nearly every row has a value of its own: text, or whole numbers that chance would have repeated.

    Of n numbers drawn from a range of R, n^2 / 2R pairs or more are equal on average.
    """
    n = len(known)
    if n < FEWEST_ROWS or distinct < 0.95 * n:
        return False
    if is_text:
        return True
    numbers = np.asarray(known, dtype=np.float64)
    if (numbers != np.rint(numbers)).any():
        return False
    pairs = n * n / (2.0 * (float(np.ptp(numbers)) + 1.0))
    return bool(poisson.cdf(n - distinct, pairs) < LEVEL) or ID_NAME.search(name) is not None


def binned(values: FloatArray, *, is_text: bool) -> npt.NDArray[np.int64]:
    """Bins of a column: categories, or intervals of about equally many rows; missing values have bin 0."""
    gap = np.isnan(values)
    if is_text:
        return np.where(gap, 0, np.nan_to_num(values) + 1).astype(np.int64)
    known = values[~gap]
    if not len(known):
        return np.zeros(len(values), dtype=np.int64)
    levels = np.unique(known)
    n_bins = max(2, min(N_BINS, len(known) // ROWS_OF_BIN))
    if len(levels) > n_bins:
        levels = np.unique(np.quantile(known, np.linspace(0.0, 1.0, n_bins + 1)[1:]))
    return np.where(gap, 0, 1 + np.searchsorted(levels, np.nan_to_num(values))).astype(np.int64)


@dataclass(frozen=True)
class TargetValues:
    """Target of the rows that columns are tried on."""

    ids: npt.NDArray[np.int64]  # class ids; empty for regression
    columns: FloatArray  # targets, or an indicator of each class, shape (n_rows, n_columns)

    @staticmethod
    def of_classes(ids: npt.NDArray[np.int64]) -> TargetValues:
        there = np.unique(ids)
        return TargetValues(ids, (ids[:, None] == there[None, :]).astype(np.float64))

    @staticmethod
    def of_numbers(y: npt.NDArray[Any]) -> TargetValues:
        return TargetValues(np.zeros(0, dtype=np.int64), np.asarray(y, dtype=np.float64)[:, None])

    def alone(
        self, values: FloatArray, halves: npt.NDArray[np.int64], *, is_text: bool
    ) -> tuple[float | None, float | None]:
        """Fraction that a column explains by its categories or intervals, or by one threshold if that is as much.

        With the threshold where it decides the target. Both are None for too few rows.
        """
        if len(values) < FEWEST_ROWS:
            return None, None
        by_bins = self.explained(binned(values, is_text=is_text), halves)
        if by_bins is None or is_text:
            return by_bins, None
        numbers, predicted = np.where(np.isnan(values), -np.inf, values), np.zeros_like(self.columns)
        for half in (0, 1):
            own, others = halves == half, halves != half
            sides = (numbers > _best_threshold(numbers[others], self.columns[others])).astype(np.int64)
            predicted[own] = _means(sides[others], self.columns[others], sides[own])
        by_one = self._saved(predicted) or 0.0
        decides = by_one >= max(DECIDES, by_bins) and len(np.unique(numbers)) > 2
        return max(by_bins, by_one), _best_threshold(numbers, self.columns) if decides else None

    def explained(self, bins: npt.NDArray[np.int64], halves: npt.NDArray[np.int64]) -> float | None:
        """Fraction that means of bins explain, with each half of the rows predicted by the other."""
        predicted = np.zeros_like(self.columns)
        for half in (0, 1):
            own, others = halves == half, halves != half
            if not others.any():
                return None
            predicted[own] = _means(bins[others], self.columns[others], bins[own])
        return self._saved(predicted)

    def _saved(self, predicted: FloatArray) -> float | None:
        """Fraction of the squared error of a constant that predictions save; of classes that of their indicators."""
        spread = float(((self.columns - self.columns.mean(axis=0)) ** 2).sum())
        return max(0.0, 1.0 - float(((self.columns - predicted) ** 2).sum()) / spread) if spread > 0.0 else None

    def decided_by_gaps(self, gaps: npt.NDArray[np.bool_], halves: npt.NDArray[np.int64]) -> bool:
        """True if rows without a value have one class, or targets of another size."""
        n_gaps = int(gaps.sum())
        if n_gaps < FEWEST_MISSING or n_gaps > len(gaps) - FEWEST_MISSING:
            return False
        explained = self.explained(gaps.astype(np.int64), halves)
        if explained is not None and explained >= MISSINGNESS_DECIDES:
            return True
        if not len(self.ids):
            return False
        counts = np.bincount(self.ids[gaps])
        most = int(counts.argmax())
        low, _ = exact_interval(int(counts[most]), n_gaps)
        return bool(low > PURE and np.mean(self.ids == most) < MIXED)


def _means(bins: npt.NDArray[np.int64], y: FloatArray, asked: npt.NDArray[np.int64]) -> FloatArray:
    """Mean of y in the bins that are asked for; in an empty one the mean of all."""
    n_bins = int(max(bins.max(), asked.max(initial=0))) + 1
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.column_stack([np.bincount(bins, column, n_bins) for column in y.T])
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], y.mean(axis=0))
    return np.asarray(means[asked])


def _best_threshold(numbers: FloatArray, y: FloatArray) -> float:
    """Threshold of the least squared error: the largest sum over sides of |sum of y|^2 / rows."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    cuts = np.flatnonzero(ordered[1:] > ordered[:-1])
    if not len(cuts):
        return float(ordered[-1])
    left = np.cumsum(y[order], axis=0)[cuts]
    right = y.sum(axis=0) - left
    n_left = cuts + 1.0
    gains = (left**2).sum(axis=1) / n_left + (right**2).sum(axis=1) / (len(y) - n_left)
    return float(ordered[cuts[int(gains.argmax())]])
