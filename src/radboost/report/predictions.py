"""Confusion of classes, and the thresholds of two classes that cost least."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.report.blocks import Block, Cell, CellTable, LineChart, Section, Series, Text
from radboost.report.figures import (
    between,
    fraction_interval,
    groups_among,
    percent,
    plain,
    plain_all,
    quotient,
    rounded,
)
from radboost.report.html import shortened
from radboost.report.subject import UNKNOWN, Subject

MOST_THRESHOLDS, MOST_CLASSES = 200, 30
COST_RATIOS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # cost of a missed positive in false alarms


def predictions(subject: Subject) -> Section | None:
    """Confusion, precision and recall; with two classes what each threshold does."""
    if not subject.classifies:
        return None
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if not len(known):
        return None
    counts = confusion_counts(subject, known)
    blocks: list[Block] = [_confusion(subject, counts), _by_class(subject, counts)]
    if len(subject.classes) == 2 and subject.probabilities is not None:
        stated, truth = subject.probabilities[known, 1], subject.test.class_ids[known] == 1
        blocks += _thresholds(subject, stated, truth, subject.test.weight()[known])
    return Section("predictions", "Predictions", _lead(subject, counts), tuple(blocks))


def confusion_counts(subject: Subject, known: npt.NDArray[np.intp]) -> FloatArray:
    """Rows, or their weight, of each true class (rows) with each predicted class (columns)."""
    n, predicted = len(subject.classes), subject.predicted_ids[known]
    totals = np.bincount(subject.test.class_ids[known] * n + predicted, subject.test.weight()[known], n * n)
    return np.asarray(totals.reshape(n, n), dtype=np.float64)


def _lead(subject: Subject, counts: FloatArray) -> str:
    off = counts - np.diag(np.diag(counts))
    if not off.any():
        return "All held-out rows are predicted correctly."
    true, given = np.unravel_index(int(off.argmax()), off.shape)
    names = shortened(subject.class_names[true]), shortened(subject.class_names[given])
    part = percent(off[true, given] / off.sum(), 0)
    return f"The most frequent mistake, {part} of all: {names[0]} taken for {names[1]}."


def _confusion(subject: Subject, counts: FloatArray) -> Block:
    n = len(subject.classes)
    if n > MOST_CLASSES:
        many = f"{n} classes are too many to show which is taken for which; the table below has the worst."
        return Text((many,), "note")
    names = tuple(shortened(name) for name in subject.class_names)
    return CellTable(
        ("true class", *(f"predicted {name}" for name in names)),
        tuple((name, *(_cell(value) for value in row)) for name, row in zip(names, counts, strict=True)),
        f"{'Weight of the held-out' if subject.test.weights is not None else 'Held-out'} rows.",
    )


def _cell(value: float) -> float | int:
    return int(value) if value == int(value) else plain(value)


def _by_class(subject: Subject, counts: FloatArray) -> CellTable:
    """Precision and recall of each class, the lowest recall first."""
    test = subject.test
    rows: list[tuple[float, tuple[Cell, ...]]] = []
    for index, name in enumerate(subject.class_names):
        hits, there, predicted = counts[index, index], counts[index].sum(), counts[:, index].sum()
        recall, precision = hits / there if there else None, hits / predicted if predicted else None
        f1 = 2.0 * hits / (there + predicted) if there + predicted else None
        own = test.class_ids == index
        interval = None
        if there:
            weights = None if test.weights is None else test.weights[own]
            limits = fraction_interval(subject.predicted_ids[own] == index, weights, groups_among(test.groups, own))[1]
            interval = between(limits, percent)
        values = (rounded(precision), rounded(recall), interval, rounded(f1))
        rows.append((2.0 if recall is None else recall, (shortened(name), _cell(there), _cell(predicted), *values)))
    rows.sort(key=lambda pair: pair[0])
    caption = (
        "Precision: the fraction of the rows with this prediction that are right. Recall: the fraction of the rows of "
        "this class that are predicted so."
    )
    if len(rows) > MOST_CLASSES:
        caption += f" The {MOST_CLASSES} classes with the lowest recall."
    columns = ("class", "rows", "predicted", "precision", "recall", "95% interval of recall", "F1")
    return CellTable(columns, tuple(row for _, row in rows[:MOST_CLASSES]), caption)


def _thresholds(
    subject: Subject, stated: FloatArray, truth: npt.NDArray[np.bool_], weights: FloatArray
) -> tuple[LineChart, CellTable]:
    """Rates at each threshold, and the threshold of least mean cost for some ratios of costs."""
    thresholds = threshold_grid(stated)
    order = np.argsort(stated, kind="stable")
    below = np.searchsorted(stated[order], thresholds, side="right")  # the positive class is predicted above
    missed = np.concatenate([[0.0], np.cumsum((weights * truth)[order])])
    passed = np.concatenate([[0.0], np.cumsum((weights * ~truth)[order])])
    positive, total = missed[-1], missed[-1] + passed[-1]
    missed, alarms = missed[below], passed[-1] - passed[below]
    hits = positive - missed
    rates = {
        "recall": quotient(hits, np.full(len(hits), positive)),
        "precision": quotient(hits, hits + alarms),
        "error": (missed + alarms) / total,
    }
    name = shortened(subject.class_names[1])
    chart = LineChart(
        "Recall, precision and error by threshold",
        f"threshold of the probability of {name}",
        "fraction of rows",
        tuple(
            Series(rate, plain_all(thresholds), tuple(rounded(value) for value in values))
            for rate, values in rates.items()
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for ratio in COST_RATIOS:
        best = cheapest(ratio * missed + alarms)
        cost = (ratio * missed[best] + alarms[best]) / total
        shown = (rounded(values[best]) for values in rates.values())
        rows.append((f"{ratio:g} : 1", plain(thresholds[best]), rounded(cost), *shown))
    return chart, CellTable(
        ("cost of a missed row : of a false alarm", "best threshold", "mean cost", *rates),
        tuple(rows),
        f"A row is predicted as {name} where its probability is above the threshold. A threshold that is chosen here "
        "should be evaluated on other rows.",
    )


def threshold_grid(stated: FloatArray) -> FloatArray:
    """Return at most 200 rising thresholds: hundredths and quantiles of the rows, as they are shown."""
    steps = np.linspace(0.0, 1.0, 101)
    rows = np.quantile(stated, np.linspace(0.0, 1.0, MOST_THRESHOLDS - len(steps)))
    return np.unique([float(f"{one:.4f}") for one in np.concatenate([steps, rows])])


def cheapest(costs: FloatArray) -> int:
    """Return the index of the least cost; of several the one in the middle."""
    best = np.flatnonzero(costs <= costs.min() + 1e-12 * max(1.0, float(costs.max())))
    return int(best[(len(best) - 1) // 2])
