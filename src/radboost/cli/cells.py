"""Cells of a column: their form, and their conversion to numbers, dates, booleans and categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers, find_numbers
from radboost._typing import FloatArray

OTHER_DATE = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})\b|\d{4}[/.]\d{1,2}[/.]\d{1,2}\b")
TRUTH = {"true": 1.0, "false": 0.0}
LARGEST_EXACT = 2.0**53  # integers up to it are exact as floating-point numbers
LONG_INTEGER = "^[+-]?[0-9]{16,300}$"
_SECONDS_A_DAY = 86_400.0

RowNames = Callable[[npt.NDArray[np.int64]], list[str]]
"""Function from indices of rows, ascending, to their names in messages, such as "row 12 (line 13)"."""


@dataclass(frozen=True)
class Texts:
    """Column as texts: those that occur, ascending, and the text of each row."""

    levels: Any
    """Array of pyarrow: strings, without missing ones."""
    ranks: npt.NDArray[np.integer[Any]]
    """Index of each row's text, and the number of texts where it is missing."""
    counts: npt.NDArray[np.int64]
    """Number of rows of each text; shape (n_texts,)."""

    @classmethod
    def of_levels(cls, levels: Any) -> Texts:
        """Column of one row for each string of an array of pyarrow, which are different and ascending."""
        return cls(levels, np.arange(len(levels)), np.ones(len(levels), dtype=np.int64))

    @classmethod
    def of(cls, values: Sequence[str]) -> Texts:
        """Column of one row for each of these texts, which are different and ascending."""
        import pyarrow as pa

        return cls.of_levels(pa.array(values, pa.string()))

    @classmethod
    def of_chunks(cls, chunks: Sequence[tuple[Any, Any]], known: Callable[[Any], Any]) -> Texts:
        """Texts of rows from dictionaries in any order, and indices in them, or nulls.

        `known` converts the array of all dictionaries, with equal and unused texts, and has null for missing ones.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        sizes = [len(dictionary) for dictionary, _ in chunks]
        indices = [
            np.asarray(of_rows.cast(pa.int32()).fill_null(size) if of_rows.null_count else of_rows)
            for size, (_, of_rows) in zip(sizes, chunks, strict=True)
        ]
        counted = [np.bincount(one, minlength=size + 1)[:size] for size, one in zip(sizes, indices, strict=True)]
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *counted])
        texts = known(pa.chunked_array([dictionary for dictionary, _ in chunks], pa.string()).combine_chunks())
        texts = pc.if_else(pa.array(counts > 0), texts, None)
        levels = texts.drop_null().unique()
        levels = levels.take(pc.sort_indices(levels))
        missing = len(levels)
        kind = next(one for one in (np.int8, np.int16, np.int32) if missing <= np.iinfo(one).max)
        rank_of = pc.fill_null(pc.index_in(texts, levels), missing).to_numpy(zero_copy_only=False).astype(kind)
        starts = np.cumsum([0, *sizes])[:-1].tolist()
        ranks = [
            np.append(rank_of[start : start + size], kind(missing))[one]
            for start, size, one in zip(starts, sizes, indices, strict=True)
        ]
        counts = np.bincount(rank_of, counts, missing + 1)[:missing].astype(np.int64)
        return cls(levels, np.concatenate([np.zeros(0, dtype=kind), *ranks]), counts)

    @property
    def n_rows(self) -> int:
        return len(self.ranks)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The different texts."""
        return tuple(self.levels.to_pylist())

    @property
    def codes(self) -> npt.NDArray[np.intp]:
        """Index of each row's text, -1 where it is missing."""
        return self.spread(np.arange(len(self.levels)), -1)

    def spread(self, of_levels: Any, missing: float = np.nan) -> npt.NDArray[Any]:
        """Number of each row, from those of the different texts and of a missing one."""
        import pyarrow as pa

        of_levels = np.asarray(of_levels)
        given = np.append(of_levels, np.asarray(missing, dtype=of_levels.dtype))
        return pa.array(given).take(pa.array(self.ranks)).to_numpy()  # type: ignore[no-any-return]


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
    by_row: Callable[[], Iterable[Cells]] | None = None
    """Cells of the rows of all parts, for messages, where this column has each value once; None: it has the rows."""
    rounded: bool = False
    """True if numbers were integers that floating-point numbers do not keep."""

    @property
    def n_rows(self) -> int:
        if self.texts is not None:
            return self.texts.n_rows
        return 0 if self.numbers is None else len(self.numbers)

    @cached_property
    def numbers_of_levels(self) -> Any:
        """Array of the numbers that the different texts spell, or None."""
        assert self.texts is not None
        return _parse_numbers(self.texts.levels, decimal_comma=self.decimal_comma)

    def unlike(self, kind: str) -> str:
        """First text that can be in no column of this kind, with its row; empty if there is none."""
        return self.examples(lambda text: not is_of_kind(text, kind, decimal_comma=self.decimal_comma))

    def examples(self, is_one: Callable[[str], bool], most: int = 1) -> str:
        """First different texts for which `is_one` is true, each with its row, as messages list them."""
        shown: dict[str, str] = {}
        for cells in [self] if self.by_row is None else self.by_row():
            texts = as_texts(cells)
            codes, first = np.unique(texts.codes, return_index=True)
            for index in np.argsort(first).tolist():
                text = texts.values[codes[index]] if codes[index] >= 0 else None
                if text is None or text in shown or not is_one(text):
                    continue
                row = "" if cells.where is None else f" in {cells.where(first[index : index + 1])[0]}"
                shown[text] = f"{text!r}{row}"
                if len(shown) == most:
                    return ", ".join(shown.values())
        return ", ".join(shown.values())


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
    of_levels = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_string(of_levels) or types.is_large_string(of_levels):
        return made(form="text", texts=_texts_of(column, missing, spelled=spelled))
    if types.is_dictionary(kind):
        column, kind = column.cast(of_levels), of_levels
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
    raise ValueError(
        f"the column {name!r} holds {kind}; columns may hold numbers, text, booleans and dates; leave it out with "
        f"--ignore {name!r}, or convert it"
    )


