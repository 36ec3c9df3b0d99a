"""Text and numbers as pieces of HTML: everything that came from data passes through `escape`."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

from radboost._numbers import number_text
from radboost.report.blocks import Cell

# What HTML cannot hold even as a reference: control characters, and halves of pairs, which UTF-8 cannot encode.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
NOTHING = "\N{EM DASH}"
LONGEST = 160  # characters of a name that are shown; the data inside the page has all of them
UNBROKEN = 24  # characters of a word above which it may be broken anywhere


def escape(text: str) -> str:
    """Text that stays text, between tags and inside quoted attributes."""
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).translate(_SPECIAL)


def shortened(text: str, longest: int = 60) -> str:
    """Both ends of a text that is too long, so that names which differ in either stay apart."""
    if len(text) <= longest:
        return text
    tail = max(longest // 4, 1)
    return f"{text[: max(longest - tail - 1, 1)]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def name(text: str, longest: int = LONGEST) -> str:
    """Name from the data: isolated from the direction of the text around it, and seen where it is empty."""
    if not text.strip():
        return '<span class="empty">(empty)</span>'
    shown = shortened(text, longest)
    unbroken = max(map(len, shown.split())) > UNBROKEN
    return f"<bdi{' class=long' if unbroken else ''}>{escape(shown)}</bdi>"


def number(value: float) -> str:
    """Number as people write it, with a minus sign; a dash for one that is not finite."""
    if not math.isfinite(value):
        return NOTHING
    return (f"{value:,}" if isinstance(value, int) else number_text(value)).replace("-", "\N{MINUS SIGN}")


def column(cells: list[Cell]) -> list[str]:
    """Numbers of a column, with the same number of decimals where their sizes are alike, so that they line up."""
    texts = [number(cell) if isinstance(cell, int | float) else "" for cell in cells]
    sizes = [abs(cell) for cell in cells if isinstance(cell, float) and math.isfinite(cell) and cell]
    if not sizes or max(sizes) > (1e2 if max(sizes) > 1 else 1e3) * min(sizes) or any("e" in text for text in texts):
        return texts
    decimals = max(len(text.partition(".")[2]) for text in texts)
    decimals = min(decimals, max(0, 3 - math.floor(math.log10(max(sizes)))))
    return [
        f"{cell:,.{decimals}f}".replace("-", "\N{MINUS SIGN}") if isinstance(cell, float) and text != NOTHING else text
        for cell, text in zip(cells, texts, strict=True)
    ]


def plain(value: object) -> Any:
    """Value of `blocks` as JSON: a block has its class as "kind", and a number that is not finite is null."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **own}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "item"):  # a number of NumPy
        return plain(value.item())
    raise TypeError(f"A report is made of texts, numbers, tuples and blocks, not of {type(value).__name__}.")


def as_json(value: object) -> str:
    """JSON that can stand inside a script element: no character of it begins a tag, and all of it is ASCII."""
    text = json.dumps(plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
