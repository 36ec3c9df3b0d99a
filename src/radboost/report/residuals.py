"""Residuals of a regressor, its errors by the size of the target, and the coverage of a quantile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import Block, CellTable, LineChart, Mark, Section, Series, SideBySide, Text
from radboost.report.figures import (
    Groups,
    fraction_interval,
    groups_among,
    means_along,
    observations,
    percent,
    plain_all,
    rounded,
)
from radboost.report.subject import Subject

MOST_POINTS, N_BINS, N_PARTS, SHOWN = 600, 30, 10, 8


def residuals(subject: Subject) -> Section | None:
    """Residuals against predictions, their distribution, and errors by the size of the target."""
    if subject.classifies:
        return None
    y, predicted = np.asarray(subject.test.y, dtype=np.float64), np.asarray(subject.predicted, dtype=np.float64)
    off = y - predicted
    spread = distribution("Residuals", "target - prediction", {"held-out": off}, zero=True)
    blocks: list[Block] = [
        SideBySide((_against(subject, predicted, off), spread)),
        _by_target(y, off, subject.test.groups),
        _largest(subject, y, predicted),
    ]
    if subject.quantile is not None:
        blocks.append(_coverage(subject, subject.quantile, y, predicted))
    half, most = np.quantile(np.abs(off), [0.5, 0.9])
    lead = (
        f"Half of the predictions are off by less than {number_text(float(half))}, nine of ten by less than "
        f"{number_text(float(most))}; {_bias(off, subject.test.groups)}"
    )
    return Section("residuals", "Residuals", lead, tuple(blocks))


def distribution(title: str, label: str, samples: Mapping[str, Any], *, zero: bool = False) -> LineChart:
    """Histogram of each sample as fractions of its rows; what lies far out is counted at the ends."""
    every = np.concatenate([np.asarray(values, dtype=np.float64) for values in samples.values()])
    low, high = np.quantile(every, [0.002, 0.998])
    if high <= low:
        low, high = float(low) - 0.5, float(high) + 0.5
    edges = np.linspace(low, high, N_BINS + 1)
    series = []
    for name, values in samples.items():
        heights = np.histogram(np.clip(values, low, high), edges)[0] / max(1, len(values))
        series.append(Series(name, plain_all(edges), plain_all([*heights, heights[-1]]), style="steps"))
    outside = float(np.mean((every < low) | (every > high)))
    return LineChart(
        title,
        label,
        "fraction of the rows",
        tuple(series),
        (Mark(0, "0"),) if zero and low < 0.0 < high else (),
        caption=f"The {percent(outside)} farthest out are counted at the ends." if outside else "",
    )


def _bias(off: FloatArray, groups: Groups | None) -> str:
    values = observations(off, groups)
    mean, error = float(off.mean()), float(values.std() / np.sqrt(len(values)))
    if len(off) < 2 or abs(mean) <= 2.0 * error:
        return "they are not clearly too high or too low on average."
    return f"on average predictions are too {'low' if mean > 0 else 'high'} by {number_text(abs(mean))}."


def _against(subject: Subject, predicted: FloatArray, off: FloatArray) -> LineChart:
    rows = subject.test.sample(MOST_POINTS)
    order = rows[np.argsort(predicted[rows], kind="stable")]
    x, y = means_along(predicted, off, min(2 * N_PARTS, max(1, len(off) // 10)))
    drawn = f" {len(rows):,} of {len(off):,} rows are drawn." if len(rows) < len(off) else ""
    return LineChart(
        "Residuals against predictions",
        "prediction",
        "target - prediction",
        (
            Series("rows", plain_all(predicted[order]), plain_all(off[order]), style="points"),
            Series("mean", plain_all(x), plain_all(y)),
        ),
        caption=f"The mean should lie near 0 everywhere, and the rows should be as wide at every prediction.{drawn}",
    )


def _by_target(y: FloatArray, off: FloatArray, groups: Groups | None) -> CellTable:
    order = np.argsort(y, kind="stable")
    rows = []
    for part in np.array_split(order, min(N_PARTS, len(y))):
        values = observations(np.abs(off[part]), groups_among(groups, part))
        mean, error = float(np.abs(off[part]).mean()), 1.96 * float(values.std() / np.sqrt(len(values)))
        ends = f"{number_text(float(y[part[0]]))} … {number_text(float(y[part[-1]]))}"
        rows.append((ends, len(part), rounded(mean), rounded(max(0.0, mean - error)), rounded(mean + error)))
    columns = ("target", "rows", "mean of abs(target - prediction)", "from", "to")
    caption = "Rows in parts of equal numbers, by their target, with 95% intervals."
    return CellTable(columns, tuple(rows), caption, bars=(2,))


def _largest(subject: Subject, y: FloatArray, predicted: FloatArray) -> CellTable:
    """Rows with the largest residuals."""
    order = np.argsort(-np.abs(y - predicted), kind="stable")
    different = np.sort(np.unique(subject.test.keys[order], return_index=True)[1])
    rows = tuple(
        (f"{subject.test.number(row):,}", *(number_text(float(one)) for one in (y[row], predicted[row])))
        for row in order[different[:SHOWN]].tolist()
    )
    caption = f"The rows with the largest residuals; {subject.counting}. Copies are left out."
    return CellTable(("row", "target", "prediction"), rows, caption)


def _coverage(subject: Subject, level: float, y: FloatArray, predicted: FloatArray) -> Text:
    """Fraction of targets at or below a predicted quantile."""
    below = y <= predicted
    low, high = fraction_interval(below, None, subject.test.groups)[1]
    kept = low <= level <= high
    text = (
        f"{percent(float(below.mean()))} of the targets lie at or below the predictions (95% interval {percent(low)} "
        f"to {percent(high)}), and {percent(level)} should: "
        f"the quantile {'keeps' if kept else 'does not keep'} its promise."
    )
    return Text((text,), "good" if kept else "warning")
