"""How answers depend on single columns: contributions of the held-out rows against their values."""

from __future__ import annotations

import numpy as np

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import Columns, Lines, Section, Series
from radboost.report.figures import plain_all, shortened, thinned
from radboost.report.partial import partial_dependence
from radboost.report.shapley import Contributions
from radboost.report.subject import Subject
from radboost.rows.contents import Places

SHOWN, POINTS, RUG, N_PARTS, MOST_CATEGORIES = 6, 250, 150, 24, 20


def dependence(subject: Subject) -> Section | None:
    """The columns with the largest contributions."""
    shap = subject.contributions
    if not isinstance(shap, Contributions):
        return partial_dependence(subject)
    order = [place for place in np.argsort(-shap.sizes, kind="stable")[:SHOWN].tolist() if shap.sizes[place] > 0.0]
    if not order:
        return None
    drawn = [_drawn(subject, shap, place) for place in order]
    pairs = tuple(Columns(tuple(drawn[first : first + 2])) for first in range(0, len(drawn), 2))
    towards = _towards(subject)
    lead = f"What the value of a column adds to the score{towards}, for {len(shap.rows):,} held-out rows."
    return Section("dependence", "Dependence", lead, pairs)


def _towards(subject: Subject) -> str:
    return f" of {shortened(subject.class_names[1])}" if len(subject.classes) == 2 else ""


def _drawn(subject: Subject, shap: Contributions, column: int) -> Lines:
    """Points of rows with their mean; of more than two classes the one that the column moves most."""
    values = subject.test.column(column)[shap.rows]
    output = int(np.abs(shap.values[:, :, column]).mean(axis=0).argmax())
    heights = shap.values[:, output, column]
    of = f" of {shortened(subject.class_names[output])}" if len(subject.classes) > 2 else _towards(subject)
    label = f"added to the score{of}"
    categories = subject.categories.get(column)
    if categories is not None:
        return _of_categories(subject, column, values, heights, label, [str(one) for one in categories])
    if subject.kinds.get(column) == "boolean":
        return _of_categories(subject, column, values, heights, label, ["false", "true"])
    gap = np.isnan(values)
    x, y = values[~gap], heights[~gap]
    name = shortened(subject.names[column])
    caption = ""
    if gap.any():
        adds = number_text(float(heights[gap].mean()))
        caption = f"Missing in {int(gap.sum()):,} of these rows, which adds {adds} on average."
    x_label = name
    if len(x) and subject.kinds.get(column) == "date":
        x_label = f"{name}, in days since 1970"
        first, last = (subject.value_text(column, float(end)) for end in (x.min(), x.max()))
        caption = f"From {first} to {last}. {caption}".strip()
    if not len(x):
        return Lines(name, name, label, (), caption="No row has a value. " + caption)
    order = np.argsort(x, kind="stable")
    chosen = order[_spread(x[order], POINTS)]
    rug = x[order[_spread(x[order], RUG)]]
    means = _means(x, y)
    return Lines(
        name,
        x_label,
        label,
        (
            Series("rows", plain_all(x[chosen]), plain_all(y[chosen]), style="points"),
            Series("mean", plain_all(means[0]), plain_all(means[1])),
        ),
        rug=plain_all(rug),
        caption=caption,
    )


def _spread(ordered: FloatArray, most: int) -> Places:
    """Places of some of the rows, half of them evenly by rows and half by different values."""
    _, first = np.unique(ordered, return_index=True)
    return np.unique(np.concatenate([thinned(len(ordered), most // 2), first[thinned(len(first), most // 2)]]))


def _means(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of y over values of x, or over parts of about equally many rows where there are many values."""
    levels = np.unique(x)
    if len(levels) > N_PARTS:
        # By rows, and by values: where most rows have the same one, quantiles of rows alone would hide the others.
        inner = np.linspace(0.0, 1.0, N_PARTS // 2 + 1)[1:-1]
        edges = np.unique(np.concatenate([np.quantile(x, inner), np.quantile(levels, inner)]))
        parts = np.searchsorted(edges, x)
    else:
        parts = np.searchsorted(levels, x)
    counts = np.bincount(parts)
    there = counts > 0
    return (np.bincount(parts, x)[there] / counts[there], np.bincount(parts, y)[there] / counts[there])


def _of_categories(
    subject: Subject, column: int, values: FloatArray, heights: FloatArray, label: str, names: list[str]
) -> Lines:
    """Categories side by side, the most frequent ones, by their mean contribution; missing values behind them."""
    gap = np.isnan(values)
    codes, counts = np.unique(values[~gap], return_counts=True)
    kept = codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]]
    groups = [(names[int(code)], heights[values == code]) for code in kept.tolist()]
    if gap.any():
        groups.append(("missing or unknown", heights[gap]))
    groups.sort(key=lambda pair: float(pair[1].mean()))
    points: list[tuple[float, float]] = []
    for place, (_, found) in enumerate(groups):
        chosen = np.sort(found)[thinned(len(found), max(3, POINTS // len(groups)))]
        points += [(float(place), float(one)) for one in chosen]
    left = len(codes) - len(kept)
    name = shortened(subject.names[column])
    return Lines(
        name,
        name,
        label,
        (
            Series("rows", tuple(x for x, _ in points), plain_all(y for _, y in points), style="points"),
            Series(
                "mean, by number of rows",
                tuple(range(len(groups))),
                plain_all(found.mean() for _, found in groups),
                style="points",
                sizes=tuple(len(found) for _, found in groups),
            ),
        ),
        ticks=tuple(shortened(title, 20) for title, _ in groups),
        caption=f"The {len(kept)} most frequent of {len(codes)} categories." if left else "",
    )
