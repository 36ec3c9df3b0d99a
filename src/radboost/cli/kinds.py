"""Kinds of columns: numbers, dates, booleans and categories, each with its way to read cells and its messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers, find_numbers, is_marker, is_plain
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import Cells, days_of, is_number
from radboost.model_file import ColumnSchema

MOST_CATEGORIES = 255
_OTHER_DATE = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})\b|\d{4}[/.]\d{1,2}[/.]\d{1,2}\b")


Read = tuple[npt.NDArray[Any], tuple[str, ...], list[str]]
"""Values of rows, texts that are no categories (-2 - index is the value of their rows), and notes."""


class CellKind:
    """Kind of a column whose cells become numbers; further kinds override what differs."""

    name: ClassVar[str]
    plural: ClassVar[str]
    """Cells of the kind, in messages."""
    noun: ClassVar[str] = "value"
    forms: ClassVar[Sequence[str]] = ()
    """Forms of cells that are numbers of the kind already."""

    def parse(self, texts: Any, decimal_comma: bool = False) -> FloatArray | None:
        """Number of each text of an array of pyarrow; None if one of them is not of this kind."""
        raise NotImplementedError

    def numbers(self, cells: Cells) -> FloatArray | None:
        """Numbers of rows, or of the values of a summary; None if one of them is not of this kind."""
        if cells.form in self.forms:
            return cells.values  # type: ignore[no-any-return]
        parsed = self.parse(cells.values, cells.decimal_comma) if cells.form == "text" else None
        return None if parsed is None else cells.of_rows(parsed)

    def unlike(self, cells: Cells) -> str:
        """First text that can be in no column of this kind, with its row; empty if there is none."""
        return cells.examples(lambda text: not self.fits(text, cells))

    def fits(self, text: str, cells: Cells) -> bool:
        """True if a text of these cells can be in a column of this kind."""
        import pyarrow as pa

        return self.parse(pa.array([text]), cells.decimal_comma) is not None

    def useless(self, seen: Cells, n_rows: int, *, wanted: bool) -> str | None:
        """Reason to leave a column out, by its summary; `wanted`: --categorical names it."""
        numbers = self.numbers(seen)
        assert numbers is not None
        known = numbers[~np.isnan(numbers)]
        n_present = seen.counts[~np.isnan(numbers)].sum()
        if not n_present:
            return "has no value in any row"
        if n_present < n_rows or known.min() < known.max():
            return None
        rounded = " once whole numbers beyond 2^53 are rounded (--categorical takes them as names)"
        return f"has the same {self.noun} in every row{rounded * (not wanted and seen.loses_digits)}"

    def schema(self, seen: Cells) -> tuple[ColumnSchema, list[str]]:
        """Column of a model, by its summary, and notes about it."""
        return ColumnSchema(seen.name, self.name), []

    def read(self, cells: Cells, column: ColumnSchema, where: str) -> Read:
        """Values of the rows for a column of a model; refuses cells that it cannot have."""
        numbers = self.numbers(cells)
        if numbers is None:
            held = (self.unlike(cells) or "text") if cells.form == "text" else KINDS[cells.form].plural
            raise ValueError(_unlike_the_fit(column.name, where, held, self.plural))
        return numbers, (), []


@dataclass(frozen=True)
class Number(CellKind):
    """Numbers in Python's notation, or in a format."""

    written: WrittenNumbers | None = None
    """Column in which the format was found, for notes."""
    format: NumberFormat | None = None

    name, plural, forms = "number", "numbers", ("number", "boolean", "empty")

    def parse(self, texts: Any, decimal_comma: bool = False) -> FloatArray | None:
        """Number of each text, with a format NaN for other texts."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.format is not None:
            return np.array([self.format.parse(text) for text in texts.to_pylist()], dtype=np.float64)
        for comma in (False, True)[: 1 + decimal_comma]:
            plain = pc.replace_substring(texts, ",", ".", max_replacements=1) if comma else texts
            try:
                return plain.cast(pa.float64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
            except pa.ArrowInvalid:
                continue
        return None

    def numbers(self, cells: Cells) -> FloatArray | None:
        """Numbers of rows or values, which must be finite."""
        numbers = super().numbers(cells)
        if numbers is not None and cells.form == "text":
            if cells.by_row is not None and np.isinf(numbers).any():
                for rows in cells.by_row():
                    self.numbers(rows)  # raises with the name of the row
            cells.check_finite(numbers)
        return numbers

    def schema(self, seen: Cells) -> tuple[ColumnSchema, list[str]]:
        name, notes = seen.name, []
        if self.written is not None:
            notes.append(_how_written(name, self.written))
        if seen.loses_digits:
            notes.append(
                f"{name!r} holds whole numbers beyond 2^53, which are rounded to 16 digits; if they are names, say "
                f"--categorical {name!r}"
            )
        return ColumnSchema(name, self.name, number_format=self.format), notes

    def read(self, cells: Cells, column: ColumnSchema, where: str) -> Read:
        values, others, notes = super().read(cells, column, where)
        if self.format is not None and cells.form == "text":
            wrong = np.array([self.format.parse(text) is None and not is_marker(text) for text in cells.texts], bool)
            if wrong.any():
                rows, texts = _rows_and_texts(cells, wrong)
                said = f"{rows} have no number in {column.name!r} that is written like those of the fit ({texts})"
                notes.append(f"{said}; taken as missing")
        return values, others, notes


class Date(CellKind):
    """Dates and times like 2020-12-31 23:59:59, as days since the beginning of 1970."""

    name, plural, forms = "date", "dates (2020-12-31)", ("date", "empty")

    def parse(self, texts: Any, decimal_comma: bool = False) -> FloatArray | None:
        import pyarrow as pa

        for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
            try:
                return days_of(texts.cast(kind))
            except pa.ArrowInvalid:
                continue
        return None

    def schema(self, seen: Cells) -> tuple[ColumnSchema, list[str]]:
        return super().schema(seen)[0], [f"the dates in {seen.name!r} are taken as numbers of days"]


class Boolean(CellKind):
    """True and false, in any case, as 1 and 0; a later table may have these numbers."""

    name, plural, forms = "boolean", "true or false", ("boolean", "empty")

    def parse(self, texts: Any, decimal_comma: bool = False) -> FloatArray | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        truth = pc.index_in(pc.utf8_lower(texts), pa.array(["false", "true"]))
        if not truth.null_count:
            return np.array(truth, dtype=np.float64)
        return _zeros_and_ones(NUMBER.parse(texts, decimal_comma))

    def numbers(self, cells: Cells) -> FloatArray | None:
        return _zeros_and_ones(cells.values) if cells.form == "number" else super().numbers(cells)


def _zeros_and_ones(numbers: FloatArray | None) -> FloatArray | None:
    return numbers if numbers is not None and np.isin(numbers[~np.isnan(numbers)], (0.0, 1.0)).all() else None


class Category(CellKind):
    """Texts, of which the most frequent ones are categories."""

    name, noun = "category", "text"

    def parse(self, texts: Any, decimal_comma: bool = False) -> FloatArray | None:
        """Index of each text."""
        return np.arange(len(texts), dtype=np.float64)

    def useless(self, seen: Cells, n_rows: int, *, wanted: bool) -> str | None:
        if 1 < len(seen.values) == seen.counts.sum() and not wanted:
            return "has a different text in every row, like an identifier (--categorical takes it nevertheless)"
        return super().useless(seen, n_rows, wanted=wanted)

    def schema(self, seen: Cells) -> tuple[ColumnSchema, list[str]]:
        """Column of the 255 most frequent texts, of equally frequent ones the first."""
        frequent = np.sort(np.argsort(-seen.counts, kind="stable")[:MOST_CATEGORIES])
        said = (
            f"{seen.name!r} has {len(seen.values):,} different texts; the {MOST_CATEGORIES} most frequent are told "
            "apart, and the others are taken as missing values"
        )
        categories = tuple(seen.values.take(frequent).to_pylist())
        return ColumnSchema(seen.name, self.name, categories), [said] * (len(seen.values) > MOST_CATEGORIES)

    def read(self, cells: Cells, column: ColumnSchema, where: str) -> Read:
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = cells.as_texts()
        codes = pc.index_in(cells.values, pa.array(column.categories, pa.string())).fill_null(-1).to_numpy()
        others = tuple(cells.values.filter(pa.array(codes < 0)).to_pylist())
        if len(others) == len(codes) > 0 and all(map(is_number, others)) and not all(map(is_number, column.categories)):
            held, wanted = f"numbers ({cells.examples(is_number)})", f"texts like {listed(column.categories, 3)}"
            raise ValueError(_unlike_the_fit(column.name, where, held, wanted))
        rows, texts = _rows_and_texts(cells, codes < 0)
        n_texts = "a text" if len(others) == 1 else f"{len(others):,} texts"
        said = f"{column.name!r} has {n_texts} that the model does not tell apart ({texts}), in {rows}"
        codes = codes.astype(np.int16 if len(codes) + 2 < np.iinfo(np.int16).max else np.int32)
        codes[codes < 0] = -2 - np.arange(len(others))
        return cells.of_rows(codes, -1), others, [f"{said}; taken as missing"] if others else []


def _rows_and_texts(cells: Cells, chosen: npt.NDArray[np.bool_]) -> tuple[str, str]:
    """Number of the rows with some of the texts, and these texts, for messages."""
    rows = f"{cells.counts[chosen].sum():,} of {len(cells.ranks):,} rows"
    return rows, listed(list(compress(cells.texts, chosen)), 3)


NUMBER, DATE, BOOLEAN, CATEGORY = Number(), Date(), Boolean(), Category()
KINDS: dict[str, CellKind] = {kind.name: kind for kind in (NUMBER, BOOLEAN, DATE, CATEGORY)}


def kind_of(column: ColumnSchema) -> CellKind:
    """Kind of a column of a model."""
    return KINDS[column.kind] if column.number_format is None else Number(format=column.number_format)


def infer_kind(seen: Cells) -> CellKind:
    """Kind of a column by its summary; plain numbers that a typed file has as text are text."""
    if seen.form != "text":
        return KINDS.get(seen.form, NUMBER)
    numbers = NUMBER.parse(seen.values, seen.decimal_comma)
    if numbers is not None and (seen.spelled or not len(numbers)):
        return NUMBER
    if numbers is not None and np.isfinite(numbers).all():
        return CATEGORY
    for kind in (BOOLEAN, DATE):
        if kind.numbers(seen) is not None:
            return kind
    counts = dict(zip(seen.texts, seen.counts.tolist(), strict=True))
    written = find_numbers(counts, decimal_comma=seen.decimal_comma)
    if written is None or (written.is_plain and not seen.spelled):
        return CATEGORY
    return Number(written, written.format)


def refuse_other_dates(seen: Cells) -> None:
    """Refuse texts that look like dates in a form that is ambiguous."""
    if all(map(_OTHER_DATE.match, seen.texts)):
        raise ValueError(
            f"the column {seen.name!r} looks like dates ({NUMBER.unlike(seen)}), and dates are read in the form "
            f"2020-12-31 or 2020-12-31 23:59:59, because others are ambiguous; write them so, leave the column out "
            f"with --ignore {seen.name!r}, or take it as categories with --categorical {seen.name!r}"
        )


def _unlike_the_fit(name: str, where: str, held: str, wanted: str) -> str:
    return (
        f"the column {name!r} of {where} holds {held}, and the model was fitted to {wanted}; correct the column, or "
        "fit a new model"
    )


def _how_written(name: str, written: WrittenNumbers) -> str:
    said = f"{name!r} is read as numbers"
    if not is_plain(written.examples[0]):
        said += f": {written.shown}"
    if written.otherwise is not None:
        said += f", not {written.otherwise:.15g}, which no value of the column decides"
    if written.n_others:
        said += (
            f"; {written.n_others:,} of {written.n_rows:,} values are no such numbers ({listed(written.others, 3)}), "
            "and are missing"
        )
    return f"{said}. --categorical {name!r} takes it as text"
