"""Formulas of a page as MathML."""

from __future__ import annotations

import html
import re
from importlib.metadata import distribution
from pathlib import Path

from math_core import LatexError, LatexToMathML

FONT = Path(str(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")))
"""The font of the formulas: MathML needs one with the metrics of mathematics, and few systems have one."""

LONG = 60
"""Characters of a formula within a line from which on it may not fit the screen of a phone."""

_FORMULA = re.compile(
    r'<(?P<kind>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.*?)\\[)\]]</(?P=kind)>', re.DOTALL
)
_TAG = re.compile(r"\\tag\{(?P<text>[^{}]*)\}")
_CONVERTER = LatexToMathML(annotation=False, fancy_error=False)


def with_mathml(page: str, name: str) -> str:
    """The page with each formula that Markdown found as MathML; a formula that cannot be read is an error."""

    def converted(match: re.Match[str]) -> str:
        latex = html.unescape(match["latex"]).strip()
        tags = [found["text"] for found in _TAG.finditer(latex)]
        block = match["open"] == "["
        try:
            formula = _CONVERTER.convert_with_local_state(_TAG.sub("", latex).strip(), displaystyle=block)
        except LatexError as error:
            raise ValueError(f"{name}: the formula {latex!r} cannot be read: {error}") from error
        if not block:
            return f'<span class="formula-inline">{formula}</span>' if len(latex) > LONG else str(formula)
        number = "".join(f'<span class="formula-number">({tag})</span>' for tag in tags)
        return f'<div class="formula"><div class="formula-body">{formula}</div>{number}</div>'

    return _FORMULA.sub(converted, page)
