"""Where the model errs: its error on parts of the rows, with a caution against what many looks find by chance."""

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
from radboost.report.blocks import Bars, Block, Cell, Section, Table, Text
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
from radboost.report.scores import own_losses, row_losses
from radboost.report.subject import Subject

MOST_COLUMNS, MOST_LEVELS, FEWEST_ROWS = 100, 40, 20
SHOWN, LEVEL, NAMED = 15, 0.05, 5
N_QUARTERS = 4
SMALLEST = 1e-4  # p-value that is worth telling from others


@dataclass(frozen=True)
class Slice:
    """A part of the held-out rows, and how wrong the model is there."""

    name: str
    n_rows: int
    loss: float
    interval: Interval
    p_value: float  # of no difference to the other rows
    linear: float | None = None  # what a linear model loses there
    ahead: float = 1.0  # the p-value of no difference to the linear model where that is better


def slices(subject: Subject) -> Section | None:
    """The worst parts of the rows, by the values of single columns, and by source where these are known."""
    losses = row_errors(subject)
    overall = float(losses.mean())
    blocks: list[Block] = []
    if subject.sources is not None:
        blocks += _by_source(subject, losses)
    found = [one for column in subject.by_gain()[:MOST_COLUMNS] for one in _of_column(subject, column, losses)]
    if not found and not blocks:
        few = f"No value of a column has {FEWEST_ROWS} held-out rows: there are no parts to compare."
        return Section("slices", "Where it errs", few, (Text((few,), "note"),))
    clear = holm([one.p_value for one in found])
    worse = sorted((one for one in found if one.loss > overall), key=lambda one: (one.p_value, -one.loss))[:SHOWN]
    worse.sort(key=lambda one: -one.loss)
    sure = [one for one, is_clear in zip(found, clear, strict=True) if is_clear and one.loss > overall]
    blocks += _worst(subject, worse, sure, overall, len(found))
    blocks += _behind_linear(subject, found)
    unit = _unit(subject)
    if sure:
        top = max((one for one in worse if one in sure), key=lambda one: one.loss)
        there, everywhere = show(subject, top.loss), show(subject, overall)
        lead = f"Worst where {top.name}: {unit} {there} on {count(top.n_rows, 'row')}, {everywhere} on all."
    else:
        lead = f"None of {count(len(found), 'part')} of the rows that were looked at is clearly worse than the rest."
    return Section("slices", "Where it errs", lead, tuple(blocks))


def row_errors(subject: Subject, answers: npt.NDArray[Any] | None = None) -> FloatArray:
    """What each row counts here: 1 for a wrong answer, the absolute residual, the loss of a quantile."""
    losses = own_losses(subject) if answers is None else row_losses(subject, answers)
    return np.sqrt(losses) if not subject.classifies and subject.quantile is None else losses


def show(subject: Subject, loss: float) -> str:
    return percent(loss) if subject.classifies else number_text(loss)


def _unit(subject: Subject) -> str:
    if subject.classifies:
        return "the error is"
    return "the mean absolute error is" if subject.quantile is None else "the quantile loss is"


