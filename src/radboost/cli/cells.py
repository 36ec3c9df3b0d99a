"""Cells of a column: their form, and their conversion to numbers, dates, booleans and categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers, find_numbers
from radboost._typing import FloatArray

OTHER_DATE = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})\b|\d{4}[/.]\d{1,2}[/.]\d{1,2}\b")
TRUTH = {"true": 1.0, "false": 0.0}
LARGEST_EXACT = 2.0**53  # integers up to it are exact as floating-point numbers
_LONG_INTEGER = re.compile(r"[+-]?[0-9]{16,300}")
_SECONDS_A_DAY = 86_400.0

RowNames = Callable[[npt.NDArray[np.int64]], list[str]]
"""Function from indices of rows, ascending, to their names in messages, such as "row 12 (line 13)"."""


@dataclass(frozen=True)
class Texts:
    """Column as texts: the different ones, ascending, and the index of each row's text, -1 where it is missing."""

    values: tuple[str, ...]
    codes: npt.NDArray[np.int64]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of rows of each text; shape (n_texts,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def spread(self, of_values: Sequence[float]) -> FloatArray:
        """Number of each row, from those of the different texts; NaN where it is missing."""
        return np.array([*of_values, np.nan], dtype=np.float64)[self.codes]


@dataclass(frozen=True)
class Cells:
    """Column as it was read: numbers, texts or dates; a file of text has texts only."""

    name: str
    form: str
    """Either "text", "number", "date", "boolean" or "empty"; text may spell any of the others."""
    spelled: bool
    """True if texts may stand for numbers, as in CSV."""
    decimal_comma: bool = False
    texts: Texts | None = None
    numbers: FloatArray | None = None
    where: RowNames | None = None
    """Names of rows; None where they are not known."""

    def unlike(self, kind: str) -> str:
        """First text that can be in no column of this kind, with its row; empty if there is none."""
        return self.examples(lambda text: not is_of_kind(text, kind, decimal_comma=self.decimal_comma))

    def examples(self, is_one: Callable[[str], bool], most: int = 1) -> str:
        """First different texts for which `is_one` is true, each with its row, as messages list them."""
        texts = as_texts(self)
        rows: list[int] = []
        codes, first = np.unique(texts.codes, return_index=True)
        for index in np.argsort(first).tolist():
            if len(rows) < most and codes[index] >= 0 and is_one(texts.values[codes[index]]):
                rows.append(first[index])
        shown = [repr(texts.values[texts.codes[row]]) for row in rows]
        if self.where is not None:
            shown = [f"{text} in {row}" for text, row in zip(shown, self.where(np.array(rows)), strict=True)]
        return ", ".join(shown)


def read_cells(
    name: str,
    column: Any,
    missing: Sequence[str],
    *,
    spelled: bool,
    decimal_comma: bool,
    where: RowNames | None = None,
) -> Cells:
    """Cells of a column of pyarrow; words in `missing` become missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    kind, made = column.type, partial(Cells, name, spelled=spelled, decimal_comma=decimal_comma, where=where)
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_null(kind):
        return made(form="empty", numbers=np.full(len(column), np.nan))
    if types.is_boolean(kind):
        return made(form="boolean", numbers=_numpy(column.cast(pa.float64())))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = _numpy(pc.cast(column, pa.float64(), safe=False))
        for word, infinity in (("inf", np.inf), ("-inf", -np.inf)):
            if word in missing:
                numbers[numbers == infinity] = np.nan
        return made(form="number", numbers=_finite(name, numbers, where))
    if types.is_date(kind) or types.is_timestamp(kind):
        return made(form="date", numbers=_days(column))
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise ValueError(
            f"the column {name!r} holds {kind}; columns may hold numbers, text, booleans and dates; leave it out with "
            f"--ignore {name!r}, or convert it"
        )
    return made(
        form="text", texts=_texts_of(pc.utf8_trim_whitespace(column.cast(pa.string())), missing, spelled=spelled)
    )


def unquoted(texts: Sequence[str], missing: Collection[str] = ("",)) -> Sequence[str]:
    """Texts without single quotes around them, if all but words for missing values have them."""
    there = [text for text in texts if text.lower() not in missing]
    if not there or not all(len(text) > 1 and text[0] == text[-1] == "'" for text in there):
        return texts
    return [text if text.lower() in missing else text[1:-1] for text in texts]


def _texts_of(column: Any, missing: Sequence[str], *, spelled: bool) -> Texts:
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(column.combine_chunks() if hasattr(column, "combine_chunks") else column)
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    levels = encoded.dictionary.to_pylist()
    words = frozenset(missing)
    if spelled:
        levels = unquoted(levels, words)
    levels = [None if level.lower() in words else level for level in levels]
    return _in_order(levels, np.asarray(pc.fill_null(encoded.indices, -1), dtype=np.int64))


def _in_order(levels: Sequence[str | None], indices: npt.NDArray[np.int64]) -> Texts:
    """Texts of rows, from different ones in any order; None and index -1 mean missing."""
    there = sorted((level, index) for index, level in enumerate(levels) if level is not None)
    code_of = np.full(len(levels) + 1, -1, dtype=np.int64)
    code_of[[index for _, index in there]] = np.arange(len(there))
    return Texts(tuple(level for level, _ in there), code_of[indices])


def _numpy(column: Any) -> FloatArray:
    return np.array(column.to_numpy(), dtype=np.float64)


def _days(column: Any) -> FloatArray:
    """Days since the beginning of 1970, with fractions."""
    import pyarrow as pa

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s") if str(column.type) == "date32[day]" else pa.timestamp("ms"))
    microseconds = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
    return _numpy(microseconds.cast(pa.float64(), safe=False)) / (_SECONDS_A_DAY * 1e6)


def _finite(name: str, numbers: FloatArray, where: RowNames | None) -> FloatArray:
    infinite = np.flatnonzero(np.isinf(numbers))[:1]
    if len(infinite):
        row = "" if where is None else f" in {where(infinite)[0]}"
        raise ValueError(
            f"the column {name!r} holds infinity{row}, and numbers must be finite; "
            "write a missing value in its place, or say --missing inf,-inf"
        )
    return numbers


def as_numbers(cells: Cells, number_format: NumberFormat | None = None) -> FloatArray | None:
    """Column as numbers; None if it holds something else. With a format, text in another form is missing."""
    if cells.form in ("number", "boolean", "empty"):
        return cells.numbers
    if cells.texts is None:
        return None
    if number_format is not None:
        parsed = map(number_format.parse, cells.texts.values)
        return cells.texts.spread([np.nan if value is None else value for value in parsed])
    values = _parse_numbers(cells.texts.values, decimal_comma=cells.decimal_comma)
    return None if values is None else _finite(cells.name, cells.texts.spread(values), cells.where)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_of_kind(text: str, kind: str, *, decimal_comma: bool = False) -> bool:
    """True if a text can be in a column of numbers, dates or booleans."""
    if kind == "boolean":
        return text.lower() in TRUTH or (is_number(text) and float(text) in TRUTH.values())
    if kind == "date":
        one = Texts((text,), np.zeros(1, dtype=np.int64))
        return as_dates(Cells("", "text", spelled=True, texts=one)) is not None
    return _parse_numbers((text,), decimal_comma=decimal_comma) is not None


def _parse_numbers(values: tuple[str, ...], *, decimal_comma: bool) -> list[float] | None:
    import pyarrow as pa

    for texts in (values, tuple(text.replace(",", ".", 1) for text in values) if decimal_comma else ()):
        if texts or not values:
            try:
                return list(pa.array(texts, type=pa.string()).cast(pa.float64()).to_pylist())
            except pa.ArrowInvalid:
                continue
    return None


def holds_long_integers(column: Any) -> bool:
    """True if a column of pyarrow has integers that are rounded as floating-point numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def loses_digits(cells: Cells) -> bool:
    """True if some texts are integers that are rounded as floating-point numbers."""
    texts = cells.texts.values if cells.texts is not None else ()
    return any(_LONG_INTEGER.fullmatch(text) and int(text) != int(float(text)) for text in texts)


def as_booleans(cells: Cells) -> FloatArray | None:
    """Column as 1 for true and 0 for false; None if it holds something else."""
    if cells.form in ("boolean", "empty"):
        return cells.numbers
    if cells.texts is not None and all(text.lower() in TRUTH for text in cells.texts.values):
        return cells.texts.spread([TRUTH[text.lower()] for text in cells.texts.values])
    numbers = as_numbers(cells)
    return numbers if numbers is not None and np.isin(numbers[~np.isnan(numbers)], (0.0, 1.0)).all() else None


def as_dates(cells: Cells) -> FloatArray | None:
    """Days since 1970; None if the column holds no dates like 2020-12-31 or 2020-12-31 23:59:59."""
    import pyarrow as pa

    if cells.form in ("date", "empty"):
        return cells.numbers
    if cells.texts is None:
        return None
    texts = pa.array(cells.texts.values, type=pa.string())
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return cells.texts.spread(_days(texts.cast(kind)).tolist())
        except pa.ArrowInvalid:
            continue
    return None


def as_texts(cells: Cells) -> Texts:
    """Column as texts; numbers without a fraction as integers."""
    if cells.texts is not None:
        return cells.texts
    numbers = cells.numbers if cells.numbers is not None else np.zeros(0)
    there = ~np.isnan(numbers)
    different, unsorted = np.unique(numbers[there], return_inverse=True)
    indices = np.full(len(numbers), -1, dtype=np.int64)
    indices[there] = unsorted.reshape(-1)
    return _in_order([_shown(float(value), cells.form) for value in different], indices)


def _shown(value: float, form: str) -> str:
    if form == "boolean":
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_EXACT else repr(value)


@dataclass(frozen=True)
class InferredKind:
    """Kind of a column for a model."""

    name: str
    """Either "number", "category", "date" or "boolean"."""
    written: WrittenNumbers | None = None
    """Format of numbers that programs do not write so."""

    @property
    def number_format(self) -> NumberFormat | None:
        return None if self.written is None else self.written.format


def written_numbers(cells: Cells, counts: Sequence[int]) -> WrittenNumbers | None:
    """Format of numbers that programs do not write so, by the texts and the rows of each; None if there is none.

    Plain numbers that a typed file has as text are text.
    """
    if cells.texts is None:
        return None
    written = find_numbers(dict(zip(cells.texts.values, counts, strict=True)), decimal_comma=cells.decimal_comma)
    return None if written is None or (written.is_plain and not cells.spelled) else written


def kind_of(cells: Cells, counts: Sequence[int] | None = None) -> InferredKind:
    """Kind of a column; `counts` replaces the number of rows of each text in `cells`."""
    if cells.form != "text":
        return InferredKind({"number": "number", "empty": "number", "date": "date", "boolean": "boolean"}[cells.form])
    if cells.texts is None or not cells.texts.values:
        return InferredKind("number")
    if as_booleans(cells) is not None and cells.texts.values[0].lower() in TRUTH:
        return InferredKind("boolean")
    if cells.spelled and as_numbers(cells) is not None:
        return InferredKind("number")
    if as_dates(cells) is not None:
        return InferredKind("date")
    written = written_numbers(cells, cells.texts.counts.tolist() if counts is None else counts)
    if written is not None:
        return InferredKind("number", written)
    if all(OTHER_DATE.match(text) for text in cells.texts.values):
        raise ValueError(
            f"the column {cells.name!r} looks like dates ({cells.unlike('number')}), and dates are read in the form "
            f"2020-12-31 or 2020-12-31 23:59:59, because others are ambiguous; write them so, leave the column out "
            f"with --ignore {cells.name!r}, or take it as categories with --categorical {cells.name!r}"
        )
    return InferredKind("category")
