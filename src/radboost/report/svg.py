"""Scales, ticks and the few shapes that charts are made of, as text of SVG.

Coordinates have one decimal. Colours are classes of the style sheet, never attributes, so that a page in the dark or in
print has its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from radboost.report.blocks import Number
from radboost.report.html import escape, shortened

LETTER = 7.0
"""Width of a letter of a label, at 12 pixels: rather too much, so that labels do not touch."""
N_COLOURS = 6


def at(value: float) -> str:
    """A coordinate."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` round numbers (1, 2 or 5 times a power of ten) within [low, high]."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((multiple * power for multiple in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    if not math.isfinite(step) or step <= 0 or low + step == low:
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
        texts = [f"{tick + 0.0:,.{decimals}f}" for tick in ticks]
        if set(texts) & {"-0", "-0.0", "-0.00"}:
            texts = [text.lstrip("-") if float(text.replace(",", "")) == 0 else text for text in texts]
    return [text.replace("e+0", "e").replace("e-0", "e-").replace("-", "\N{MINUS SIGN}") for text in texts]


def reach(values: Iterable[Number | None]) -> tuple[float, float]:
    """The range of the finite values; never empty."""
    finite = [float(value) for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    more = (abs(low) * 0.1 or 0.5) if low == high else 0.0
    return low - more, high + more


def span(values: Iterable[Number | None], *, zero: bool = False) -> tuple[float, float]:
    """The range that a vertical axis or one of bars shows: as far as 0 where that is near or `zero` asks for it."""
    finite = [float(value) for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if zero or (low > 0 and low <= 0.4 * high):
        low = min(low, 0.0)
    if zero or (high < 0 and high >= 0.4 * low):
        high = max(high, 0.0)
    return reach((low, high))


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` laid over pixels from `start` to `stop`, by their logarithms if `log`."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = (math.log10(max(v, 1e-300)) for v in (value, low, high))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, -0.05), 1.05) * (self.stop - self.start)

    def ticks(self, count: int) -> list[float]:
        """Round numbers in the range; of logarithms powers of ten, and their halves where these are few."""
        if not self.log:
            return nice_ticks(self.low, self.high, count)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        multiples = (1,) if last - first > 3 else (1, 2, 5)
        every = max(1, math.ceil((last - first) / max(count, 1)))
        powers = range(first, last + 1, every)
        found = [m * 10.0**power for power in powers for m in multiples]
        return [tick for tick in found if self.low * 0.999 <= tick <= self.high * 1.001] or [self.low]


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start", longest: int = 60) -> str:
    """Words at a place; `kind` is a class, `anchor` which end of them is there."""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{at(x)}" y="{at(y)}"{of}{side}>{escape(shortened(words, longest)) or "(empty)"}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight stroke."""
    return f'<path class="{kind}" d="M{at(x1)} {at(y1)}L{at(x2)} {at(y2)}"/>'


def bar(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    """A rectangle; `tip` is what it says when pointed at."""
    said = f"<title>{escape(tip)}</title></rect>" if tip else "</rect>"
    size = f'x="{at(x)}" y="{at(y)}" width="{at(max(width, 0))}" height="{at(max(height, 0))}"'
    return f'<rect class="{kind}" {size}>{said}'


def way(points: Iterable[tuple[float, float] | None]) -> str:
    """The data of a path through points; None interrupts it, and points on one spot are drawn once."""
    parts: list[str] = []
    pen_up, before = True, ""
    for point in points:
        if point is None:
            pen_up = True
            continue
        here = f"{at(point[0])} {at(point[1])}"
        if pen_up or here != before:
            parts.append(("M" if pen_up else "L") + here)
        pen_up, before = False, here
    return "".join(parts)


def picture(
    width: float, height: float, title: str, description: str, inside: str, *, kind: str = "", data: str = ""
) -> str:
    """An image with a name and a description for those who do not see it."""
    heading = escape(shortened(title, 200)) or "chart"
    return (
        f'<svg class="{kind}" viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}" '
        f'role="img" aria-label="{heading}. {escape(shortened(description, 600))}"{data}>'
        f"<title>{heading}</title><desc>{escape(shortened(description, 600))}</desc>{inside}</svg>"
    )


def room(words: Iterable[str], most: float, size: float = 1.0) -> float:
    """The width that the longest of some labels takes, at most `most`."""
    return min(most, max((len(word) for word in words), default=0) * LETTER * size)


def letters(width: float) -> int:
    """How many letters of a label find room in a width."""
    return max(4, int(width / LETTER))


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as possible to the wanted ones that are `gap` apart, for labels beside one another."""
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    places = [0.0] * len(wanted)
    floor = low
    for index in order:
        places[index] = max(min(wanted[index], high), floor)
        floor = places[index] + gap
    ceiling = high
    for index in reversed(order):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places
