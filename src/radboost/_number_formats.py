"""Numbers written as text: detection of the format that the values of a column have in common, and parsing."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

MISSING_WORDS = ("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "nat")
MARKERS = frozenset({*MISSING_WORDS, "-", "--", ".", "unknown"})  # missing values among numbers, in lower case
FEWEST_AGREEING = 19  # of 20 values must have the format
FEWEST_DIGITS_OF_A_PHONE = 7

_CURRENCY = r"[A-Z]{0,2}[$£¥฿\u20a0-\u20cf]|USD|EUR|GBP|CHF|JPY|kr"
_TEXT = re.compile(
    rf"(?P<outer>{_CURRENCY})? ?(?P<open>\()? ?(?P<before>[+-])? ?(?P<prefix>{_CURRENCY})? ?(?P<sign>[+-])? ?"
    rf"(?P<digits>[.,]?[0-9](?:[0-9.,' ]*[0-9])?[.,]?(?:[eE][+-]?[0-9]+)?)"
    rf" ?(?P<percent>%)? ?(?P<suffix>{_CURRENCY})? ?(?P<close>\))?"
)
_DASHES = "\u2212\u2013\u2014"
_SIGNS = f"({_DASHES}"
_ALIKE = str.maketrans({**dict.fromkeys("\u00a0\u2009\u202f", " "), **dict.fromkeys(_DASHES, "-"), "\u2019": "'"})
_LEADING_ZERO = re.compile(r"0[0-9]")


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written. A sign, or brackets around a negative number, may always be there."""

    decimal: str = "."
    """Either "." or ","."""
    thousands: str = ""
    """Separator of groups of three digits: "", ",", ".", "'" or a space, which means all kinds of spaces."""
    currency: str = ""
    """A sign or code before or after the number; it may be absent from a value."""
    percent: bool = False
    """Whether each value ends with a percent sign; 11% is 11."""

    def parse(self, text: str) -> float | None:
        """Value of the text; None if it does not have this format."""
        parts = _Parts.of(text)
        return None if parts is None else self.number(parts)

    def number(self, parts: _Parts) -> float | None:
        """Value of a parsed text; None if it does not have this format."""
        if parts.percent != self.percent or parts.currency not in ("", self.currency):
            return None
        if not _DIGITS[self.decimal, self.thousands].fullmatch(parts.digits):
            return None
        plain = parts.digits.replace(self.thousands, "") if self.thousands else parts.digits
        value = float(plain.replace(self.decimal, "."))
        return (-value if parts.negative else value) if math.isfinite(value) else None


FORMS = ((".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "), (",", "'"))


