"""Blocks of a report as HTML; nothing in it needs JavaScript to be read."""

from __future__ import annotations

import math
import re
from functools import singledispatch

from radboost.report.blocks import Cell, CellTable, Code, LineChart, SideBySide, Text
from radboost.report.html import NOTHING, column, escape, name, shortened
from radboost.report.svg import COLUMN, N_COLORS, NARROW, WIDE, line_chart

LONGEST_TEXT = 3000  # characters of a paragraph that are shown
TALL = 24  # rows of a table above which it scrolls on the screen
WORDY = 30  # characters of a cell above which its column keeps a width that is good to read
FEW = 3  # columns up to which a table is no wider than they need
_QUANTITY = re.compile(r"[-+\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)? ?%?")


@singledispatch
def as_html(block: object, *, in_column: bool = False) -> str:
    """Block as HTML; `in_column` where it has half the width of the page."""
    raise TypeError(f"A report has no block of type {type(block).__name__}.")


@as_html.register
def _text(block: Text, *, in_column: bool = False) -> str:
    inside = "".join(
        f'<p dir="auto">{escape(shortened(paragraph, LONGEST_TEXT))}</p>' for paragraph in block.paragraphs
    )
    if block.tone == "plain":
        return f'<div class="prose">{inside}</div>'
    return f'<div class="box {block.tone}" role="note"><p class="box-word">{block.tone.capitalize()}</p>{inside}</div>'


@as_html.register
def _code(block: Code, *, in_column: bool = False) -> str:
    return f'<pre tabindex="0"><code>{escape(block.text)}</code></pre>'


@as_html.register
def _side_by_side(block: SideBySide, *, in_column: bool = False) -> str:
    return f'<div class="columns">{"".join(as_html(one, in_column=True) for one in block.blocks)}</div>'


@as_html.register
def _chart(block: LineChart, *, in_column: bool = False) -> str:
    """Chart with title, legend and caption; twice where it fills the page, for wide pages and for phones."""
    drawn = "".join(line_chart(block, width) for width in ((COLUMN,) if in_column else (WIDE, NARROW)))
    names = [series.name for series in block.series]
    legend = ""
    if len(names) > 1 or (names and names[0].casefold() not in f"{block.title}\n{block.y_label}".casefold()):
        key = '<svg class="key" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true"><rect class="f{}" '
        entries = "".join(
            f'<li>{key.format(index % N_COLORS)}width="10" height="10"/></svg>{name(one, 60)}</li>'
            for index, one in enumerate(names)
        )
        legend = f'<ul class="legend">{entries}</ul>'
    title = f'<p class="chart-title" dir="auto">{escape(shortened(block.title, 200))}</p>' if block.title else ""
    return f'<figure class="figure">{title}{legend}{drawn}{_caption(block.caption)}</figure>'


@as_html.register
def _table(block: CellTable, *, in_column: bool = False) -> str:
    by_column = [
        [row[index] if index < len(row) else None for row in block.rows] for index in range(len(block.columns))
    ]
    shown = [column(cells) for cells in by_column]
    numeric = [_is_numeric(cells, index) for index, cells in enumerate(by_column)]
    head = "".join(
        f'<th scope="col"{" class=number" if numeric[index] else ""}>{name(title, 80)}</th>'
        for index, title in enumerate(block.columns)
    )
    drawn = [_bar(cell) for index in block.bars for cell in by_column[index]]
    low, high = min((0.0, *drawn)), max((0.0, *drawn))
    body = ""
    for row in range(len(block.rows)):
        cells = ""
        for index in range(len(block.columns)):
            cell, bar = by_column[index][row], ""
            if index in block.bars and low < high:
                start, stop = (100 * (end - low) / (high - low) for end in sorted((0.0, _bar(cell))))
                color = block.bars.index(index) % N_COLORS
                bar = (
                    '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
                    f'<rect class="f{color}" x="{start:.1f}" width="{max(stop - start, 0.5):.1f}" height="10"/></svg>'
                )
            cells += _cell(cell, shown[index][row], bar, is_head=index == 0, numeric=numeric[index])
        body += f"<tr{' class=strong' if row in block.highlighted else ''}>{cells}</tr>"
    kind = (" tall" if len(block.rows) > TALL else "") + (" few" if len(block.columns) <= FEW else "")
    return (
        f'<figure class="figure"><div class="scroll ruled{kind}" tabindex="0" role="group" aria-label="table">'
        f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{_caption(block.caption)}</figure>"
    )


def _is_numeric(cells: list[Cell], index: int) -> bool:
    """True if all cells of a column are numbers or, after the first column, texts such as "12.5%"."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    return not texts or (index > 0 and all(_QUANTITY.fullmatch(text) or text == "none" for text in texts))


def _bar(cell: Cell) -> float:
    """Length of the bar of a cell; 0 of an unknown number."""
    return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else 0.0


def _cell(cell: Cell, shown: str, bar: str, *, is_head: bool, numeric: bool) -> str:
    if cell is None:
        return f'<td class="none">{NOTHING}</td>'
    if numeric or not isinstance(cell, str):
        return f'<td class="number">{escape(cell if isinstance(cell, str) else shown)}{bar}</td>'
    inside = name(cell) if cell else ""
    wordy = ' class="wordy"' if len(cell) > WORDY else ""
    return f'<th scope="row">{inside}</th>' if is_head else f"<td{wordy}>{inside}</td>"


def _caption(text: str) -> str:
    words = escape(shortened(text, LONGEST_TEXT))
    return f'<figcaption class="caption" dir="auto">{words}</figcaption>' if text else ""