def _of_column(subject: Subject, column: int, losses: FloatArray) -> list[Slice]:
    values = subject.test.column(column)
    name = shortened(subject.names[column])
    gap = np.isnan(values)
    groups: list[tuple[str, npt.NDArray[np.bool_]]] = []
    categories = subject.categories.get(column)
    if categories is not None:
        codes, counts = np.unique(values[~gap], return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")[:MOST_LEVELS]].tolist()
        groups += [(f"{name} = {shortened(str(categories[int(code)]))}", values == code) for code in frequent]
    else:
        groups += _quarters(name, values, gap, partial(subject.value_text, column))
    if gap.any():
        groups.append((f"{name} is {'missing or unknown' if categories is not None else 'missing'}", gap))
    return [
        measured(subject, title, rows, losses)
        for title, rows in groups
        if FEWEST_ROWS <= int(rows.sum()) <= len(rows) - FEWEST_ROWS
    ]


def _quarters(
    name: str, values: FloatArray, gap: npt.NDArray[np.bool_], show: Callable[[float], str]
) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    known = values[~gap]
    if not len(known):
        return []
    levels = np.unique(known)
    if len(levels) <= N_QUARTERS:
        return [(f"{name} = {show(float(level))}", values == level) for level in levels]
    edges = np.unique(np.quantile(known, np.linspace(0.0, 1.0, N_QUARTERS + 1)))
    found = []
    for place, (low, high) in enumerate(pairwise(edges.tolist())):
        inside = (values >= low if place == 0 else values > low) & (values <= high)
        sign = "<=" if place == 0 else "in"
        text = show(float(high)) if place == 0 else f"({show(float(low))}, {show(float(high))}]"
        found.append((f"{name} {sign} {text}", inside & ~gap))
    return found


def measured(subject: Subject, name: str, rows: npt.NDArray[np.bool_], losses: FloatArray) -> Slice:
    """The mean on some rows beside that on the others: Fisher's exact test for errors, Welch's for sizes.

    Equal rows are one observation.
    """
    groups, inside, outside = subject.test.groups, losses[rows], losses[~rows]
    own, others = groups_among(groups, rows), groups_among(groups, ~rows)
    linear, ahead = _of_linear(subject, rows, inside, own)
    if subject.classifies:
        shares = (share_of(inside, None, own), share_of(outside, None, others))
        found = fisher_exact([[round(share * n), round((1.0 - share) * n)] for share, n in shares]).pvalue
        return Slice(
            name, len(inside), float(inside.mean()), _interval(subject, inside, own), float(found), linear, ahead
        )
    one, two = observations(inside, own), observations(outside, others)
    p_value = 1.0
    if one.std() > 0.0 or two.std() > 0.0:
        p_value = float(np.nan_to_num(ttest_ind(one, two, equal_var=False).pvalue, nan=1.0))
    return Slice(name, len(inside), float(inside.mean()), _interval(subject, inside, own), p_value, linear, ahead)


def _interval(subject: Subject, losses: FloatArray, groups: Groups | None) -> Interval:
    if subject.classifies:
        return share_interval(losses, None, groups)[1]
    found, mean = observations(losses, groups), float(losses.mean())
    reach = 1.96 * float(found.std() / np.sqrt(len(found)))
    return max(0.0, mean - reach), mean + reach


def _of_linear(
    subject: Subject, rows: npt.NDArray[np.bool_], own: FloatArray, groups: Groups | None
) -> tuple[float | None, float]:
    """What a linear model loses on these rows, and whether that it loses less there may be chance (a paired test)."""
    if subject.baselines.linear is None:
        return None, 1.0
    other = row_errors(subject, subject.baselines.linear)[rows]
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
    """Which of several findings chance does not explain, all together with probability 95 percent. Holm, 1979."""
    order = np.argsort(p_values, kind="stable").tolist()
    found = [False] * len(p_values)
    for rank, place in enumerate(order):
        if p_values[place] > LEVEL / (len(p_values) - rank):
            break
        found[place] = True
    return found


def _worst(subject: Subject, worst: list[Slice], sure: list[Slice], overall: float, n_looks: int) -> list[Block]:
    if not worst:
        return []
    clear = [place for place, one in enumerate(worst) if one in sure]
    bars = Bars(
        "The worst parts of the rows",
        "error" if subject.classifies else "mean absolute error" if subject.quantile is None else "quantile loss",
        ("all rows", *(one.name for one in worst)),
        (("held-out", (plain(overall), *(plain(one.loss) for one in worst))),),
        ((None, *((plain(one.interval[0]), plain(one.interval[1])) for one in worst)),),
        tuple(place + 1 for place in clear),
        (len(subject.test), *(one.n_rows for one in worst)),
        "Values of columns, and quarters of the rows by a number, with 95% intervals; those that stand out are clearly "
        "worse.",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            one.n_rows,
            rounded(one.loss),
            rounded(one.loss - overall),
            rounded(one.linear),
            rounded(max(one.p_value, SMALLEST)),
        )
        for one in worst
    ]
    caution = (
        f"{count(n_looks, 'part')} of the rows were looked at, and of so many some look bad by chance: one in twenty "
        f"has a p-value below 0.05. {count(len(sure), 'part')} {'remains' if len(sure) == 1 else 'remain'} worse after "
        "Holm's correction for that."
    )
    if subject.test.weights is not None:
        caution += " Rows count alike here, whatever their weight."
    columns = ("part", "rows", "error", "above all rows by", "of a linear model", f"p-value, {SMALLEST:g} or more")
    table = Table(columns, tuple(rows), highlighted=tuple(clear), digits=3)
    return [bars, table, Text((caution,), "note")]


def _behind_linear(subject: Subject, found: list[Slice]) -> list[Block]:
    """Parts of the rows on which a linear model is clearly better."""
    known = [one for one in found if one.linear is not None]
    behind = [one for one, is_clear in zip(known, holm([one.ahead for one in known]), strict=True) if is_clear]
    if not behind:
        return []
    told = [
        f"{one.name} ({show(subject, one.linear or 0.0)} beside {show(subject, one.loss)})"
        for one in sorted(behind, key=lambda one: one.ahead)[:NAMED]
    ]
    more = f" and {len(behind) - NAMED} more" if len(behind) > NAMED else ""
    return [Text((f"A linear model is clearly better where {'; '.join(told)}{more}.",), "warning")]


def _by_source(subject: Subject, losses: FloatArray) -> list[Block]:
    assert subject.sources is not None
    texts = np.array([str(source) for source in subject.sources.tolist()])
    names, counts = np.unique(texts, return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    found = []
    for name in shown.tolist():
        rows = texts == name
        if rows.all():
            found.append(
                Slice(
                    shortened(name),
                    len(rows),
                    float(losses.mean()),
                    _interval(subject, losses, subject.test.groups),
                    1.0,
                )
            )
        else:
            found.append(measured(subject, shortened(name), rows, losses))
    found.sort(key=lambda one: -one.loss)
    bars = Bars(
        "By source",
        "error" if subject.classifies else "mean loss",
        tuple(one.name for one in found),
        (("held-out", tuple(plain(one.loss) for one in found)),),
        (tuple((plain(one.interval[0]), plain(one.interval[1])) for one in found),),
        (0,),
        tuple(one.n_rows for one in found),
        f"The worst source first, with 95% intervals. {count(len(names), 'source')} in all.",
    )
    worst = found[0]
    there = f"{show(subject, worst.loss)} ({count(worst.n_rows, 'row')})"
    text = f"On the worst source, {worst.name}, {_unit(subject)} {there}."
    return [bars, Text((text,))]
