"""Profiles of columns: their values, and what each explains of the target by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2_contingency, ks_2samp

from radboost._tables import column_values, is_missing
from radboost._typing import FloatArray
from radboost.report.html import shortened
from radboost.report.leaks import FEWEST_ROWS, Suspicion, TargetValues, is_id
from radboost.report.subject import UNKNOWN, Subject, SubjectRows
from radboost.rows.categories import MOST_CATEGORIES
from radboost.rows.hashing import RowIndices, folds

MOST_COLUMNS, MOST_ROWS, MOST_TESTED_ROWS = 1000, 20_000, 10_000
UNLIKELY = 1e-5  # p-value of a difference between parts, small enough for a thousand columns


@dataclass(frozen=True)
class ColumnProfile:
    """Profile of one column on some of the rows; `index` is that of the column."""

    index: int
    name: str
    kind: str
    missing: float  # fraction of the held-out rows
    missing_in_training: float | None
    unseen: float  # fraction of the held-out rows with a category that the model does not know
    distinct: int
    summary: str
    suspicion: Suspicion
    drift: float | None  # largest gap of the distributions of the parts; None where chance may explain it

    @property
    def limited(self) -> bool:
        """True for more categories than a model distinguishes."""
        return self.kind == "categories" and self.distinct > MOST_CATEGORIES

    @property
    def constant(self) -> bool:
        missing = (self.missing, self.missing if self.missing_in_training is None else self.missing_in_training)
        return self.distinct <= 1 and not 0.0 < max(missing) < 1.0


def profiles(subject: Subject) -> list[ColumnProfile]:
    """Profiles of the most important columns, in the order of the table."""
    parts = [subject.test] if subject.train is None else [subject.test, subject.train]
    samples = [part.sample(MOST_ROWS) for part in parts]
    largest = parts[-1]  # training rows, where there are some: they are more
    tested = largest.sample(MOST_TESTED_ROWS)
    halves = folds(largest.hashes[tested], 2)
    if subject.classifies:
        ids = largest.class_ids[tested]
        target = TargetValues.of_classes(np.where(ids == UNKNOWN, len(subject.classes), ids))
    else:
        target = TargetValues.of_numbers(largest.y[tested])
    made = []
    for column in sorted(subject.by_gain()[:MOST_COLUMNS]):
        name, is_text = subject.names[column], column in subject.categories
        values = [part.column(column)[rows] for part, rows in zip(parts, samples, strict=True)]
        raw = [_cells(part, rows, column, is_text=is_text) for part, rows in zip(parts, samples, strict=True)]
        gaps = [_gaps(one) for one in raw]
        known: Any = np.concatenate([one[~gap] for one, gap in zip(raw, gaps, strict=True)])
        distinct = len({str(value) for value in known.tolist()}) if is_text else len(np.unique(known))
        tests = largest.column(column)[tested]
        alone, threshold = target.alone(tests, halves, is_text=is_text)
        by_gaps = len(tested) >= FEWEST_ROWS and target.decided_by_gaps(
            _gaps(_cells(largest, tested, column, is_text=is_text)), halves
        )
        made.append(
            ColumnProfile(
                index=column,
                name=name,
                kind=subject.kind(column),
                missing=float(gaps[0].mean()),
                missing_in_training=float(gaps[1].mean()) if len(gaps) > 1 else None,
                unseen=float(np.mean(np.isnan(values[0]) & ~gaps[0])),
                distinct=distinct,
                summary=_summary(known, partial(subject.value_text, column), is_text=is_text),
                suspicion=Suspicion(name, alone, threshold, by_gaps, is_id(name, known, distinct, is_text=is_text)),
                drift=_drift(values, is_text=is_text) if len(values) > 1 else None,
            )
        )
    return made


def _cells(part: SubjectRows, rows: RowIndices, column: int, *, is_text: bool) -> npt.NDArray[Any]:
    """Categories as they were given, or numbers."""
    return np.asarray(column_values(part.take(rows), column)) if is_text else part.column(column)[rows]


def _gaps(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype == np.float64:
        return np.asarray(np.isnan(values))
    return np.array([is_missing(value) for value in values.tolist()], dtype=bool)


def _drift(values: list[FloatArray], *, is_text: bool) -> float | None:
    """Distance between two samples of a column: of Kolmogorov and Smirnov, or the total variation of categories."""
    first, second = (one[~np.isnan(one)] for one in values)
    if min(len(first), len(second)) < FEWEST_ROWS:
        return None
    if not is_text:
        test = ks_2samp(first, second, method="asymp")
        return float(test.statistic) if test.pvalue < UNLIKELY else None
    levels = np.unique(np.concatenate([first, second]))
    if len(levels) < 2:
        return None
    counts = np.array([np.bincount(np.searchsorted(levels, one), minlength=len(levels)) for one in (first, second)])
    fractions = counts / counts.sum(axis=1, keepdims=True)
    distance = float(0.5 * np.abs(fractions[0] - fractions[1]).sum())
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