def unquoted(texts: Sequence[str], missing: Collection[str] = ("",)) -> Sequence[str]:
    """Texts without single quotes around them, if all but words for missing values have them."""
    there = [text for text in texts if text.lower() not in missing]
    if not there or not all(len(text) > 1 and text[0] == text[-1] == "'" for text in there):
        return texts
    return [text if text.lower() in missing else text[1:-1] for text in texts]


def _texts_of(column: Any, missing: Sequence[str], *, spelled: bool) -> Texts:
    import pyarrow as pa
    import pyarrow.compute as pc

    def known(levels: Any) -> Any:
        levels = pc.utf8_trim_whitespace(levels)
        return pc.if_else(pc.is_in(pc.utf8_lower(levels), pa.array(missing, pa.string())), None, levels)

    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = Texts.of_chunks([(one.dictionary.cast(pa.string()), one.indices) for one in column.chunks], known)
    if spelled and len(texts.levels) and texts.values[0].startswith("'"):
        levels = pa.array([*unquoted(texts.values), None], pa.string())
        return Texts.of_chunks([(levels, pa.array(texts.ranks))], known)
    return texts


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
        return cells.texts.spread(np.array([np.nan if value is None else value for value in parsed], dtype=np.float64))
    values = cells.numbers_of_levels
    numbers = None if values is None else cells.texts.spread(values)
    if numbers is not None and cells.by_row is not None and np.isinf(numbers).any():
        for rows in cells.by_row():
            as_numbers(rows)  # raises with the name of the row
    return None if numbers is None else _finite(cells.name, numbers, cells.where)


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
        return as_dates(Cells("", "text", spelled=True, texts=Texts.of([text]))) is not None
    return _parse_numbers(Texts.of([text]).levels, decimal_comma=decimal_comma) is not None


