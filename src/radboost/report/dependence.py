"""Dependence of scores on single columns: contributions of held-out rows against their values."""

from __future__ import annotations

import numpy as np

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import CellTable, LineChart, Section, Series, SideBySide
from radboost.report.figures import means_along, plain, plain_all, thinned
from radboost.report.html import shortened
from radboost.report.shapley import Contributions
from radboost.report.subject import Subject

SHOWN, MOST_POINTS, N_PARTS, MOST_CATEGORIES = 6, 250, 24, 20


def dependence(subject: Subject) -> Section | None:
    """Charts of the columns with the largest contributions; None for a model without Shapley values."""
    shap = subject.contributions
    if not isinstance(shap, Contributions):
        return None
    order = [column for column in np.argsort(-shap.sizes, kind="stable")[:SHOWN].tolist() if shap.sizes[column] > 0.0]
    if not order:
        return None
    charts = [_chart(subject, shap, column) for column in order]
    pairs = tuple(SideBySide(tuple(charts[first : first + 2])) for first in range(0, len(charts), 2))
    of = f" of {shortened(subject.class_names[1])}" if len(subject.classes) == 2 else ""
    lead = f"What the value of a column adds to the score{of}, for {len(shap.rows):,} held-out rows."
    return Section("dependence", "Dependence", lead, pairs)


def _chart(subject: Subject, shap: Contributions, column: int) -> LineChart | CellTable:
    """Chart of a column; with more than two classes for the one that the column moves most."""
    values = subject.test.column(column)[shap.rows]
    output = int(np.abs(shap.values[:, :, column]).mean(axis=0).argmax())
    heights = shap.values[:, output, column]
    target = subject.class_names[output if len(subject.classes) > 2 else 1] if subject.classifies else ""
    label = "added to the score" + (f" of {shortened(target)}" if target else "")
    names = subject.categories.get(column)
    if names is None and subject.kinds.get(column) == "boolean":
        names = ("false", "true")
    if names is not None:
        return _of_categories(shortened(subject.names[column]), values, heights, label, [str(one) for one in names])
    return _of_numbers(subject, column, values, heights, label)


def _of_numbers(subject: Subject, column: int, values: FloatArray, heights: FloatArray, label: str) -> LineChart:
    gap, name = np.isnan(values), shortened(subject.names[column])
    x, y = values[~gap], heights[~gap]
    caption, x_label = "", name
    if len(x) and subject.kinds.get(column) == "date":
        x_label = f"{name}, in days since 1970"
        first, last = (subject.value_text(column, float(end)) for end in (x.min(), x.max()))
        caption = f"From {first} to {last}. "
    if gap.any():
        adds = number_text(float(heights[gap].mean()))
        caption += f"Missing in {int(gap.sum()):,} of these rows, which adds {adds} on average."
    if not len(x):
        return LineChart(name, name, label, (), caption=f"No row has a value. {caption}")
    order = np.argsort(x, kind="stable")
    first_of_value = np.unique(x[order], return_index=True)[1]
    half = MOST_POINTS // 2  # evenly by rows, and as many by different values
    chosen = order[np.union1d(thinned(len(order), half), first_of_value[thinned(len(first_of_value), half)])]
    means = means_along(x, y, N_PARTS)
    return LineChart(
        name,
        x_label,
        label,
        (
            Series("rows", plain_all(x[chosen]), plain_all(y[chosen]), style="points"),
            Series("mean", plain_all(means[0]), plain_all(means[1])),
        ),
        caption=caption,
    )


def _of_categories(name: str, values: FloatArray, heights: FloatArray, label: str, names: list[str]) -> CellTable:
    """Mean contributions of the most frequent categories, and of missing values."""
    gap = np.isnan(values)
    codes, counts = np.unique(values[~gap], return_counts=True)
    kept = codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]]
    groups = [(names[int(code)], heights[values == code]) for code in kept.tolist()]
    if gap.any():
        groups.append(("missing or unknown", heights[gap]))
    groups.sort(key=lambda pair: float(pair[1].mean()))
    rows = tuple((shortened(title, 20), len(added), plain(added.mean())) for title, added in groups)
    caption = f"The {len(kept)} most frequent of {len(codes)} categories." if len(codes) > len(kept) else ""
    return CellTable((name, "rows", f"{label}, mean"), rows, caption, bars=(2,))
