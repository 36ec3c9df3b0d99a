"""A pair of axes: where numbers stand in a chart, its grid, the names of its ticks and its marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from radboost.report.blocks import Mark
from radboost.report.svg import LETTER, Scale, at, letters, line, room, text, tick_texts

ROW = 15.0
"""Height of a line of labels."""


@dataclass(frozen=True)
class Frame:
    """A chart's size, and the rectangle inside it in which the data lies, with its two scales."""

    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def data(self) -> str:
        """The same as attributes, from which the page finds the numbers under a pointer."""
        x, y = self.x, self.y
        pixels = " ".join(at(value) for value in (x.start, x.stop, y.stop, y.start))
        numbers = " ".join(repr(float(value)) for value in (x.low, x.high, y.low, y.high))
        return f' data-frame="{pixels}" data-range="{numbers}" data-log="{int(x.log)}"'


def frame(
    width: float,
    height: float,
    x: tuple[float, float],
    y: tuple[float, float],
    *,
    log_x: bool = False,
    right: float = 14.0,
    top: float = 30.0,
    bottom: float = 40.0,
) -> Frame:
    """Axes with room for the names of the ticks at the left."""
    names = tick_texts(Scale(*y, 0, 1).ticks(5))
    left = max(30.0, room(names, 90.0) + 10.0)
    return Frame(width, height, Scale(*x, left, width - right, log_x), Scale(*y, height - bottom, top))


def widened(low: float, high: float, share: float = 0.04) -> tuple[float, float]:
    """A range with some room at its ends, none at an end that is 0 or 1: shares end there."""
    more = share * (high - low)
    return (low if low in (0.0, 1.0) else low - more), (high if high in (0.0, 1.0) else high + more)


def y_axis(axes: Frame, label: str, count: int = 5) -> str:
    """Muted lines at round numbers, with their names at the left; what they count above."""
    ticks = axes.y.ticks(count)
    drawn = "".join(line(axes.x.start, axes.y(tick), axes.x.stop, axes.y(tick), "grid") for tick in ticks)
    names = tick_texts(ticks)
    drawn += "".join(
        text(axes.x.start - 8, axes.y(tick) + 4, word, "tick", "end") for tick, word in zip(ticks, names, strict=True)
    )
    return drawn + text(2, 12, label, "axis-name", longest=letters(axes.width * 0.7)) if label else drawn


def x_axis(axes: Frame, label: str, *, below: float = 0.0) -> str:
    """The line at the bottom with its ticks, `below` it room for a rug, and what the numbers are."""
    count = min(8, max(3, int((axes.x.stop - axes.x.start) / 75)))
    base = axes.y.start + below
    ticks = axes.x.ticks(count)
    drawn = line(axes.x.start, axes.y.start, axes.x.stop, axes.y.start, "base")
    names = [tick_texts([tick])[0] for tick in ticks] if axes.x.log else tick_texts(ticks)
    after = -math.inf
    for tick, word in zip(ticks, names, strict=True):
        place = axes.x(tick)
        half = len(word) * LETTER / 2
        if place - half < after:
            continue
        after = place + half + 4
        drawn += line(place, axes.y.start, place, axes.y.start + 4, "base")
        drawn += text(min(place, axes.width - half + 2), base + 17, word, "tick", "middle")
    return drawn + x_name(axes, label, base + 33)


def x_name(axes: Frame, label: str, y: float) -> str:
    """What the horizontal axis shows, below its right end."""
    longest = letters(axes.x.stop - axes.x.start + 20)
    return text(axes.x.stop, y, label, "axis-name", "end", longest) if label else ""


def leaning(names: Sequence[str], width: float) -> bool:
    """Whether the names of categories are too wide to stand side by side."""
    return bool(names) and max(len(name) for name in names) * LETTER + 8 > width / len(names)


def category_axis(axes: Frame, names: Sequence[str], label: str, *, below: float = 0.0) -> str:
    """Names at 0, 1, ...; they lean where they are long, and some are left out where they are too many."""
    base = axes.y.start + below
    drawn = line(axes.x.start, axes.y.start, axes.x.stop, axes.y.start, "base")
    width = axes.x.stop - axes.x.start
    lean = leaning(names, width)
    every = max(1, math.ceil(len(names) * 16.0 / width)) if lean else 1
    for index in range(0, len(names), every):
        place = axes.x(index)
        drawn += line(place, axes.y.start, place, axes.y.start + 4, "base")
        if lean:
            word = text(0, 0, names[index], "tick", "end", 12)
            drawn += f'<g transform="translate({at(place + 4)} {at(base + 14)}) rotate(-40)">{word}</g>'
        else:
            drawn += text(place, base + 17, names[index], "tick", "middle")
    return drawn + x_name(axes, label, axes.height - 5)


def verticals(axes: Frame, marks: Sequence[Mark]) -> str:
    """Dashed lines with their words at the top, in rows where they would touch."""
    ends: list[float] = []
    drawn = ""
    for mark in sorted(marks, key=lambda mark: (mark.x, mark.label)):
        place = axes.x(mark.x)
        word = mark.label[:40]
        length = len(word) * LETTER
        left = place + 5 if place + 5 + length <= axes.width else max(2.0, place - 5 - length)
        row = next((row for row, end in enumerate(ends) if left > end), len(ends))
        ends[row : row + 1] = [left + length + 6]
        drawn += line(place, axes.y.stop - 4, place, axes.y.start, "mark")
        height = axes.y.stop + 8 + row * ROW
        if left > place:
            drawn += text(left, height, mark.label, "mark-name", longest=40)
        else:
            drawn += text(place - 5, height, mark.label, "mark-name", "end", 40)
    return drawn
