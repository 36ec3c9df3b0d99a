"""What a report says, before it is a page: sections of blocks, each a plain value that is JSON as it stands.

The sections compute blocks, the page draws them, and neither knows the other. Every text is plain text: the page
escapes it. Numbers are finite; what is not known is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Number = float | int
Cell = str | float | int | None


@dataclass(frozen=True)
class Text:
    """Paragraphs; a note, a warning or a success stands in a coloured box."""

    paragraphs: tuple[str, ...]
    tone: Literal["plain", "note", "warning", "good"] = "plain"


@dataclass(frozen=True)
class Table:
    """Rows of cells under names of columns; numbers are shown with `digits` significant ones, None as a dash."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    highlighted: tuple[int, ...] = ()
    """Rows that stand out, by their places."""
    digits: int = 4


@dataclass(frozen=True)
class Series:
    """A line: points, and a band around them where `low` and `high` are given."""

    name: str
    x: tuple[Number, ...]
    y: tuple[Number | None, ...]
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()
    style: Literal["line", "dashed", "points", "steps"] = "line"
    sizes: tuple[Number, ...] = ()
    """Rows behind each point of a series of points: the areas of the discs, and said in words beside them."""


@dataclass(frozen=True)
class Mark:
    """A vertical line with a word beside it: the chosen round, a threshold, the mean."""

    x: Number
    label: str


@dataclass(frozen=True)
class Lines:
    """Lines in one pair of axes: learning, ROC, precision and recall, reliability, dependence, error against size."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    rug: tuple[Number, ...] = ()
    """Short strokes below the axis: where rows are."""
    ticks: tuple[str, ...] = ()
    """Names of x = 0, 1, ...: the axis is one of categories."""
    log_x: bool = False
    diagonal: bool = False
    """Draw y = x for comparison."""
    caption: str = ""


@dataclass(frozen=True)
class Histogram:
    """Counts or weights between edges; several series lie over one another."""

    title: str
    x_label: str
    y_label: str
    edges: tuple[Number, ...]
    series: tuple[tuple[str, tuple[Number, ...]], ...]
    """Names with one value for each interval of `edges`."""
    marks: tuple[Mark, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Bars:
    """A horizontal bar for each name, grouped where there are several series; whiskers where intervals are given."""

    title: str
    x_label: str
    names: tuple[str, ...]
    series: tuple[tuple[str, tuple[Number | None, ...]], ...]
    intervals: tuple[tuple[tuple[Number, Number] | None, ...], ...] = ()
    """For each series and name: low and high."""
    highlighted: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    """Rows behind each name, shown beside it."""
    caption: str = ""


@dataclass(frozen=True)
class Confusion:
    """Counts of true classes (rows) by predicted ones (columns)."""

    classes: tuple[str, ...]
    counts: tuple[tuple[Number, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class ThresholdExplorer:
    """Two classes: what happens at each threshold of the probability of `positive`; sliders for it and for the costs.

    `thresholds` rises; the others have one value for each: rows of the positive class above it, and so on. The page
    shows confusion, error, precision, recall and mean cost at the slider, and finds the threshold of least cost for
    the ratio of costs that the other slider says.
    """

    positive: str
    negative: str
    thresholds: tuple[float, ...]
    true_positive: tuple[Number, ...]
    false_positive: tuple[Number, ...]
    false_negative: tuple[Number, ...]
    true_negative: tuple[Number, ...]
    initial: float = 0.5
    caption: str = ""


@dataclass(frozen=True)
class Step:
    """A reason of one answer: what holds of the row, and how far it moved the score."""

    text: str
    value: float | None


@dataclass(frozen=True)
class RowCard:
    """One row: its name, its truth and answer, some of its cells, and the steps that explain the answer."""

    name: str
    truth: str
    answer: str
    certainty: str
    cells: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class RowCards:
    """Several rows, each of which opens on demand."""

    cards: tuple[RowCard, ...]
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Something to copy; `language` is python, console or json."""

    text: str
    language: str = "python"


@dataclass(frozen=True)
class Tabs:
    """Groups of blocks of which one is shown at a time; in print all are."""

    tabs: tuple[tuple[str, tuple[Block, ...]], ...]


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where the page is wide, one below the other where it is not."""

    blocks: tuple[Block, ...]


Block = Text | Table | Lines | Histogram | Bars | Confusion | ThresholdExplorer | RowCards | Code | Tabs | Columns


@dataclass(frozen=True)
class Figure:
    """A number of the verdict: its name, its value as text, what it is compared with, and whether it is good."""

    name: str
    value: str
    detail: str = ""
    tone: Literal["plain", "good", "warning"] = "plain"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading; `lead` is the one sentence that says what is to be seen in it."""

    name: str
    """Lower case with dashes; the anchor of the section."""
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """All of it: a verdict in one sentence with a few figures, then sections."""

    title: str
    subtitle: str
    verdict: str
    verdict_tone: Literal["plain", "good", "warning"]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    """Names with values for the foot: versions, seed, hash of the data, time."""
