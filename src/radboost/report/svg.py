"""Charts as SVG: lines and points, drawn at a width in pixels.

Coordinates have one decimal. Colors are classes of the style sheet, never attributes: the dark page has its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from radboost.report.blocks import LineChart, Mark, Number, Series
from radboost.report.html import escape, shortened

# Widths: of the page, of one of two columns, of a phone.
WIDE, COLUMN, NARROW = 860, 400, 360
CHARACTER = 7.0  # width of a character of a label at 12 pixels, rather too much, so that labels do not touch
ROW = 15.0  # height of a row of labels
N_COLORS = 6

Point = tuple[float, float]
Range = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """Map of numbers from `low` to `high` to pixels from `start` to `stop`."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + min(max(part, -0.05), 1.05) * (self.stop - self.start)


@dataclass(frozen=True)
class Frame:
    """Size of a chart in pixels, and its two scales."""

    width: float
    height: float
    x: Scale
    y: Scale


def line_chart(block: LineChart, width: int) -> str:
    """Lines, points and discs over one axis of numbers."""
    xs, ys = _ranges(block)
    wide = width >= WIDE
    height = (440 if wide else 0.92 * width) if block.diagonal and xs == ys else (320 if wide else 0.74 * width)
    left = 10.0 + CHARACTER * max(3, *(len(word) for word in tick_texts(nice_ticks(*ys))))
    frame = Frame(width, height, Scale(*xs, left, width - 14.0), Scale(*ys, height - 40.0, 30.0))
    drawn = _y_axis(frame, block.y_label) + _x_axis(frame, block.x_label)
    if block.diagonal:
        low, high = max(xs[0], ys[0]), min(xs[1], ys[1])
        drawn += _stroke(frame.x(low), frame.y(low), frame.x(high), frame.y(high), "diagonal")
    drawn += "".join(_whiskers(frame, series, index) for index, series in enumerate(block.series))
    drawn += _marks(frame, block.marks)
    drawn += "".join(_series(frame, series, index) for index, series in enumerate(block.series))
    kind = {WIDE: "chart wide", NARROW: "chart narrow"}.get(width, "chart")
    words = escape(shortened(f"{block.title}: {block.y_label} against {block.x_label}.", 600))
    size = f'viewBox="0 0 {_at(width)} {_at(height)}" width="{_at(width)}" height="{_at(height)}"'
    return f'<svg class="{kind}" {size} role="img" aria-label="{words}">{drawn}</svg>'


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` multiples of 1, 2 or 5 times a power of ten within [low, high]."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((multiple * power for multiple in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    # Multiples of a step that is hardly above the spacing of floats would be equal, or outside of the range.
    if not math.isfinite(step) or step <= 1e-12 * max(abs(low), abs(high)):
        return [low, high]
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Names of ticks, with as many decimals as their distance needs; large and tiny ones in powers of ten."""
    if not ticks:
        return []
    gap = min((b - a for a, b in pairwise(ticks)), default=abs(ticks[0]) or 1.0)
    largest = max(abs(tick) for tick in ticks)
    if largest >= 1e6 or (0 < largest < 1e-3) or gap <= 0:
        texts = [f"{tick:.3g}" for tick in ticks]
    else:
        decimals = max(0, -math.floor(math.log10(gap) + 1e-9))
        texts = [f"{0.0 if abs(tick) < gap / 2 else tick:,.{decimals}f}" for tick in ticks]
    return [text.replace("e+0", "e").replace("e-0", "e-").replace("-", "\N{MINUS SIGN}") for text in texts]


def span(values: Iterable[Number | None], *, from_zero: bool = False) -> Range:
    """Range of the finite values, never empty; with `from_zero` as far as 0 where that is near."""
    finite = [float(value) for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if from_zero and 0.0 < low <= 0.4 * high:
        low = 0.0
    if from_zero and 0.4 * low <= high < 0.0:
        high = 0.0
    more = (abs(low) * 0.1 or 0.5) if low == high else 0.0
    return low - more, high + more


def path(points: Iterable[Point | None]) -> str:
    """Data of a path through points; None interrupts it, and neighbors in one spot are drawn once."""
    parts: list[str] = []
    pen_up, before = True, ""
    for point in points:
        if point is None:
            pen_up = True
            continue
        here = f"{_at(point[0])} {_at(point[1])}"
        if pen_up or here != before:
            parts.append(("M" if pen_up else "L") + here)
        pen_up, before = False, here
    return "".join(parts)


def _ranges(block: LineChart) -> tuple[Range, Range]:
    """Ranges of the two axes: equal with a diagonal, 0 to 1 for fractions that fill most of it."""
    ys = span((v for series in block.series for v in (*series.y, *series.low, *series.high)), from_zero=True)
    xs = span([*(x for series in block.series for x in series.x), *(mark.x for mark in block.marks)])
    if block.diagonal and all(-1e-9 <= end <= 1 + 1e-9 for end in (*xs, *ys)):
        return (0.0, 1.0), (0.0, 1.0)
    if block.diagonal:
        both = _widened(min(xs[0], ys[0]), max(xs[1], ys[1]))
        return both, both
    return _widened(*xs, 0.015), (0.0, 1.0) if 0 <= ys[0] < 0.4 and 0.75 < ys[1] <= 1 else _widened(*ys)


def _widened(low: float, high: float, fraction: float = 0.04) -> Range:
    """Range with some room at its ends, none at an end that is 0 or 1, where fractions end."""
    more = fraction * (high - low)
    return (low if low in (0.0, 1.0) else low - more), (high if high in (0.0, 1.0) else high + more)


def _y_axis(frame: Frame, label: str) -> str:
    ticks = nice_ticks(frame.y.low, frame.y.high)
    drawn = "".join(_stroke(frame.x.start, frame.y(tick), frame.x.stop, frame.y(tick), "grid") for tick in ticks)
    for tick, word in zip(ticks, tick_texts(ticks), strict=True):
        drawn += _text(frame.x.start - 8, frame.y(tick) + 4, word, "tick", "end")
    return drawn + _text(2, 12, label, "axis-name", longest=_fitting(frame.width * 0.7))


def _x_axis(frame: Frame, label: str) -> str:
    base, scale = frame.y.start, frame.x
    ticks = nice_ticks(scale.low, scale.high, min(8, max(3, int((scale.stop - scale.start) / 75))))
    drawn = _stroke(scale.start, base, scale.stop, base, "base")
    after = -math.inf
    for tick, word in zip(ticks, tick_texts(ticks), strict=True):
        half = len(word) * CHARACTER / 2
        if scale(tick) - half < after:
            continue
        after = scale(tick) + half + 4
        drawn += _stroke(scale(tick), base, scale(tick), base + 4, "base")
        drawn += _text(min(scale(tick), frame.width - half + 2), base + 17, word, "tick", "middle")
    return drawn + _text(scale.stop, base + 33, label, "axis-name", "end", _fitting(scale.stop - scale.start + 20))


def _marks(frame: Frame, marks: Sequence[Mark]) -> str:
    drawn = ""
    for row, mark in enumerate(sorted(marks, key=lambda mark: (mark.x, mark.label))):
        x, y = frame.x(mark.x), frame.y.stop + 8 + row * ROW
        is_left = x + 5 + len(mark.label[:40]) * CHARACTER > frame.width
        drawn += _stroke(x, frame.y.stop - 4, x, frame.y.start, "mark")
        drawn += _text(x - 5 if is_left else x + 5, y, mark.label, "mark-name", "end" if is_left else "start", 40)
    return drawn


def _points(frame: Frame, series: Series) -> list[Point | None]:
    return [
        (frame.x(x), frame.y(y)) if _is_finite(x) and y is not None and _is_finite(y) else None
        for x, y in zip(series.x, series.y, strict=False)
    ]


def _whiskers(frame: Frame, series: Series, index: int) -> str:
    rows = zip(series.x, series.low, series.high, strict=False)
    strokes = "".join(
        f"M{_at(frame.x(x))} {_at(frame.y(low))}V{_at(frame.y(high))}"
        for x, low, high in rows
        if _is_finite(x) and _is_finite(low) and _is_finite(high)
    )
    return f'<path class="whisker s{index % N_COLORS}" d="{strokes}"/>' if strokes else ""


def _series(frame: Frame, series: Series, index: int) -> str:
    points, color = _points(frame, series), index % N_COLORS
    seen = [point for point in points if point is not None]
    if series.sizes:
        largest = max((size for size in series.sizes if _is_finite(size)), default=1) or 1
        radii = [2.5 + 9.5 * math.sqrt(max(size, 0) / largest) for size in series.sizes]
        return "".join(
            f'<circle class="disc f{color}" cx="{_at(point[0])}" cy="{_at(point[1])}" r="{_at(radius)}"/>'
            for point, radius in zip(points, radii, strict=False)
            if point is not None
        )
    if series.style == "points" or len(seen) == 1:
        spots = dict.fromkeys(f"M{_at(x)} {_at(y)}h0" for x, y in seen)
        dense = " dense" if len(spots) > 60 else ""
        return f'<path class="points s{color}{dense}" d="{"".join(spots)}"/>'
    if series.style == "steps":
        points = [corner for one, two in pairwise(seen) for corner in (one, (two[0], one[1]))]
        points += seen[-1:]
    return f'<path class="line s{color}" d="{path(points)}"/>' if seen else ""


def _is_finite(value: Number | None) -> bool:
    return value is not None and math.isfinite(value)


def _at(value: float) -> str:
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _fitting(width: float) -> int:
    """Characters of a label that fit into a width."""
    return max(4, int(width / CHARACTER))


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start", longest: int = 60) -> str:
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_at(x)}" y="{_at(y)}" class="{kind}"{side}>{escape(shortened(words, longest))}</text>'


def _stroke(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{_at(x1)} {_at(y1)}L{_at(x2)} {_at(y2)}"/>'
