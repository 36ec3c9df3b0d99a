"""Profiles of columns: their values, and what each explains of the target by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2_contingency, ks_2samp

from radboost._tables import column_values
from radboost._typing import FloatArray
from radboost.report.html import shortened
from radboost.report.leaks import FEWEST_ROWS, Suspicion, TargetValues, is_id
from radboost.report.subject import UNKNOWN, LabeledRows, Subject
from radboost.rows.categories import MOST_CATEGORIES
from radboost.rows.contents import Places, folds
from radboost.rows.read import is_missing

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
    limited: bool  # whether there are more categories than a model tells apart
    distinct: int
    summary: str
    constant: bool
    suspicion: Suspicion
    drift: float | None  # how far the parts differ: the largest gap of their distributions; None where chance may do it


def profiles(subject: Subject) -> list[ColumnProfile]:
    """Profiles of the most important columns, in the order of the table."""
    parts = [subject.test] if subject.train is None else [subject.test, subject.train]
    samples = [part.sample(MOST_ROWS) for part in parts]
    largest = parts[-1]  # training rows, where there are some: they are more
    tested = largest.sample(MOST_TESTED_ROWS)
    halves = folds(largest.hashes[tested], 2)
    target = _target(subject, largest, tested)
    made = []
    for column in sorted(subject.by_gain()[:MOST_COLUMNS]):
        values = [part.column(column)[rows] for part, rows in zip(parts, samples, strict=True)]
        raw = None
        if column in subject.categories:
            raw = [column_values(part.take(rows), column) for part, rows in zip(parts, samples, strict=True)]
        tests = largest.column(column)[tested]
        gaps = np.isnan(tests)
        if raw is not None:
            gaps = _gaps(column_values(largest.take(tested), column))
        made.append(_profile(subject, column, values, raw, target, tests, gaps, halves))
    return made


def _target(subject: Subject, part: LabeledRows, rows: Places) -> TargetValues:
    if not subject.classifies:
        return TargetValues.of_numbers(part.y[rows])
    return TargetValues.of_classes(
        np.where(part.class_ids[rows] == UNKNOWN, len(subject.classes), part.class_ids[rows])
    )


def _profile(
    subject: Subject,
    column: int,
    values: list[FloatArray],
    raw: list[npt.NDArray[Any]] | None,
    target: TargetValues,
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
    is_text = raw is not None
    alone, threshold = target.alone(tested, halves, is_text=is_text)
    return ColumnProfile(
        index=column,
        name=subject.names[column],
        kind="categories" if raw is not None else subject.kind(column),
        missing=missing[0],
        missing_in_training=missing[1] if len(missing) > 1 else None,
        unseen=unseen,
        limited=raw is not None and distinct > MOST_CATEGORIES,
        distinct=distinct,
        summary=_summary(known, partial(subject.value_text, column), is_text=is_text),
        constant=distinct <= 1 and not 0.0 < max(missing) < 1.0,
        suspicion=Suspicion(
            subject.names[column],
            alone,
            threshold,
            len(tested) >= FEWEST_ROWS and target.decided_by_gaps(tested_gaps, halves),
            is_id(subject.names[column], known, distinct, is_text=is_text),
        ),
        drift=_drift(values, is_text=is_text) if len(values) > 1 else None,
    )


def _gaps(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
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
