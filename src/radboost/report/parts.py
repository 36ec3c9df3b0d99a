"""Blocks as pieces of HTML, all but the explorer of thresholds. What JavaScript adds to them is there without it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from radboost.report.blocks import (
    Bars,
    Cell,
    Code,
    Confusion,
    Histogram,
    Lines,
    Number,
    RowCard,
    RowCards,
    Step,
    Table,
    Text,
)
from radboost.report.charts import COLUMN, NARROW, WIDE, bars, colour, histogram, lines, named_at_ends
from radboost.report.html import NOTHING, column, escape, name, number, shortened
from radboost.report.svg import at

WORDS = {"note": "Note", "warning": "Warning", "good": "Good"}
LONGEST_TEXT = 3000
"""Characters of a paragraph that are shown."""
TALL = 24
"""Rows of a table above which it scrolls inside its place on the screen."""

WORDY = 30
"""Letters of a cell above which its column keeps a width that is good to read."""
FEW = 3
"""Columns up to which a table is no wider than they need."""


def prose(block: Text) -> str:
    """Paragraphs, in a box that says what it is unless they are plain."""
    inside = "".join(
        f'<p dir="auto">{escape(shortened(paragraph, LONGEST_TEXT))}</p>' for paragraph in block.paragraphs
    )
    if block.tone == "plain":
        return f'<div class="prose">{inside}</div>'
    return f'<div class="box {block.tone}" role="note"><p class="box-word">{WORDS[block.tone]}</p>{inside}</div>'


def caption(text: str, tag: str = "figcaption") -> str:
    """What a chart or table shows, below it."""
    return f'<{tag} class="caption" dir="auto">{escape(shortened(text, LONGEST_TEXT))}</{tag}>' if text else ""


def chart(block: Lines | Histogram | Bars, place: str, *, in_column: bool) -> str:
    """A chart with its title, legend and caption; twice where it fills the page, for wide pages and for phones."""
    widths = (COLUMN,) if in_column else (WIDE, NARROW)
    data = f' data-block="{place}"'
    if isinstance(block, Lines):
        drawn = "".join(lines(block, width, data) for width in widths)
        names = [series.name for series in block.series]
        only_narrow = named_at_ends(block, widths[0])
    elif isinstance(block, Histogram):
        drawn = "".join(histogram(block, width) for width in widths)
        names, only_narrow = [series for series, _ in block.series], False
    else:
        drawn = "".join(bars(block, width) for width in widths)
        names, only_narrow = [series for series, _ in block.series], False
    legend = _legend(names, block, only_narrow=only_narrow)
    title = f'<p class="chart-title" dir="auto">{escape(shortened(block.title, 200))}</p>' if block.title else ""
    return f'<figure class="figure">{title}{legend}{drawn}{caption(block.caption)}</figure>'


def key(place: int, style: str = "line") -> str:
    """A small picture of what a series is drawn with: a style of lines, or "filled"."""
    drawn = f'<path class="{"line dashed" if style == "dashed" else "line"} s{colour(place)}" d="M1 5H17"/>'
    if style == "filled":
        drawn = f'<rect class="bar f{colour(place)}" x="4" y="0" width="10" height="10"/>'
    elif style == "points":
        drawn = f'<path class="points s{colour(place)}" d="M9 5h0"/>'
    return f'<svg class="key" viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">{drawn}</svg>'


def _legend(names: Sequence[str], block: Lines | Histogram | Bars, *, only_narrow: bool) -> str:
    """The names of the series with their colours; one that says no more than the title or an axis is left out."""
    said = f"{block.title}\n{block.x_label if isinstance(block, Bars) else block.y_label}".casefold()
    if not names or (len(names) == 1 and names[0].casefold() in said):
        return ""
    styles = [series.style for series in block.series] if isinstance(block, Lines) else ["filled"] * len(names)
    entries = "".join(f"<li>{key(place, styles[place])}{name(series, 60)}</li>" for place, series in enumerate(names))
    return f'<ul class="legend{" narrow" if only_narrow else ""}">{entries}</ul>'


_QUANTITY = re.compile(r"([-+\N{MINUS SIGN}]?)(\d[\d,]*(?:\.\d+)?) ?%?")


def quantity(cell: Cell) -> float | None:
    """The number that a cell is or, as in "12.5%", says; None of other texts."""
    if not isinstance(cell, str):
        return None if cell is None else float(cell)
    said = _QUANTITY.fullmatch(cell)
    if said is None:
        return None
    return float(said[2].replace(",", "")) * (-1 if said[1] in ("-", "\N{MINUS SIGN}") else 1)


def _cell(cell: Cell, shown: str, *, head: bool, numeric: bool) -> str:
    """A cell; a text that says a number stands and sorts as one where the whole column does."""
    if cell is None:
        return f'<td class="none">{NOTHING}</td>'
    if numeric or not isinstance(cell, str):
        value = quantity(cell) or 0.0
        return f'<td class="number" data-v="{value!r}">{escape(cell if isinstance(cell, str) else shown)}</td>'
    inside = name(cell) if cell else ""
    wordy = ' class="wordy"' if len(cell) > WORDY else ""
    return f'<th scope="row">{inside}</th>' if head else f"<td{wordy}>{inside}</td>"


def table(block: Table) -> str:
    """A table whose numbers line up; long ones scroll on the screen and are whole in print."""
    by_column = [
        [row[place] if place < len(row) else None for row in block.rows] for place in range(len(block.columns))
    ]
    shown = [column(cells, block.digits) for cells in by_column]
    numeric = [
        all(cell is None or quantity(cell) is not None or cell == "none" for cell in cells)
        and (place > 0 or not any(isinstance(cell, str) for cell in cells))
        for place, cells in enumerate(by_column)
    ]
    head = "".join(
        f'<th scope="col"{" class=number" if numeric[place] else ""}>{name(title, 80)}</th>'
        for place, title in enumerate(block.columns)
    )
    body = ""
    for row in range(len(block.rows)):
        cells = "".join(
            _cell(by_column[place][row], shown[place][row], head=place == 0, numeric=numeric[place])
            for place in range(len(block.columns))
        )
        body += f"<tr{' class=strong' if row in block.highlighted else ''}>{cells}</tr>"
    tall = (" tall" if len(block.rows) > TALL else "") + (" few" if len(block.columns) <= FEW else "")
    return (
        f'<figure class="figure"><div class="scroll ruled{tall}" tabindex="0" role="group" aria-label="table">'
        f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{caption(block.caption)}</figure>"
    )


def shade(count: Number, total: Number) -> int:
    """How strongly a cell is coloured, 0 to 8: by its share of the row, roots so that small shares are seen."""
    if not total or count <= 0:
        return 0
    return max(1, min(8, math.ceil(8 * math.sqrt(count / total))))


def confusion(block: Confusion) -> str:
    """Counts with the share of each true class; the diagonal has one colour, errors another."""
    classes, counts = block.classes, block.counts
    rows = [sum(row) for row in counts]
    columns = [sum(row[place] for row in counts) for place in range(len(classes))]
    dense = " dense" if len(classes) > 8 else ""
    head = "".join(f'<th scope="col">{name(label, 24)}</th>' for label in classes)
    body = ""
    for true, label in enumerate(classes):
        cells = "".join(
            f'<td class="number {"hit" if true == answer else "miss"}{shade(count, rows[true])}">{number(count)}'
            + (f"<small>{100 * count / rows[true]:.0f} %</small>" if rows[true] and not dense else "")
            + "</td>"
            for answer, count in enumerate(counts[true])
        )
        body += f'<tr><th scope="row">{name(label, 24)}</th>{cells}{_share(counts[true][true], rows[true])}</tr>'
    foot = "".join(_share(counts[place][place], columns[place]) for place in range(len(classes)))
    right = sum(counts[place][place] for place in range(len(classes)))
    return (
        f'<figure class="figure"><div class="scroll" tabindex="0" role="group" aria-label="confusion">'
        f'<table class="confusion{dense}"><thead><tr><td class="corner">true <span aria-hidden="true">&darr;</span> '
        f'predicted <span aria-hidden="true">&rarr;</span></td>{head}<th scope="col" class="sum">recall</th></tr>'
        f'</thead><tbody>{body}</tbody><tfoot><tr><th scope="row" class="sum">precision</th>{foot}'
        f"{_share(right, sum(rows))}</tr></tfoot></table></div>{caption(block.caption)}</figure>"
    )


def _share(part: Number, whole: Number) -> str:
    return f'<td class="number sum">{100 * part / whole:.1f} %</td>' if whole else f'<td class="sum">{NOTHING}</td>'


def cards(block: RowCards) -> str:
    """One line for each row, which opens."""
    opened = "".join(_card(card) for card in block.cards)
    return (
        f'<div class="cards"><p class="js-only"><button type="button" class="quiet" data-open-all>Open all</button></p>'
        f"{opened}{caption(block.caption, 'p')}</div>"
    )


def _card(card: RowCard) -> str:
    wrong = "" if card.truth == card.answer else " wrong"
    cells = "".join(f"<div><dt>{name(key, 60)}</dt><dd>{name(value, 120)}</dd></div>" for key, value in card.cells)
    largest = max(
        (abs(step.value) for step in card.steps if step.value is not None and math.isfinite(step.value)), default=0
    )
    steps = "".join(_step(step, largest) for step in card.steps)
    return (
        f'<details class="card{wrong}"><summary><span class="card-name">{name(card.name, 60)}</span>'
        f'<span class="card-truth"><small>truth</small> {name(card.truth, 40)}</span>'
        f'<span class="card-answer"><small>answer</small> {name(card.answer, 40)}</span>'
        f'<span class="card-certainty">{name(card.certainty, 60) if card.certainty else ""}</span></summary>'
        + (f'<dl class="cells">{cells}</dl>' if cells else "")
        + (f'<ol class="steps">{steps}</ol>' if steps else "")
        + "</details>"
    )


def _step(step: Step, largest: float) -> str:
    """A reason, with a bar to the right where it raised the score and to the left where it lowered it."""
    drawn, told = "", ""
    if step.value is not None and math.isfinite(step.value):
        reach = 50 * abs(step.value) / largest if largest else 0.0
        start = 52 if step.value >= 0 else 52 - reach
        kind = "up" if step.value >= 0 else "down"
        drawn = (
            f'<svg class="reach" viewBox="0 0 104 12" width="104" height="12" aria-hidden="true">'
            f'<rect class="{kind}" x="{at(start)}" y="2" width="{at(max(reach, 0.5))}" height="8"/>'
            f'<path class="base" d="M52 0V12"/></svg>'
        )
        sign = "+" if step.value > 0 else ""
        told = f"{sign}{number(float(step.value), 3)}"
    words = f'<span dir="auto">{name(step.text, 240)}</span>'
    return f'<li>{words}<span class="step-value">{told}</span>{drawn}</li>'


def code(block: Code) -> str:
    """Something to copy."""
    return (
        f'<div class="code"><button type="button" class="quiet js-only" data-copy>Copy</button>'
        f'<pre tabindex="0"><code data-language="{escape(block.language)}">{escape(block.text)}</code></pre></div>'
    )
