"""Tables of Markdown, and parts of pages that a command writes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; numbers stand in all columns but the first."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with these decimals and without a leading zero; '-' for None and NaN."""
    if value is None or math.isnan(value):
        return "-"
    text = f"{abs(value):.{digits}f}".removeprefix("0")
    return f"-{text}" if value < 0 and float(text) else text


def replace_part(path: Path, name: str, text: str) -> None:
    """Put text between the comments that begin and end a part of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    page = path.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise ValueError(f"{path} has no part named {name!r}: it needs the lines {begin.strip()} and {end}")
    head, rest = page.split(begin, 1)
    path.write_text(f"{head}{begin}{text}\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
