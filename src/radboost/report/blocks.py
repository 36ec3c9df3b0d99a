"""Blocks of a report: plain values that are JSON as they stand.

Sections compute blocks, the page draws them, and neither knows the other. Every text is plain text: the page escapes
it. Numbers are finite; an unknown one is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Number = float | int
Cell = str | float | int | None


@dataclass(frozen=True)
class Text:
    """Paragraphs; a note, a warning or a success stands in a colored box."""

    paragraphs: tuple[str, ...]
    tone: Literal["plain", "note", "warning", "good"] = "plain"


@dataclass(frozen=True)
class CellTable:
    """Rows of cells under names of columns; None is shown as a dash."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    highlighted: tuple[int, ...] = ()
    """Indices of rows that stand out."""
    bars: tuple[int, ...] = ()
    """Indices of columns whose numbers are drawn as bars, too, on one scale."""


@dataclass(frozen=True)
class Series:
    """Points of one color, with an interval of each where `low` and `high` are given.

    Points are connected by straight lines or, as levels up to the next point, by "steps".
    """

    name: str
    x: tuple[Number, ...]
    y: tuple[Number | None, ...]
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()
    style: Literal["line", "points", "steps"] = "line"
    sizes: tuple[Number, ...] = ()
    """Rows behind each point: the areas of discs."""


@dataclass(frozen=True)
class Mark:
    """Vertical line with a word beside it."""

    x: Number
    label: str


@dataclass(frozen=True)
class LineChart:
    """Series in one pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    diagonal: bool = False
    """Draw y = x for comparison."""
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Text to copy."""

    text: str


@dataclass(frozen=True)
class SideBySide:
    """Blocks beside each other where the page is wide, one below the other where it is not."""

    blocks: tuple[Block, ...]


Block = Text | CellTable | LineChart | Code | SideBySide


@dataclass(frozen=True)
class Figure:
    """Number of the verdict: its name, its value as text, a comparison, and whether it is good."""

    name: str
    value: str
    detail: str = ""
    tone: Literal["plain", "good", "warning"] = "plain"


@dataclass(frozen=True)
class Section:
    """Part of the page with a heading; `lead` is one sentence that sums it up."""

    name: str
    """Identifier of the section in the page and in its address."""
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """Verdict in one sentence with a few figures, then sections."""

    title: str
    subtitle: str
    verdict: str
    verdict_tone: Literal["plain", "good", "warning"]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    """Names with values: versions, seed, hashes of the rows."""
