"""What columns hold, one by one, and how much each of them tells of the target by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2_contingency, ks_2samp

from radboost._tables import column_values
from radboost._typing import FloatArray
from radboost.guarantees.holdout import exact_interval
from radboost.report.contents import Places, folds
from radboost.report.figures import shortened
from radboost.report.subject import UNKNOWN, Part, Subject
from radboost.rows.categories import MOST_CATEGORIES
from radboost.rows.read import is_missing

MOST_COLUMNS, MOST_ROWS, MOST_TESTED_ROWS = 1000, 20_000, 10_000
N_BINS, ROWS_OF_BIN = 128, 10  # most intervals of a number, and how many rows each should have
FEWEST_ROWS = 40  # to suspect anything by
DECIDES = 0.9  # of what a constant answer leaves unexplained
MISSINGNESS_DECIDES = 0.5
PURE, MIXED = 0.9, 0.7  # shares of a class among rows with a missing value, and among all
FEWEST_MISSING = 20
UNLIKELY = 1e-5  # p-value of a difference between parts, small enough for a thousand columns
ID_NAME = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|index|row|rownum|nr|number)$", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnProfile:
    """Of one column: `place` in the table, and what was found there on some of the rows."""

    place: int
    name: str
    kind: str
    missing: float  # share of the held-out rows
    missing_in_training: float | None
    unseen: float  # share of the held-out rows with a category that the model does not know
    limited: bool  # whether there are more categories than a model tells apart
    distinct: int
    summary: str
    constant: bool
    id_like: bool
    alone: float | None  # what it explains by itself, between 0 (a constant does as well) and 1
    missingness: bool  # whether a value is missing nearly decides the target
    drift: float | None  # how far the parts differ: the largest gap of their distributions; None where chance may do it


def profiles(subject: Subject) -> list[ColumnProfile]:
    """Of the most important columns, in the order of the table."""
    parts = [subject.test] if subject.train is None else [subject.test, subject.train]
    places = [part.sample(MOST_ROWS) for part in parts]
    judged = parts[-1]  # training rows, where there are some: they are more
    tested = judged.sample(MOST_TESTED_ROWS)
    halves = folds(judged.hashes[tested], 2)
    target = _Target.of(subject, judged, tested)
    found = []
    for column in sorted(subject.by_gain()[:MOST_COLUMNS]):
        values = [part.column(column)[rows] for part, rows in zip(parts, places, strict=True)]
        raw = None
        if column in subject.categories:
            raw = [column_values(part.take(rows), column) for part, rows in zip(parts, places, strict=True)]
        tests = judged.column(column)[tested]
        gaps = np.isnan(tests)
        if raw is not None:
            gaps = _gaps(column_values(judged.take(tested), column))
        found.append(_profile(subject, column, values, raw, target, tests, gaps, halves))
    return found


def _profile(
    subject: Subject,
    column: int,
    values: list[FloatArray],
    raw: list[npt.NDArray[Any]] | None,
    target: _Target,
    tested: FloatArray,
    tested_gaps: npt.NDArray[np.bool_],
    halves: npt.NDArray[np.int64],
) -> ColumnProfile:
    gaps = [np.isnan(one) for one in values]
    unseen = 0.0
    if raw is not None:
        gaps = [_gaps(one) for one in raw]
        unseen = float(np.mean(np.isnan(values[0]) & ~gaps[0]))
        known: Any = [value for one, gap in zip(raw, gaps, strict=True) for value in one[~gap].tolist()]
        distinct = len({str(value) for value in known})
    else:
        known = np.concatenate(values)
        known = known[~np.isnan(known)]
        distinct = len(np.unique(known))
    missing = [float(gap.mean()) for gap in gaps]
    enough = len(tested) >= FEWEST_ROWS
    return ColumnProfile(
        place=column,
        name=subject.names[column],
        kind="categories" if raw is not None else subject.kind(column),
        missing=missing[0],
        missing_in_training=missing[1] if len(missing) > 1 else None,
        unseen=unseen,
        limited=raw is not None and distinct > MOST_CATEGORIES,
        distinct=distinct,
        summary=_summary(known, partial(subject.value_text, column), is_text=raw is not None),
        constant=distinct <= 1 and not 0.0 < max(missing) < 1.0,
        id_like=len(known) >= FEWEST_ROWS and _is_id(subject.names[column], known, distinct, is_text=raw is not None),
        alone=target.alone(tested, _binned(tested, subject, column), halves, raw is None) if enough else None,
        missingness=enough and target.decided_by_gaps(tested_gaps, halves),
        drift=_drift(values, is_text=raw is not None) if len(values) > 1 else None,
    )


def _gaps(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.array([is_missing(value) for value in values.tolist()], dtype=bool)


def _drift(values: list[FloatArray], *, is_text: bool) -> float | None:
    """The distance between two samples of a column, where chance alone is no explanation even among many columns.

    Of numbers that of Kolmogorov and Smirnov, of categories half the sum of the differences of their shares.
    """
    first, second = (one[~np.isnan(one)] for one in values)
    if min(len(first), len(second)) < FEWEST_ROWS:
        return None
    if not is_text:
        found = ks_2samp(first, second, method="asymp")
        return float(found.statistic) if found.pvalue < UNLIKELY else None
    levels = np.unique(np.concatenate([first, second]))
    if len(levels) < 2:
        return None
    counts = np.array([np.bincount(np.searchsorted(levels, one), minlength=len(levels)) for one in (first, second)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = float(0.5 * np.abs(shares[0] - shares[1]).sum())
    return distance if chi2_contingency(counts).pvalue < UNLIKELY else None


def _summary(known: Any, show: Callable[[float], str], *, is_text: bool) -> str:
    if not len(known):
        return "no value"
    if is_text:
        values, counts = np.unique([str(value) for value in known], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:3]
        shown = ", ".join(f"{shortened(str(values[one]), 24)} ({100 * counts[one] / len(known):.0f}%)" for one in order)
        return shown if len(values) <= 3 else f"{shown}, …"
    low, middle, high = np.quantile(known, [0.0, 0.5, 1.0])
    return f"{show(float(low))} … {show(float(middle))} … {show(float(high))}"


def _is_id(name: str, known: Any, distinct: int, *, is_text: bool) -> bool:
    """A value of its own for nearly every row: text, or whole numbers in a row or called so."""
    if distinct < 0.95 * len(known):
        return False
    if is_text:
        return True
    numbers = np.asarray(known, dtype=np.float64)
    if (numbers != np.rint(numbers)).any():
        return False
    return bool(numbers.max() - numbers.min() < 3.0 * len(numbers)) or ID_NAME.search(name) is not None


def _binned(values: FloatArray, subject: Subject, column: int) -> npt.NDArray[np.int64]:
    """Categories as they are, numbers in intervals of about equally many rows; missing values on their own."""
    gap = np.isnan(values)
    if column in subject.categories:
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
class _Target:
    """The target of the rows that columns are tried on."""

    ids: npt.NDArray[np.int64]  # of classes; empty for numbers
    columns: FloatArray  # the numbers, or an indicator of each class

    @staticmethod
    def of(subject: Subject, part: Part, places: Places) -> _Target:
        if not subject.classifies:
            return _Target(np.zeros(0, dtype=np.int64), np.asarray(part.y[places], dtype=np.float64)[:, None])
        ids = np.where(part.class_ids[places] == UNKNOWN, len(subject.classes), part.class_ids[places])
        there = np.unique(ids)
        return _Target(ids, (ids[:, None] == there[None, :]).astype(np.float64))

    def alone(
        self, values: FloatArray, bins: npt.NDArray[np.int64], halves: npt.NDArray[np.int64], is_number: bool
    ) -> float | None:
        """What a column explains: by its categories or intervals, or a number by one threshold, if that is more."""
        found = self.explained(bins, halves)
        if found is None or not is_number:
            return found
        numbers, answers = np.where(np.isnan(values), -np.inf, values), np.zeros_like(self.columns)
        for half in (0, 1):
            own, others = halves == half, halves != half
            threshold = _best_threshold(numbers[others], self.columns[others])
            sides = (numbers > threshold).astype(np.int64)
            answers[own] = _means(sides[others], self.columns[others], sides[own])
        return max(found, self._saved(answers) or 0.0)

    def explained(self, bins: npt.NDArray[np.int64], halves: npt.NDArray[np.int64]) -> float | None:
        """What the means of bins save. Each half of the rows is answered by the other: names of rows tell nothing."""
        answers = np.zeros_like(self.columns)
        for half in (0, 1):
            own, others = halves == half, halves != half
            if not others.any():
                return None
            answers[own] = _means(bins[others], self.columns[others], bins[own])
        return self._saved(answers)

    def _saved(self, answers: FloatArray) -> float | None:
        """The share of the squared error of a constant answer that these save; of classes that of their indicators."""
        spread = float(((self.columns - self.columns.mean(axis=0)) ** 2).sum())
        return max(0.0, 1.0 - float(((self.columns - answers) ** 2).sum()) / spread) if spread > 0.0 else None

    def decided_by_gaps(self, gaps: npt.NDArray[np.bool_], halves: npt.NDArray[np.int64]) -> bool:
        """Whether rows without a value have one class, or targets of another size."""
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
    """The mean of y in the bins that are asked for; of an empty one that of all."""
    n_bins = int(max(bins.max(), asked.max(initial=0))) + 1
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.column_stack([np.bincount(bins, column, n_bins) for column in y.T])
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], y.mean(axis=0))
    return np.asarray(means[asked])


def _best_threshold(numbers: FloatArray, y: FloatArray) -> float:
    """Where one cut leaves the least squared error: the largest sum over sides of |sum of y|^2 / rows."""
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