def _parse_numbers(levels: Any, *, decimal_comma: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    for comma in (False, True)[: 1 + decimal_comma]:
        try:
            return (pc.replace_substring(levels, ",", ".", max_replacements=1) if comma else levels).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
    return None


def has_rounded_integers(column: Any) -> bool:
    """True if a column of pyarrow has integers that are rounded as floating-point numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    if ends["min"] is None or max(-ends["min"], ends["max"]) <= LARGEST_EXACT:
        return False
    integers = column.drop_null().to_numpy()
    with np.errstate(invalid="ignore"):  # the largest integer as a number is beyond its type
        return bool((integers.astype(np.float64).astype(integers.dtype) != integers).any())


def loses_digits(cells: Cells) -> bool:
    """True if some texts are integers that are rounded as floating-point numbers."""
    import pyarrow.compute as pc

    if cells.texts is None:
        return False
    levels = cells.texts.levels
    long = levels.filter(pc.match_substring_regex(levels, LONG_INTEGER)).to_pylist()
    return any(int(text) != int(float(text)) for text in long)


def as_booleans(cells: Cells) -> FloatArray | None:
    """Column as 1 for true and 0 for false; None if it holds something else."""
    if cells.form in ("boolean", "empty"):
        return cells.numbers
    if cells.texts is not None and _says_truth(cells.texts):
        return cells.texts.spread(np.array([TRUTH[text.lower()] for text in cells.texts.values], dtype=np.float64))
    numbers = as_numbers(cells)
    return numbers if numbers is not None and np.isin(numbers[~np.isnan(numbers)], (0.0, 1.0)).all() else None


def _says_truth(texts: Texts) -> bool:
    """True if all texts are true or false, in any case."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array(list(TRUTH), pa.string())
    return pc.all(pc.is_in(pc.utf8_lower(texts.levels), words), min_count=0).as_py() is True


def as_dates(cells: Cells) -> FloatArray | None:
    """Days since 1970; None if the column holds no dates like 2020-12-31 or 2020-12-31 23:59:59."""
    import pyarrow as pa

    if cells.form in ("date", "empty"):
        return cells.numbers
    if cells.texts is None:
        return None
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return cells.texts.spread(_days(cells.texts.levels.cast(kind)))
        except pa.ArrowInvalid:
            continue
    return None


def as_texts(cells: Cells) -> Texts:
    """Column as texts; numbers without a fraction as integers."""
    import pyarrow as pa

    if cells.texts is not None:
        return cells.texts
    numbers = cells.numbers if cells.numbers is not None else np.zeros(0)
    there = ~np.isnan(numbers)
    different, indices = np.unique(numbers[there], return_inverse=True)
    of_rows = np.zeros(len(numbers), dtype=np.int32)
    of_rows[there] = indices.reshape(-1)
    shown = pa.array([_shown(float(value), cells.form) for value in different], pa.string())
    return Texts.of_chunks([(shown, pa.array(of_rows, mask=~there))], lambda levels: levels)


def _shown(value: float, form: str) -> str:
    if form == "boolean":
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_EXACT else repr(value)


@dataclass(frozen=True)
class DistinctValues:
    """Different texts or numbers of a column in some rows, and the number of rows of each."""

    cells: Cells
    """Each value once, ascending."""
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, cells: Cells) -> DistinctValues:
        """Values that occur in these rows; missing ones do not count."""
        if cells.texts is None:
            assert cells.numbers is not None  # of every other form
            values, counts = np.unique(cells.numbers[~np.isnan(cells.numbers)], return_counts=True)
            return cls(replace(cells, numbers=values, where=None), counts)
        return cls(replace(cells, texts=Texts.of_levels(cells.texts.levels), where=None), cells.texts.counts)

    def with_rows(self, by_row: Callable[[], Iterable[Cells]]) -> DistinctValues:
        """Copy with the cells of the rows, for messages."""
        return replace(self, cells=replace(self.cells, by_row=by_row))

    def merged(self, other: DistinctValues) -> DistinctValues:
        """Values of the rows of both."""
        import pyarrow as pa

        counts = np.concatenate([self.counts, other.counts])
        one, two = self.cells, other.cells
        if one.numbers is not None and two.numbers is not None:
            values, codes = np.unique(np.concatenate([one.numbers, two.numbers]), return_inverse=True)
            cells = replace(one, numbers=values)
        else:  # integers of more than 16 digits are texts
            chunks = [
                (as_texts(cells).levels, pa.array(np.arange(len(as_texts(cells).levels)))) for cells in (one, two)
            ]
            texts = Texts.of_chunks(chunks, lambda levels: levels)
            codes = texts.codes
            cells = replace(one if one.texts is not None else two, texts=Texts.of_levels(texts.levels))
        return DistinctValues(cells, np.bincount(codes.reshape(-1), counts).astype(np.int64))


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


def written_numbers(values: DistinctValues) -> WrittenNumbers | None:
    """Format of numbers that programs do not write so, by the texts and the rows of each; None if there is none.

    Plain numbers that a typed file has as text are text.
    """
    cells = values.cells
    if cells.texts is None:
        return None
    counts = dict(zip(cells.texts.values, values.counts.tolist(), strict=True))
    written = find_numbers(counts, decimal_comma=cells.decimal_comma)
    return None if written is None or (written.is_plain and not cells.spelled) else written


def kind_of(values: DistinctValues) -> InferredKind:
    """Kind of a column."""
    cells = values.cells
    if cells.form != "text":
        return InferredKind({"number": "number", "empty": "number", "date": "date", "boolean": "boolean"}[cells.form])
    if cells.texts is None or not len(cells.texts.levels):
        return InferredKind("number")
    if _says_truth(cells.texts):
        return InferredKind("boolean")
    if cells.spelled and as_numbers(cells) is not None:
        return InferredKind("number")
    if as_dates(cells) is not None:
        return InferredKind("date")
    written = written_numbers(values)
    if written is not None:
        return InferredKind("number", written)
    if all(OTHER_DATE.match(text) for text in cells.texts.values):
        raise ValueError(
            f"the column {cells.name!r} looks like dates ({cells.unlike('number')}), and dates are read in the form "
            f"2020-12-31 or 2020-12-31 23:59:59, because others are ambiguous; write them so, leave the column out "
            f"with --ignore {cells.name!r}, or take it as categories with --categorical {cells.name!r}"
        )
    return InferredKind("category")
