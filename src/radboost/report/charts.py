"""Charts: the blocks with axes, drawn at a width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from radboost.report.axes import (
    ROW,
    Frame,
    category_axis,
    frame,
    leaning,
    verticals,
    widened,
    x_axis,
    y_axis,
)
from radboost.report.blocks import Bars, Histogram, Lines, Number, Series
from radboost.report.html import number, shortened
from radboost.report.svg import (
    LETTER,
    N_COLOURS,
    Scale,
    at,
    bar,
    letters,
    line,
    picture,
    reach,
    room,
    span,
    spread,
    text,
    tick_texts,
    way,
)

WIDE, COLUMN, NARROW = 860, 400, 360
"""Widths: of the page, of one of two columns, of a phone."""
MOST_LABELS = 6
"""Lines that are named at their ends; more have a legend."""


def colour(index: int) -> int:
    """The colour of a series, by its place."""
    return index % N_COLOURS


def finite(value: Number | None) -> bool:
    """Whether something can be drawn."""
    return value is not None and math.isfinite(value)


# ---------------------------------------------------------------------------------------------------------- lines


def named_at_ends(block: Lines, width: int) -> bool:
    """Whether there is room for the names of lines beside their ends: else there is a legend."""
    drawn = [series for series in block.series if series.style != "points"]
    return width >= WIDE and len(drawn) == len(block.series) and len(block.series) <= MOST_LABELS


def lines(block: Lines, width: int, data: str = "", y_range: tuple[float, float] | None = None) -> str:
    """Lines, bands and points over one axis of numbers or categories."""
    xs, ys = _ranges(block)
    ys = y_range or ys
    ends = named_at_ends(block, width)
    right = room((series.name for series in block.series), 190.0) + 16 if ends else 14.0
    rug = 10.0 if block.rug else 0.0
    lean = leaning(block.ticks, width - 60 - right)
    bottom = 40.0 + rug + (44.0 if lean else 0.0)
    square = block.diagonal and xs == ys
    height = (440 if width >= WIDE else 0.92 * width) if square else (320 if width >= WIDE else 0.74 * width)
    axes = frame(width, height + (44 if lean else 0), xs, ys, log_x=block.log_x, right=right, bottom=bottom)
    drawn = y_axis(axes, block.y_label)
    if block.ticks:
        drawn += category_axis(axes, block.ticks, block.x_label, below=rug)
    else:
        drawn += x_axis(axes, block.x_label, below=rug)
    if block.diagonal:
        low, high = max(xs[0], ys[0]), min(xs[1], ys[1])
        drawn += line(axes.x(low), axes.y(low), axes.x(high), axes.y(high), "diagonal")
    if block.rug:
        strokes = sorted({at(axes.x(value)) for value in block.rug if finite(value)}, key=float)
        drawn += f'<path class="rug" d="{"".join(f"M{x} {at(axes.y.start + 5)}v7" for x in strokes)}"/>'
    drawn += "".join(_band(axes, series, index) for index, series in enumerate(block.series))
    drawn += verticals(axes, block.marks)
    drawn += "".join(
        _series(axes, series, index, levels=bool(block.ticks)) for index, series in enumerate(block.series)
    )
    if ends:
        drawn += _end_names(axes, block.series)
    said = f"{block.y_label} against {block.x_label}. " + " ".join(_in_words(series) for series in block.series)
    return picture(axes.width, axes.height, block.title, said, drawn, kind=_kind(width), data=data + axes.data)


def _kind(width: int) -> str:
    return {WIDE: "chart wide", NARROW: "chart narrow"}.get(width, "chart")


def _ranges(block: Lines) -> tuple[tuple[float, float], tuple[float, float]]:
    """What the two axes show. Of shares that fill most of 0 to 1 all of it."""
    values = [value for series in block.series for value in (*series.y, *series.low, *series.high)]
    places = [*(x for series in block.series for x in series.x), *(mark.x for mark in block.marks), *block.rug]
    ys = span(values)
    if block.ticks:
        return (-0.5, len(block.ticks) - 0.5), widened(*ys)
    if block.log_x:
        places = [place for place in places if place > 0 and finite(place)] or [1.0, 10.0]
        low, high = min(places), max(places)
        return (low, high) if low < high else (low / 2, high * 2), widened(*ys)
    xs = reach(places)
    if block.diagonal and all(-1e-9 <= end <= 1 + 1e-9 for end in (*xs, *ys)):
        return (0.0, 1.0), (0.0, 1.0)
    if block.diagonal:
        both = widened(min(xs[0], ys[0]), max(xs[1], ys[1]))
        return both, both
    return widened(*xs, 0.015), (0.0, 1.0) if 0 <= ys[0] < 0.4 and 0.75 < ys[1] <= 1 else widened(*ys)


def _points(axes: Frame, series: Series) -> list[tuple[float, float] | None]:
    return [
        (axes.x(x), axes.y(y)) if finite(x) and y is not None and finite(y) else None
        for x, y in zip(series.x, series.y, strict=False)
    ]


def _band(axes: Frame, series: Series, index: int) -> str:
    """The region between `low` and `high`; for points a whisker through each."""
    rows = [
        (axes.x(x), axes.y(low), axes.y(high))
        for x, low, high in zip(series.x, series.low, series.high, strict=False)
        if finite(x) and finite(low) and finite(high)
    ]
    if series.style == "points":
        strokes = "".join(f"M{at(x)} {at(low)}V{at(high)}" for x, low, high in rows)
        return f'<path class="whisker s{colour(index)}" d="{strokes}"/>' if strokes else ""
    if len(rows) < 2:
        return ""
    there = [(x, high) for x, _, high in rows]
    back = [(x, low) for x, low, _ in reversed(rows)]
    return f'<path class="band f{colour(index)}" d="{way([*there, *back])}Z"/>'


def _series(axes: Frame, series: Series, index: int, *, levels: bool) -> str:
    """A series; between categories nothing is to be read off, so steps over them are a level at each."""
    points = _points(axes, series)
    seen = [point for point in points if point is not None]
    if series.style == "points" and series.sizes:
        return _discs(axes, series, index)
    if series.style == "points" or len(seen) == 1:
        spots = dict.fromkeys(f"M{at(x)} {at(y)}h0" for x, y in seen)
        dense = " dense" if len(spots) > 60 else ""
        return f'<path class="points s{colour(index)}{dense}" d="{"".join(spots)}"/>'
    if series.style == "steps" and levels:
        half = 0.32 * (axes.x(1) - axes.x(0))
        strokes = "".join(f"M{at(x - half)} {at(y)}H{at(x + half)}" for x, y in seen)
        return f'<path class="line level s{colour(index)}" d="{strokes}"/>'
    if series.style == "steps":
        points = _staircase(points)
    kind = "line dashed" if series.style == "dashed" else "line"
    return f'<path class="{kind} s{colour(index)}" d="{way(points)}"/>' if seen else ""


def _staircase(points: Sequence[tuple[float, float] | None]) -> list[tuple[float, float] | None]:
    """The same value until the next point."""
    stairs: list[tuple[float, float] | None] = []
    for point in points:
        before = stairs[-1] if stairs else None
        if point is not None and before is not None:
            stairs.append((point[0], before[1]))
        stairs.append(point)
    return stairs


def _discs(axes: Frame, series: Series, index: int) -> str:
    """Points whose areas are the rows behind them."""
    largest = max((size for size in series.sizes if finite(size)), default=1) or 1
    drawn = ""
    for point, size in zip(_points(axes, series), series.sizes, strict=False):
        if point is None:
            continue
        radius = 2.5 + 9.5 * math.sqrt(max(size, 0) / largest)
        drawn += f'<circle class="disc f{colour(index)}" cx="{at(point[0])}" cy="{at(point[1])}" r="{at(radius)}"/>'
    path = "line thin" if len(series.x) > 1 else ""
    way_through = f'<path class="{path} s{colour(index)}" d="{way(_points(axes, series))}"/>' if path else ""
    return way_through + drawn


def _end_names(axes: Frame, series: Sequence[Series]) -> str:
    """The name of each line beside its last point."""
    ends = [next((p for p in reversed(_points(axes, s)) if p is not None), None) for s in series]
    shown = [(index, end) for index, end in enumerate(ends) if end is not None]
    places = spread([end[1] for _, end in shown], ROW, axes.y.stop, axes.y.start)
    longest = letters(axes.width - axes.x.stop - 12)
    drawn = ""
    for (index, end), place in zip(shown, places, strict=True):
        if abs(place - end[1]) > 3 or end[0] < axes.x.stop - 3:
            drawn += line(end[0] + 3, end[1], axes.x.stop + 6, place, "leader")
        drawn += text(axes.x.stop + 9, place + 4, series[index].name, f"series-name t{colour(index)}", longest=longest)
    return drawn


def _in_words(series: Series) -> str:
    seen = [(x, y) for x, y in zip(series.x, series.y, strict=False) if y is not None and finite(y)]
    if not seen:
        return f"{shortened(series.name, 60)}: no values."
    (x, y), (to_x, to_y) = seen[0], seen[-1]
    return f"{shortened(series.name, 60)}: {number(y, 3)} at {number(x, 3)}, {number(to_y, 3)} at {number(to_x, 3)}."


# ----------------------------------------------------------------------------------------------------- histograms


def histogram(block: Histogram, width: int, data: str = "") -> str:
    """Counts between edges, each series a filled outline over those before it."""
    values = [value for _, counts in block.series for value in counts]
    xs = reach([*block.edges, *(mark.x for mark in block.marks)])
    low, high = span(values, zero=True)
    axes = frame(width, 300 if width >= WIDE else 0.74 * width, widened(*xs, 0.01), (low, high * 1.06))
    drawn = y_axis(axes, block.y_label, 4) + x_axis(axes, block.x_label)
    for index, (_, counts) in enumerate(block.series):
        outline: list[tuple[float, float] | None] = [(axes.x(block.edges[0]), axes.y(0))] if block.edges else []
        for left, right, count in zip(block.edges, block.edges[1:], counts, strict=False):
            top = axes.y(count if finite(count) else 0)
            outline += [(axes.x(left), top), (axes.x(right), top)]
        outline += [(axes.x(block.edges[-1]), axes.y(0))] if block.edges else []
        drawn += f'<path class="heap f{colour(index)} s{colour(index)}" d="{way(outline)}"/>'
    drawn += verticals(axes, block.marks) + _bins(block, axes)
    said = f"{block.y_label} by {block.x_label}, {max(len(block.edges) - 1, 0)} intervals."
    return picture(axes.width, axes.height, block.title, said, drawn, kind=_kind(width), data=data)


def _bins(block: Histogram, axes: Frame) -> str:
    """What each interval holds, to be pointed at."""
    drawn = ""
    for place, (left, right) in enumerate(zip(block.edges, block.edges[1:], strict=False)):
        counts = [(name, counts[place]) for name, counts in block.series if place < len(counts)]
        held = "\n".join(f"{shortened(name, 60)}: {number(count)}" for name, count in counts)
        tip = f"{number(left)} to {number(right)}\n{held}"
        start, stop = axes.x(left), axes.x(right)
        drawn += bar(start, axes.y.stop, stop - start, axes.y.start - axes.y.stop, "bin", tip)
    return drawn


# ----------------------------------------------------------------------------------------------------------- bars


def bars(block: Bars, width: int, data: str = "") -> str:
    """A row for each name: its bars with whiskers and values; names stand at the left, or above where it is narrow."""
    n_series = max(len(block.series), 1)
    thick = 16.0 if n_series == 1 else 11.0
    counts = [f"n = {count:,}" for count in block.counts]
    beside = room(counts, 90.0, 0.9) + 8 if counts else 0.0
    above = width < WIDE and room((*block.names, ""), 999.0) + beside > 0.33 * width
    per_row = n_series * (thick + 1) + (ROW + 9 if above else 10)
    left = 4.0 if above else min(0.4 * width, room(block.names, 260.0) + room(counts, 90.0, 0.9) + 28)
    scale = _bar_scale(block, left, width)
    height = len(block.names) * per_row + 48
    base = height - 38
    ticks = scale.ticks(min(8, max(3, int((scale.stop - left) / 75))))
    drawn = "".join(line(scale(tick), 8, scale(tick), base, "grid") for tick in ticks)
    for tick, word in zip(ticks, tick_texts(ticks), strict=True):
        half = len(word) * LETTER / 2
        drawn += text(max(scale(tick), half), base + 16, word, "tick", "middle")
    drawn += (
        text(scale.stop, base + 33, block.x_label, "axis-name", "end", letters(width - 20)) if block.x_label else ""
    )
    names = ""
    for row, name in enumerate(block.names):
        top = 8 + row * per_row
        strong = " strong" if row in block.highlighted else ""
        count = counts[row] if row < len(counts) else ""
        kind = f"bar-name{strong}"
        names += _bar_name(name, count, top, left, width, above=above, kind=kind, thick=thick * n_series, beside=beside)
        drawn += _bars_of(block, row, top + (ROW + 3 if above else 5), thick, scale)
    drawn += line(scale(0), 6, scale(0), base, "base") + names
    return picture(width, height, block.title, _bars_in_words(block), drawn, kind=_kind(width), data=data)


def _bar_scale(block: Bars, left: float, width: float) -> Scale:
    ends = [end for row in block.intervals for pair in row if pair is not None for end in pair]
    low, high = span([*(v for _, values in block.series for v in values), *ends], zero=True)
    return Scale(low, high, left + (46 if low < 0 else 0), width - 64)


def _bar_name(
    name: str, count: str, top: float, left: float, width: float, *, above: bool, kind: str, thick: float, beside: float
) -> str:
    if above:
        written = text(4, top + 12, name, kind, longest=letters(width - 90))
        return (
            written.replace("</text>", f'<tspan class="bar-count" dx="8">{count}</tspan></text>') if count else written
        )
    middle = top + 5 + thick / 2 + 4
    return text(left - 8 - beside, middle, name, kind, "end", letters(left - 12 - beside)) + (
        text(left - 8, middle, count, "bar-count", "end") if count else ""
    )


def _bars_of(block: Bars, row: int, top: float, thick: float, scale: Scale) -> str:
    drawn = ""
    muted = " muted" if block.highlighted and row not in block.highlighted and len(block.series) == 1 else ""
    for index, (series, values) in enumerate(block.series):
        value = values[row] if row < len(values) else None
        y = top + index * (thick + 1)
        pair = block.intervals[index][row] if index < len(block.intervals) else None
        if value is None or not finite(value):
            drawn += text(scale(0) + 5, y + thick - 3, "\N{EM DASH}", "tick")
            continue
        start, stop = sorted((scale(0), scale(value)))
        told = f" ({number(pair[0], 3)} to {number(pair[1], 3)})" if pair else ""
        who = (
            f"{shortened(block.names[row], 60)}, {shortened(series, 40)}" if len(block.series) > 1 else block.names[row]
        )
        tip = f"{shortened(who, 110)}: {number(value)}{told}"
        drawn += bar(start, y, max(stop - start, 0.6), thick, f"bar f{colour(index)}{muted}", tip)
        ends = [stop if value >= 0 else start]
        if pair:
            low, high, middle = scale(pair[0]), scale(pair[1]), y + thick / 2
            caps = f"M{at(low)} {at(middle - 3)}v6m0 -3H{at(high)}m0 -3v6"
            drawn += f'<path class="whisker-bar" d="{caps}"/>'
            ends += [high if value >= 0 else low]
        place = max(ends) + 5 if value >= 0 else min(ends) - 5
        drawn += text(place, y + thick / 2 + 4, number(value, 3), "value", "start" if value >= 0 else "end")
    return drawn


def _bars_in_words(block: Bars) -> str:
    first = block.series[0][1] if block.series else ()
    shown = [
        f"{shortened(name, 40)} {number(value, 3)}"
        for name, value in list(zip(block.names, first, strict=False))[:8]
        if value is not None and finite(value)
    ]
    return f"{block.x_label}: {'; '.join(shown)}{' and others' if len(block.names) > 8 else ''}."
