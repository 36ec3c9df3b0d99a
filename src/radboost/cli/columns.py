"""Columns of a model: chosen for a fit, and matched by name in other tables."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers, is_marker, is_plain
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import (
    Cells,
    DistinctValues,
    InferredKind,
    Texts,
    as_booleans,
    as_dates,
    as_numbers,
    as_texts,
    has_rounded_integers,
    is_number,
    kind_of,
    loses_digits,
    read_cells,
)
from radboost.cli.reading import RawTable
from radboost.model_file import ColumnSchema, Schema

MOST_CATEGORIES = 255
MOST_DIFFERENT = 1_000_000  # different texts of a column of a typed table that are counted
UNNAMED = "column_1"  # name of the first column where it has none


@dataclass(frozen=True)
class FeatureTable:
    """Columns of a model with the values of some rows: numbers, or indices of categories.

    Index -1 is a missing value, and -2 - k the k-th text of `others`, which is no category of the column. A model sees
    both as missing.
    """

    columns: tuple[ColumnSchema, ...]
    values: Mapping[str, npt.NDArray[Any]]
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values.values())))

    def take(self, rows: npt.NDArray[Any]) -> FeatureTable:
        """Rows with these indices."""
        return replace(self, values={name: values[rows] for name, values in self.values.items()})

    @staticmethod
    def joined(parts: Sequence[FeatureTable]) -> FeatureTable:
        """Rows of several parts, one below the other."""
        columns, values, others = parts[0].columns, {}, {}
        for column in columns:
            of_parts = [one.values[column.name] for one in parts]
            if column.kind == "category":
                texts = [one.others[column.name] for one in parts]
                starts = np.cumsum([0, *map(len, texts)])
                of_parts = [np.where(one < -1, one - start, one) for one, start in zip(of_parts, starts, strict=False)]
                others[column.name] = tuple(text for part in texts for text in part)
            values[column.name] = np.concatenate(of_parts)
        return FeatureTable(columns, values, others)

    def for_model(self, form: str, *, with_others: bool = False) -> Any:
        """Table of pyarrow as models take it, `with_others` with the texts that are no categories."""
        import pyarrow as pa

        arrays: dict[str, Any] = {}
        for column in self.columns:
            values = self.values[column.name]
            if form == "numbers":
                arrays |= _as_features(column, values)
            elif column.kind == "category":
                texts = column.categories
                if with_others and column.name in self.others:
                    values = np.where(values < -1, len(texts) - 2 - values, values)
                    texts += self.others[column.name]
                codes = pa.array(values, mask=values < 0)
                arrays[column.name] = pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()))
            else:
                arrays[column.name] = pa.array(values, type=pa.float64())
        return pa.table(arrays)


def _as_features(column: ColumnSchema, values: npt.NDArray[Any]) -> dict[str, FloatArray]:
    """Indicator of each category, or numbers with missing ones at the mean of the training rows."""
    names = list(column.feature_names)
    if column.kind == "category":
        features = [(values == index).astype(np.float64) for index in range(len(column.categories))]
        absent = values < 0
    else:
        absent = np.isnan(values)
        features = [np.where(absent, column.mean or 0.0, values)]
    if column.may_miss:
        features.append(absent.astype(np.float64))
    return dict(zip(names, features, strict=True))


def with_means(columns: Sequence[ColumnSchema], table: FeatureTable) -> tuple[ColumnSchema, ...]:
    """Columns with the means of these rows, and whether values are missing in them."""
    learned = []
    for column in columns:
        values = table.values[column.name]
        absent = values < 0 if column.kind == "category" else np.isnan(values)
        mean = None
        if column.kind != "category":
            # sorted: the sum does not depend on the order of the rows
            mean = float(np.mean(np.sort(values[~absent]))) if not absent.all() else 0.0
        learned.append(replace(column, mean=mean, may_miss=bool(absent.any())))
    return tuple(learned)


def find_column(given: Any, name: str, option: str) -> str:
    """Name of a column that an option gives; ValueError if there is none."""
    if name in given.names:
        return name
    close = difflib.get_close_matches(name, given.names, 3)
    by_case = [one for one in given.names if one.lower() == name.lower()]
    meant = by_case or close
    there = f"did you mean {' or '.join(map(repr, meant))}?" if meant else f"its columns are {_with_last(given.names)}"
    if isinstance(given, RawTable) and any(
        name in given.table.column(name).cast("string").unique().to_pylist() for name in given.names
    ):
        there += ". Its first line may be a row: then say --no-header"
    raise ValueError(f"{option} {name!r}: {given.name} has no such column; {there}")


@dataclass(frozen=True)
class ColumnSummary:
    """Facts about a column in some rows, by which it is used or left out; those of parts are merged."""

    form: str
    """Form of the cells, or "names" for a column that --categorical names."""
    n_rows: int
    n_present: int = 0
    low: float = np.inf
    """Least and largest number, if these are no texts."""
    high: float = -np.inf
    texts: DistinctValues | None = None
    too_many: bool = False
    """True for more different texts in a typed table than are counted."""
    numbers_rows: bool = False
    """True if the values are consecutive whole numbers in the order of the rows."""
    rounded: bool = False
    """True for integers with more digits than are kept."""

    @classmethod
    def of(cls, cells: Cells, *, as_names: bool, may_number_rows: bool) -> ColumnSummary:
        """Facts about these rows; `may_number_rows`: whether that is to be checked."""
        n_rows, low, high, numbers_rows = cells.n_rows, np.inf, -np.inf, False
        numbers = as_numbers(cells) if may_number_rows else None
        if numbers is not None and n_rows and np.array_equal(numbers, numbers[0] + np.arange(n_rows)):
            low, high, numbers_rows = float(numbers[0]), float(numbers[-1]), True
        if not as_names and cells.texts is None:
            assert cells.numbers is not None
            return cls(cells.form, n_rows, *_range_of(cells.numbers), None, False, numbers_rows, cells.rounded)
        texts = DistinctValues.of(replace(cells, texts=as_texts(cells), numbers=None))
        n_present = int(texts.counts.sum())
        summary = cls("names" if as_names else "text", n_rows, n_present, low, high, texts, False, numbers_rows)
        return summary._bounded()

    def merged(self, other: ColumnSummary) -> ColumnSummary:
        """Facts about the rows of both, those of `other` below the others."""
        texts = None if self.texts is None or other.texts is None else self.texts.merged(other.texts)
        return ColumnSummary(
            self.form,
            self.n_rows + other.n_rows,
            self.n_present + other.n_present,
            min(self.low, other.low),
            max(self.high, other.high),
            texts,
            self.too_many or other.too_many,
            self.numbers_rows and other.numbers_rows and self.high + 1 == other.low,
            self.rounded or other.rounded,
        )._bounded()

    def _bounded(self) -> ColumnSummary:
        if self.too_many or (
            self.texts is not None and not self.texts.cells.spelled and len(self.texts.counts) > MOST_DIFFERENT
        ):
            return replace(self, texts=None, too_many=True)
        return self

    def kind(self, by_row: Callable[[], Iterable[Cells]]) -> InferredKind:
        """Kind of the column; `by_row`: as for `Cells`."""
        if self.form == "names":
            return InferredKind("category")
        return InferredKind(_KINDS[self.form]) if self.texts is None else kind_of(self.texts.with_rows(by_row))

    def in_kind(self, kind: InferredKind) -> ColumnSummary:
        """Facts about the column as one of this kind, in which other texts are missing."""
        if kind.name == "category" or self.texts is None:
            return self
        cells = self.texts.cells
        values = numbers_of(cells, kind.name, kind.number_format)
        _, low, high = _range_of(values)
        n_present = int(self.texts.counts[~np.isnan(values)].sum())
        return replace(self, n_present=n_present, low=low, high=high, rounded=loses_digits(cells))


_KINDS = {"number": "number", "empty": "number", "date": "date", "boolean": "boolean"}


def _range_of(values: FloatArray) -> tuple[int, float, float]:
    """Number of values, the least and the largest; NaN is missing."""
    known = values[~np.isnan(values)]
    return (len(known), float(known.min()), float(known.max())) if len(known) else (0, np.inf, -np.inf)


def decide_columns(
    where: str,
    seen: Mapping[str, ColumnSummary],
    categorical: Collection[str],
    by_row: Callable[[str], Iterable[Cells]],
) -> tuple[tuple[ColumnSchema, ...], dict[str, str], tuple[str, ...]]:
    """Columns that can help, reasons for those that are left out, and notes.

    `by_row` returns the cells of a column's rows, in parts, for messages.
    """
    columns: list[ColumnSchema] = []
    left_out: dict[str, str] = {}
    notes: list[str] = []
    for index, (name, summary) in enumerate(seen.items()):
        if summary.too_many:
            left_out[name] = f"has more than {MOST_DIFFERENT:,} different texts, too many to tell apart"
            continue
        kind = summary.kind(partial(by_row, name))
        one = summary.in_kind(kind)
        useless = _useless(name, one, kind.name, wanted=name in categorical, first=index == 0)
        if useless is not None:
            left_out[name] = useless
        elif kind.name == "category":
            assert one.texts is not None
            column, said = _category(name, one.texts)
            columns.append(column)
            notes += said
        else:
            columns.append(ColumnSchema(name, kind.name, number_format=kind.number_format))
            if kind.written is not None:
                notes.append(_how_written(name, kind.written))
            if kind.name == "date":
                notes.append(f"the dates in {name!r} are taken as numbers of days")
            if one.rounded:
                notes.append(
                    f"{name!r} holds whole numbers beyond 2^53, which are rounded to 16 digits; if they are names, say "
                    f"--categorical {name!r}"
                )
    if not columns:
        reasons = "; ".join(f"{name!r} {reason}" for name, reason in list(left_out.items())[:5])
        raise ValueError(f"{where} has no column left to learn from" + (f": {reasons}" if reasons else ""))
    return tuple(columns), left_out, tuple(notes)


def cells_of(given: RawTable, name: str, missing: Sequence[str], *, as_names: bool = False) -> Cells:
    """Cells of a column of a table; `as_names`: integers may be names, whose digits all count."""
    column, spelled = given.table.column(name), given.as_text
    rounded = has_rounded_integers(column)
    if rounded and as_names:
        column, spelled = column.cast("string"), True
    cells = read_cells(name, column, missing, spelled=spelled, decimal_comma=given.decimal_comma, where=given.row_names)
    return replace(cells, rounded=rounded)


def numbers_of(cells: Cells, kind: str, number_format: NumberFormat | None) -> FloatArray:
    """Values of a column of a kind that `kind_of` has returned."""
    values = _READERS[kind](cells) if number_format is None else as_numbers(cells, number_format)
    assert values is not None  # by `kind_of`
    return values


_READERS = {"number": as_numbers, "date": as_dates, "boolean": as_booleans}


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


def table_of(columns: tuple[ColumnSchema, ...], content: Callable[[ColumnSchema], Any]) -> FeatureTable:
    """Table of these columns; `content` returns the numbers of a column, or the texts of categories."""
    values, others = {}, {}
    for column in columns:
        values[column.name] = content(column)
        if column.kind == "category":
            texts = values[column.name]
            code_of = {value: k for k, value in enumerate(column.categories)}
            others[column.name] = tuple(text for text in texts.values if text not in code_of)
            code_of |= {text: -2 - k for k, text in enumerate(others[column.name])}
            small = len(texts.values) + 2 < np.iinfo(np.int16).max
            codes = np.array([code_of[text] for text in texts.values], dtype=np.int16 if small else np.int32)
            values[column.name] = texts.spread(codes, -1)
    return FeatureTable(columns, values, others)


def _category(name: str, texts: DistinctValues) -> tuple[ColumnSchema, list[str]]:
    """Category column of the 255 most frequent texts, of equally frequent ones the first, and notes."""
    assert texts.cells.texts is not None
    values = texts.cells.texts.values
    frequent = np.sort(np.argsort(-texts.counts, kind="stable")[:MOST_CATEGORIES])
    said = []
    if len(values) > MOST_CATEGORIES:
        said.append(
            f"{name!r} has {len(values):,} different texts; the {MOST_CATEGORIES} most frequent are told apart, and "
            "the others are taken as missing values"
        )
    return ColumnSchema(name, "category", tuple(values[index] for index in frequent.tolist())), said


def _useless(name: str, seen: ColumnSummary, kind: str, *, wanted: bool, first: bool) -> str | None:
    if not seen.n_present:
        return "has no value in any row"
    if kind == "category":
        assert seen.texts is not None
        n_texts = len(seen.texts.counts)
        if n_texts == 1 and seen.n_present == seen.n_rows:
            return "has the same text in every row"
        if 1 < n_texts == seen.n_present and not wanted:
            return "has a different text in every row, like an identifier (--categorical takes it nevertheless)"
        return None
    if seen.low == seen.high and seen.n_present == seen.n_rows:
        rounded = " once whole numbers beyond 2^53 are rounded (--categorical takes them as names)"
        return f"has the same value in every row{rounded * seen.rounded}"
    # the index of a data frame, which is written without a name
    if first and name == UNNAMED and seen.numbers_rows and seen.low == 0:
        return "has no name of its own and numbers the rows"
    return None


def match_columns(given: RawTable, schema: Schema) -> tuple[FeatureTable, list[str]]:
    """Columns of a model in another table, by name, and notes about its content."""
    used, there = set(schema.names), set(given.names)
    absent = [name for name in schema.names if name not in there]
    if absent:
        others = [name for name in given.names if name not in used and name != schema.target]
        raise ValueError(
            f"{given.name} lacks {'the column' if len(absent) == 1 else 'the columns'} {listed(absent)}, which the "
            f"model uses; besides those that it uses there {'is' if len(others) == 1 else 'are'} "
            f"{listed(others) or 'no others'}. Columns are found by their names, in any order: rename or add them"
            f"{'; --names a,b,... names those of CSV without a line of names' if 'column_1' in others else ''}"
        )
    notes, content = [], {}
    for column in schema.columns:
        content[column.name], said = _matched(_cells_for(given, column, schema), column, given.name)
        notes += said
    known = {*used, *schema.left_out, schema.target}
    extra = [name for name in given.names if name not in known]
    if extra:
        notes.append(f"{given.name} has columns that the model does not know, and are not used: {listed(extra)}")
    return table_of(schema.columns, lambda column: content[column.name]), notes


def _cells_for(given: RawTable, column: ColumnSchema, schema: Schema) -> Cells:
    return cells_of(given, column.name, schema.missing_words, as_names=column.kind == "category")


def _matched(cells: Cells, column: ColumnSchema, where: str) -> tuple[Any, list[str]]:
    if column.kind == "category":
        return _matched_category(cells, column, where)
    if column.number_format is not None and cells.texts is not None:
        return _matched_format(cells, cells.texts, column, column.number_format)
    values = _READERS[column.kind](cells)
    if values is None or (column.kind == "number" and cells.form == "date"):
        wanted = {"number": "numbers", "date": "dates (2020-12-31)", "boolean": "true or false"}[column.kind]
        raise ValueError(
            f"the column {column.name!r} of {where} holds {_example(cells, column.kind)}, and the model was fitted to "
            f"{wanted}; "
            "correct the column, or fit a new model"
        )
    return values, []


def _matched_format(
    cells: Cells, texts: Texts, column: ColumnSchema, number_format: NumberFormat
) -> tuple[Any, list[str]]:
    others = [
        (text, n)
        for text, n in zip(texts.values, texts.counts.tolist(), strict=True)
        if n and number_format.parse(text) is None and not is_marker(text)
    ]
    values = as_numbers(cells, number_format)
    if not others:
        return values, []
    n_rows = sum(n for _, n in others)
    said = (
        f"{n_rows:,} of {texts.n_rows:,} rows have no number in {column.name!r} that is written like those of the "
        f"fit ({listed([text for text, _ in others], 3)}); taken as missing"
    )
    return values, [said]


def _matched_category(cells: Cells, column: ColumnSchema, where: str) -> tuple[Any, list[str]]:
    texts, known = as_texts(cells), set(column.categories)
    unseen = [text for text in texts.values if text not in known]
    numbers_wanted = all(map(is_number, column.categories))
    if unseen and len(unseen) == len(texts.values) and not numbers_wanted and all(map(is_number, unseen)):
        raise ValueError(
            f"the column {column.name!r} of {where} holds numbers ({cells.examples(is_number)}), and the model was "
            f"fitted to texts like {listed(column.categories, 3)}; correct the column, or fit a new model"
        )
    n_rows = sum(n for text, n in zip(texts.values, texts.counts.tolist(), strict=True) if text not in known)
    if not n_rows:
        return texts, []
    said = (
        f"{column.name!r} has {'a text' if len(unseen) == 1 else f'{len(unseen):,} texts'} that the model does not "
        f"tell apart ({listed(unseen, 3)}), in {n_rows:,} of {texts.n_rows:,} rows; taken as missing"
    )
    return texts, [said]


def _example(cells: Cells, kind: str) -> str:
    """Text that is not of this kind, with its row; of a column without texts what it holds."""
    if cells.form == "text":
        return cells.unlike(kind) or "text"
    return {"number": "numbers", "boolean": "true and false", "date": "dates"}.get(cells.form, "nothing")


def _with_last(names: Sequence[str], most: int = 10) -> str:
    """First names and the last one, which is often the target."""
    if len(names) <= most:
        return listed(names, most)
    return f"{listed(names[: most - 1])}, ..., {names[-1]!r} ({len(names):,} in all)"
