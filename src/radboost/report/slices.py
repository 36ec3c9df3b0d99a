"""Parts of the rows on which the model errs most, tested with a correction for many comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.stats import fisher_exact, ttest_ind

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import Block, Cell, CellTable, Section, Text
from radboost.report.figures import (
    Interval,
    count,
    fraction_interval,
    fraction_of,
    groups_among,
    observations,
    percent,
    rounded,
)
from radboost.report.html import shortened
from radboost.report.scores import losses_by_row
from radboost.report.subject import Subject

MOST_COLUMNS, MOST_LEVELS, FEWEST_ROWS = 100, 40, 20
SHOWN, LEVEL = 15, 0.05
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
    lead = f"None of {count(len(every), 'part')} of the rows is clearly worse than the rest."
    if sure:
        top = next(one for one in worst if one in sure)
        there, everywhere = _show(subject, top.loss), _show(subject, overall)
        rows = count(top.n_rows, "row")
        lead = f"Worst where {top.name}: the {_unit(subject)} is {there} on {rows}, {everywhere} on all."
    return Section("slices", "Where it errs", lead, tuple(blocks))


def _losses(subject: Subject) -> FloatArray:
    """Loss of each row: 1 for a wrong label, the absolute residual, the loss of a quantile."""
    losses = losses_by_row(subject)
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
        interval = fraction_interval(inside, None, own)[1]
        fractions = (fraction_of(inside, None, own), fraction_of(outside, None, others))
        p_value = float(
            fisher_exact([[round(fraction * n), round((1.0 - fraction) * n)] for fraction, n in fractions]).pvalue
        )
    else:
        reach = 1.96 * float(one.std() / np.sqrt(len(one)))
        interval = max(0.0, mean - reach), mean + reach
        if one.std() > 0.0 or two.std() > 0.0:
            p_value = float(np.nan_to_num(ttest_ind(one, two, equal_var=False).pvalue, nan=1.0))
    return Slice(name, len(inside), mean, interval, p_value)


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
    caution = (
        f"{count(n_parts, 'part')} of the rows were compared, and of so many some look bad by chance: one in twenty "
        f"has a p-value below 0.05. {count(len(sure), 'part')} {'remains' if len(sure) == 1 else 'remain'} worse after "
        "Holm's correction for that."
    )
    if subject.test.weights is not None:
        caution += " Rows count alike here, whatever their weight."
    table = CellTable(
        ("part", "rows", _unit(subject), "from", "to", "above all rows by", f"p-value (at least {SMALLEST:g})"),
        (
            ("all rows", len(subject.test), rounded(overall), None, None, None, None),
            *((*_cells(one), rounded(one.loss - overall), rounded(max(one.p_value, SMALLEST))) for one in worst),
        ),
        "Values of columns, and quarters of the rows by a number, with 95% intervals; those that stand out are clearly "
        "worse.",
        highlighted=tuple(index + 1 for index, one in enumerate(worst) if one in sure),
        bars=(2,),
    )
    return [table, Text((caution,), "note")]


def _cells(one: Slice) -> tuple[Cell, ...]:
    return one.name, one.n_rows, rounded(one.loss), rounded(one.interval[0]), rounded(one.interval[1])


def _by_source(subject: Subject, losses: FloatArray) -> list[Block]:
    assert subject.sources is not None
    sources = np.array([str(source) for source in subject.sources.tolist()])
    names, counts = np.unique(sources, return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")[:MOST_LEVELS]].tolist()
    parts = [evaluated(subject, shortened(name), sources == name, losses) for name in shown] if len(names) > 1 else []
    parts.sort(key=lambda one: -one.loss)
    if not parts:
        return []
    worst = parts[0]
    lead = f"On the worst source, {worst.name}, the {_unit(subject)} is {_show(subject, worst.loss)}."
    columns = ("source", "rows", _unit(subject), "from", "to")
    rows = tuple(_cells(one) for one in parts)
    caption = f"The worst source first, with 95% intervals. {count(len(names), 'source')} in all."
    return [Text((lead,)), CellTable(columns, rows, caption, (0,), (2,))]