def _digits(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    forms = [rf"[0-9]+(?:{point}[0-9]*)?", rf"{point}[0-9]+"]
    if thousands:
        forms.append(rf"[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{point}[0-9]*)?")
    return re.compile(rf"(?:{'|'.join(forms)})(?:[eE][+-]?[0-9]+)?")


_DIGITS = {form: _digits(*form) for form in FORMS}


class _Parts(NamedTuple):
    """Parts of a text that may be a number; a tuple for its size, as there may be a million."""

    digits: str
    """Digits with their separators and the exponent."""
    negative: bool = False
    currency: str = ""
    percent: bool = False
    plus: bool = False

    @classmethod
    def of(cls, text: str) -> _Parts | None:
        if text.isascii() and text.isdigit():
            return cls(text)
        match = _TEXT.fullmatch(text.strip().translate(_ALIKE))
        if match is None:
            return None
        given = match.groupdict()
        signs = (given["before"] or "") + (given["sign"] or "")
        brackets = given["open"] is not None
        currencies = [given[group] for group in ("outer", "prefix", "suffix") if given[group] is not None]
        if len(signs) + brackets > 1 or len(currencies) > 1 or brackets != (given["close"] is not None):
            return None
        currency = "".join(currencies)
        return cls(given["digits"], brackets or signs == "-", currency, given["percent"] is not None, signs == "+")


@dataclass(frozen=True)
class WrittenNumbers:
    """A column of text that holds numbers."""

    format: NumberFormat
    examples: tuple[str, ...]
    """At most three texts that show the format."""
    n_rows: int
    """Number of rows with a text, including markers of missing values such as "-"."""
    others: tuple[str, ...]
    """Texts without this format, the most frequent ones first."""
    n_others: int
    """Number of rows with these texts."""
    otherwise: float | None
    """Value of the first example in another format that fits as many rows; None: there is no other."""
    signs: str
    """Signs of negative numbers besides the ASCII minus: an opening bracket, and dashes."""

    @property
    def shown(self) -> str:
        """The first example and its number."""
        return f"{self.examples[0]!r} is {self.format.parse(self.examples[0]):.15g}"

    @property
    def is_plain(self) -> bool:
        """True if all values are numbers in Python's notation."""
        return self.format == NumberFormat() and not self.others and not self.signs


def is_marker(text: str) -> bool:
    """Check for a text that means a missing value among numbers: "-", "unknown", "$ -"."""
    return text.translate(_ALIKE).strip("$£€¥ ").lower() in MARKERS


def find_numbers(counts: Mapping[str, int], *, decimal_comma: bool = False) -> WrittenNumbers | None:
    """Format of at least 19 of 20 rows, given the number of rows of each text; None if there is none, or for codes.

    Words like "-" and "unknown" are missing values and do not count. Ties go to the first format in `FORMS`, so that a
    comma before exactly three digits separates thousands unless another value contradicts it. With `decimal_comma`
    they go to the format with a decimal comma and no separators.
    """
    there = {text: n for text, n in counts.items() if n and not is_marker(text)}
    parts = {text: one for text in there if (one := _Parts.of(text)) is not None}
    n_values = sum(there.values())

    def n_rows(texts: Iterable[str]) -> int:
        return sum(there[text] for text in texts)

    if not parts or 20 * n_rows(parts) < FEWEST_AGREEING * n_values:
        return None
    signs = sorted({one.currency for one in parts.values()} - {""})
    currency = max(signs, key=lambda sign: n_rows(text for text in parts if parts[text].currency == sign), default="")
    percent = 2 * n_rows(text for text, one in parts.items() if one.percent) > n_values
    used = set("".join(one.digits for one in parts.values()))
    forms = [form for form in FORMS if used.issuperset(form[1]) and ("." in form or "," in used)]
    if decimal_comma:
        forms.sort(key=lambda form: form != (",", ""))
    readings = {
        form: {text: value for text, one in parts.items() if (value := form.number(one)) is not None}
        for form in (NumberFormat(*form, currency, percent) for form in forms)
    }
    chosen = max(readings, key=lambda form: n_rows(readings[form]))
    values = readings[chosen]
    if 20 * n_rows(values) < FEWEST_AGREEING * n_values:
        return None
    if not (currency or percent) and _are_codes([parts[text] for text in values], chosen.thousands):
        return None
    others = sorted((text for text, n in counts.items() if n and text not in values), key=lambda x: (-counts[x], x))
    ties = [tie for tie in readings.values() if n_rows(tie) == n_rows(values)]
    doubtful = {text: tie[text] for tie in ties for text in tie if tie[text] != values.get(text)}
    examples = heapq.nlargest(
        3, values, key=lambda text: (text in doubtful, not is_plain(text), values[text] > 0, there[text], text)
    )
    return WrittenNumbers(
        chosen,
        tuple(examples),
        sum(counts.values()),
        tuple(others),
        sum(counts[text] for text in others),
        doubtful.get(examples[0]),
        "".join(sign for sign in _SIGNS if any(sign in text for text in values)),
    )


def is_plain(text: str) -> bool:
    """Check for a number in Python's notation, without spaces, separators or signs other than a minus."""
    return _DIGITS[".", ""].fullmatch(text.removeprefix("-")) is not None


def _are_codes(parts: list[_Parts], thousands: str) -> bool:
    """Check for identifiers: leading zeros, or numbers written like those of phones."""
    if any(_LEADING_ZERO.match(one.digits) for one in parts):
        return True
    if all(one.plus and sum(map(str.isdigit, one.digits)) >= FEWEST_DIGITS_OF_A_PHONE for one in parts):
        return True
    in_groups = thousands in (" ", ".") and all(one.digits.count(thousands) > 1 for one in parts)
    return in_groups and len({len(one.digits) for one in parts}) == 1


def conversion(written: WrittenNumbers, column: str, *, polars: bool = False) -> str:
    """Python expression that converts `column`, an expression for a series of texts, into numbers."""
    form, dashes = written.format, written.signs.replace("(", "")
    removed = [form.currency, *("'\u2019" if form.thousands == "'" else form.thousands.strip()), "%" * form.percent]
    steps = {
        "|".join([*(re.escape(one) for one in removed if one), r"\s"]): "",
        r"^\((.*)\)$": "-$1" if polars else r"-\1",
        f"[{dashes}]": "-",
        ",": ".",
    }
    needed = (form != NumberFormat() or written.signs or polars, "(" in written.signs, dashes, form.decimal == ",")
    write = '.str.replace_all(r"{}", "{}")' if polars else '.str.replace(r"{}", r"{}", regex=True)'
    calls = "".join(write.format(*step) for step in compress(steps.items(), needed))
    if polars:
        return f"{column}{calls}.cast(pl.Float64, strict=False)"
    return f'pd.to_numeric({column}{calls}, errors="coerce")'
