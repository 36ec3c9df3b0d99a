"""Parts of the rows on which the model errs most, tested with a correction for many comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, fisher_exact, norm, ttest_ind

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import BarChart, Block, Cell, CellTable, Section, Text
from radboost.report.figures import (
    Groups,
    Interval,
    count,
    groups_among,
    observations,
    percent,
    plain,
    rounded,
    share_interval,
    share_of,
    shortened,
)
from radboost.report.scores import losses_by_row
from radboost.report.subject import Subject

MOST_COLUMNS, MOST_LEVELS, FEWEST_ROWS = 100, 40, 20
SHOWN, LEVEL, NAMED = 15, 0.05, 5
N_QUARTERS = 4
SMALLEST = 1e-4  # p-value that is worth telling from others

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Part of the held-out rows, and the mean loss of the model there."""

    name: str
    n_rows: int
    loss: float
    interval: Interval
    p_value: float  # of no difference to the other rows
    linear: float | None = None  # mean loss of a linear model there
    ahead: float = 1.0  # p-value of no difference to the linear model where that is better


def slices(subject: Subject) -> Section | None:
    """Worst parts of the rows by the values of single columns, and by source where these are known."""
    losses = _losses(subject)
    overall = float(losses.mean())
    blocks: list[Block] = [] if subject.sources is None else _by_source(subject, losses)
    every = [one for column in subject.by_gain()[:MOST_COLUMNS] for one in _of_column(subject, column, losses)]
    if not every and not blocks:
        few = f"No value of a column has {FEWEST_ROWS} held-out rows: there are no parts to compare."
        return Section("slices", "Where it errs", few, (Text((few,), "note"),))
    clear = holm([one.p_value for one in every])
    sure = [one for one, is_clear in zip(every, clear, strict=True) if is_clear and one.loss > overall]
    worst = sorted((one for one in every if one.loss > overall), key=lambda one: (one.p_value, -one.loss))[:SHOWN]
    worst.sort(key=lambda one: -one.loss)
    if worst:
        blocks += _worst(subject, worst, sure, overall, len(every))
    blocks += _behind_linear(subject, every)
    lead = f"None of {count(len(every), 'part')} of the rows is clearly worse than the rest."
    if sure:
        top = next(one for one in worst if one in sure)
        there, everywhere = _show(subject, top.loss), _show(subject, overall)
        rows = count(top.n_rows, "row")
        lead = f"Worst where {top.name}: the {_unit(subject)} is {there} on {rows}, {everywhere} on all."
    return Section("slices", "Where it errs", lead, tuple(blocks))


def _losses(subject: Subject, predicted: npt.NDArray[Any] | None = None) -> FloatArray:
    """Loss of each row: 1 for a wrong label, the absolute residual, the loss of a quantile."""
    losses = losses_by_row(subject, predicted)
    return np.sqrt(losses) if not subject.classifies and subject.quantile is None else losses


def _show(subject: Subject, loss: float) -> str:
    return percent(loss) if subject.classifies else number_text(loss)


def _unit(subject: Subject) -> str:
    if subject.classifies:
        return "error"
    return "mean absolute error" if subject.quantile is None else "quantile loss"


