"""Pages of numbers: residuals, errors by the size of the target, and how often quantiles keep their promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import Bars, Block, Columns, Histogram, Lines, Mark, Section, Series, Table, Text
from radboost.report.figures import (
    Groups,
    groups_among,
    observations,
    percent,
    plain,
    plain_all,
    rounded,
    share_interval,
)
from radboost.report.subject import Subject

POINTS, N_BINS, N_PARTS = 600, 30, 10


def residuals(subject: Subject) -> Section | None:
    """Residuals of a regressor from all sides."""
    if subject.classifies:
        return None
    y, answers = np.asarray(subject.test.y, dtype=np.float64), np.asarray(subject.predicted, dtype=np.float64)
    off = y - answers
    spread = histogram("Residuals", "target - answer", [("held-out", off)], zero=True)
    blocks: list[Block] = [
        Columns((_against(subject, answers, off), spread)),
        Columns((_truth(subject, y, answers), _by_decile(y, off, subject.test.groups))),
        _within(off),
    ]
    if subject.quantile is not None:
        blocks.append(_coverage(subject, y, answers))
    half, most = np.quantile(np.abs(off), [0.5, 0.9])
    lead = (
        f"Half of the answers are off by less than {number_text(float(half))}, nine of ten by less than "
        f"{number_text(float(most))}; {_bias(off, subject.test.groups)}"
    )
    return Section("residuals", "Residuals", lead, tuple(blocks))


def histogram(title: str, label: str, parts: Sequence[tuple[str, Any]], *, zero: bool = False) -> Histogram:
    """Shares of the rows of each part; what lies far out is counted at the ends."""
    values = [np.asarray(one, dtype=np.float64) for _, one in parts]
    every = np.concatenate(values)
    low, high = np.quantile(every, [0.002, 0.998])
    if high <= low:
        low, high = float(low) - 0.5, float(high) + 0.5
    edges = np.linspace(low, high, N_BINS + 1)
    series = []
    for (name, _), numbers in zip(parts, values, strict=True):
        heights = np.histogram(np.clip(numbers, low, high), edges)[0] / max(1, len(numbers))
        series.append((name, plain_all(heights)))
    outside = float(np.mean((every < low) | (every > high)))
    return Histogram(
        title,
        label,
        "share of the rows",
        plain_all(edges),
        tuple(series),
        (Mark(0, "0"),) if zero and low < 0.0 < high else (),
        f"The {percent(outside)} farthest out are counted in the outermost bars." if outside else "",
    )


def _bias(off: FloatArray, groups: Groups | None) -> str:
    found = observations(off, groups)
    mean, error = float(off.mean()), float(found.std() / np.sqrt(len(found)))
    if len(off) < 2 or abs(mean) <= 2.0 * error:
        return "they are not clearly too high or too low on average."
    return f"on average answers are too {'low' if mean > 0 else 'high'} by {number_text(abs(mean))}."


def _chosen(subject: Subject) -> Any:
    return subject.test.sample(POINTS)


def _against(subject: Subject, answers: FloatArray, off: FloatArray) -> Lines:
    rows = _chosen(subject)
    order = rows[np.argsort(answers[rows], kind="stable")]
    x, y = _means_along(answers, off)
    return Lines(
        "Residuals against answers",
        "answer",
        "target - answer",
        (
            Series("rows", plain_all(answers[order]), plain_all(off[order]), style="points"),
            Series("mean", plain_all(x), plain_all(y)),
        ),
        caption="The mean should lie near 0 everywhere, and the rows should be as wide at every answer."
        + _drawn_note(subject, rows),
    )


def _truth(subject: Subject, y: FloatArray, answers: FloatArray) -> Lines:
    rows = _chosen(subject)
    order = rows[np.argsort(answers[rows], kind="stable")]
    return Lines(
        "Targets against answers",
        "answer",
        "target",
        (Series("rows", plain_all(answers[order]), plain_all(y[order]), style="points"),),
        diagonal=True,
        caption="On the diagonal answers are exact." + _drawn_note(subject, rows),
    )


def _drawn_note(subject: Subject, rows: Any) -> str:
    return f" {len(rows):,} of {len(subject.test):,} rows are drawn." if len(rows) < len(subject.test) else ""


def _means_along(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of y over parts of equally many rows, by ascending x."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, min(2 * N_PARTS, max(1, len(x) // 10))) if len(part)]
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def _by_decile(y: FloatArray, off: FloatArray, groups: Groups | None) -> Bars:
    order = np.argsort(y, kind="stable")
    parts = [part for part in np.array_split(order, min(N_PARTS, len(y))) if len(part)]
    means = [float(np.abs(off[part]).mean()) for part in parts]
    found = [observations(np.abs(off[part]), groups_among(groups, part)) for part in parts]
    errors = [float(one.std() / np.sqrt(len(one))) for one in found]
    return Bars(
        "Error by the size of the target",
        "mean of abs(target - answer)",
        tuple(f"{number_text(float(y[part[0]]))} … {number_text(float(y[part[-1]]))}" for part in parts),
        (("mean error", plain_all(means)),),
        (
            tuple(
                (plain(max(0.0, mean - 1.96 * error)), plain(mean + 1.96 * error))
                for mean, error in zip(means, errors, strict=True)
            ),
        ),
        counts=tuple(len(part) for part in parts),
        caption="Rows in parts of equal numbers, by their target; whiskers are 95% intervals.",
    )


def _within(off: FloatArray) -> Table:
    levels = (0.5, 0.8, 0.9, 0.95, 0.99)
    sizes = np.quantile(np.abs(off), levels)
    rows = tuple((percent(level, 0), rounded(size)) for level, size in zip(levels, sizes, strict=True))
    return Table(("share of the rows", "off by at most"), rows)


def _coverage(subject: Subject, y: FloatArray, answers: FloatArray) -> Block:
    """How many targets lie at or below the answers, of all rows and along the answers."""
    level = subject.quantile
    assert level is not None
    below = y <= answers
    groups = subject.test.groups
    low, high = share_interval(below, None, groups)[1]
    kept = low <= level <= high
    text = Text(
        (
            f"{percent(float(below.mean()))} of the targets lie at or below the answers (95% interval {percent(low)} "
            f"to {percent(high)}), and {percent(level)} should: "
            + ("the quantile keeps its promise." if kept else "the quantile does not keep its promise."),
        ),
        "good" if kept else "warning",
    )
    order = np.argsort(answers, kind="stable")
    parts = [part for part in np.array_split(order, min(N_PARTS, max(1, len(y) // 20))) if len(part)]
    bars = Bars(
        "Coverage along the answers",
        f"share of targets at or below the answer; {level:g} is right",
        tuple(f"{number_text(float(answers[part[0]]))} … {number_text(float(answers[part[-1]]))}" for part in parts),
        (("coverage", plain_all(below[part].mean() for part in parts)),),
        (tuple(share_interval(below[part], None, groups_among(groups, part))[1] for part in parts),),
        counts=tuple(len(part) for part in parts),
    )
    return Columns((text, bars))