def _of_column(subject: Subject, column: int, losses: FloatArray) -> list[Slice]:
    values = subject.test.column(column)
    name = shortened(subject.names[column])
    gap = np.isnan(values)
    categories = subject.categories.get(column)
    if categories is None:
        parts = _quarters(name, values, gap, partial(subject.value_text, column))
    else:
        codes, counts = np.unique(values[~gap], return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")[:MOST_LEVELS]].tolist()
        parts = [(f"{name} = {shortened(str(categories[int(code)]))}", values == code) for code in frequent]
    if gap.any():
        parts.append((f"{name} is {'missing' if categories is None else 'missing or unknown'}", gap))
    enough = [(title, rows) for title, rows in parts if FEWEST_ROWS <= int(rows.sum()) <= len(rows) - FEWEST_ROWS]
    return [evaluated(subject, title, rows, losses) for title, rows in enough]


def _quarters(name: str, values: FloatArray, gap: Mask, show: Callable[[float], str]) -> list[tuple[str, Mask]]:
    known = values[~gap]
    levels = np.unique(known)
    if len(levels) <= N_QUARTERS:
        return [(f"{name} = {show(float(level))}", values == level) for level in levels]
    low, *edges = np.unique(np.quantile(known, np.linspace(0.0, 1.0, N_QUARTERS + 1))).tolist()
    parts = [(f"{name} <= {show(edges[0])}", (values >= low) & (values <= edges[0]))]
    for low, high in pairwise(edges):
        parts.append((f"{name} in ({show(low)}, {show(high)}]", (values > low) & (values <= high)))
    return parts


def evaluated(subject: Subject, name: str, rows: Mask, losses: FloatArray) -> Slice:
    """Compare the mean loss on some rows with that on the others: Fisher's exact test for errors, Welch's for sizes.

    Equal rows are one observation.
    """
    groups, inside, outside = subject.test.groups, losses[rows], losses[~rows]
    own, others = groups_among(groups, rows), groups_among(groups, ~rows)
    mean, p_value = float(inside.mean()), 1.0
    one, two = observations(inside, own), observations(outside, others)
    if subject.classifies:
        interval = share_interval(inside, None, own)[1]
        shares = (share_of(inside, None, own), share_of(outside, None, others))
        p_value = float(fisher_exact([[round(share * n), round((1.0 - share) * n)] for share, n in shares]).pvalue)
    else:
        reach = 1.96 * float(one.std() / np.sqrt(len(one)))
        interval = max(0.0, mean - reach), mean + reach
        if one.std() > 0.0 or two.std() > 0.0:
            p_value = float(np.nan_to_num(ttest_ind(one, two, equal_var=False).pvalue, nan=1.0))
    return Slice(name, len(inside), mean, interval, p_value, *_of_linear(subject, rows, inside, own))


def _of_linear(subject: Subject, rows: Mask, own: FloatArray, groups: Groups | None) -> tuple[float | None, float]:
    """Mean loss of a linear model on these rows, and the p-value of a paired test where it is less."""
    if subject.baselines.linear is None:
        return None, 1.0
    other = _losses(subject, subject.baselines.linear)[rows]
    gain = observations(own - other, groups)
    if gain.sum() <= 0.0:
        return float(other.mean()), 1.0
    if subject.classifies:
        apart = gain[gain != 0.0]
        share, n = share_of(apart > 0.0, np.abs(apart))
        return float(other.mean()), float(binomtest(round(share * n), max(1, round(n))).pvalue)
    spread = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    return float(other.mean()), float(2.0 * norm.sf(float(gain.mean()) / spread)) if spread > 0.0 else 1.0


def holm(p_values: list[float]) -> list[bool]:
    """Return which findings chance does not explain, all together with probability 95 percent. Holm, 1979."""
    order = np.argsort(p_values, kind="stable").tolist()
    clear = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > LEVEL / (len(p_values) - rank):
            break
        clear[index] = True
    return clear


def _worst(subject: Subject, worst: list[Slice], sure: list[Slice], overall: float, n_parts: int) -> list[Block]:
    clear = [index for index, one in enumerate(worst) if one in sure]
    bars = BarChart(
        "The worst parts of the rows",
        _unit(subject),
        ("all rows", *(one.name for one in worst)),
        (("held-out", (plain(overall), *(plain(one.loss) for one in worst))),),
        ((None, *((plain(one.interval[0]), plain(one.interval[1])) for one in worst)),),
        tuple(index + 1 for index in clear),
        (len(subject.test), *(one.n_rows for one in worst)),
        "Values of columns, and quarters of the rows by a number, with 95% intervals; those that stand out are clearly "
        "worse.",
    )
    rows: list[tuple[Cell, ...]] = []
    for one in worst:
        beside = rounded(one.loss - overall), rounded(one.linear), rounded(max(one.p_value, SMALLEST))
        rows.append((one.name, one.n_rows, rounded(one.loss), *beside))
    caution = (
        f"{count(n_parts, 'part')} of the rows were compared, and of so many some look bad by chance: one in twenty "
        f"has a p-value below 0.05. {count(len(sure), 'part')} {'remains' if len(sure) == 1 else 'remain'} worse after "
        "Holm's correction for that."
    )
    if subject.test.weights is not None:
        caution += " Rows count alike here, whatever their weight."
    columns = ("part", "rows", "error", "above all rows by", "of a linear model", f"p-value (at least {SMALLEST:g})")
    return [bars, CellTable(columns, tuple(rows), highlighted=tuple(clear), digits=3), Text((caution,), "note")]


def _behind_linear(subject: Subject, every: list[Slice]) -> list[Block]:
    """Parts of the rows on which a linear model is clearly better."""
    known = [one for one in every if one.linear is not None]
    behind = [one for one, is_clear in zip(known, holm([one.ahead for one in known]), strict=True) if is_clear]
    if not behind:
        return []
    first = [
        f"{one.name} ({_show(subject, one.linear or 0.0)} beside {_show(subject, one.loss)})"
        for one in sorted(behind, key=lambda one: one.ahead)[:NAMED]
    ]
    more = f" and {len(behind) - NAMED} more" if len(behind) > NAMED else ""
    return [Text((f"A linear model is clearly better where {'; '.join(first)}{more}.",), "warning")]


def _by_source(subject: Subject, losses: FloatArray) -> list[Block]:
    assert subject.sources is not None
    sources = np.array([str(source) for source in subject.sources.tolist()])
    names, counts = np.unique(sources, return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")[:MOST_LEVELS]].tolist()
    parts = [evaluated(subject, shortened(name), sources == name, losses) for name in shown] if len(names) > 1 else []
    parts.sort(key=lambda one: -one.loss)
    if not parts:
        return []
    bars = BarChart(
        "By source",
        _unit(subject),
        tuple(one.name for one in parts),
        (("held-out", tuple(plain(one.loss) for one in parts)),),
        (tuple((plain(one.interval[0]), plain(one.interval[1])) for one in parts),),
        (0,),
        tuple(one.n_rows for one in parts),
        f"The worst source first, with 95% intervals. {count(len(names), 'source')} in all.",
    )
    worst = parts[0]
    there = f"{_show(subject, worst.loss)} ({count(worst.n_rows, 'row')})"
    return [bars, Text((f"On the worst source, {worst.name}, the {_unit(subject)} is {there}.",))]
