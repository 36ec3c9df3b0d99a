"""Columns of a model: chosen for a fit, and matched by name in other tables."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers, is_marker, is_plain
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import (
    Cells,
    InferredKind,
    Texts,
    as_booleans,
    as_dates,
    as_numbers,
    as_texts,
    holds_long_integers,
    is_number,
    kind_of,
    loses_digits,
    read_cells,
)
from radboost.cli.reading import RawTable
from radboost.model_file import ColumnSchema, Schema

MOST_CATEGORIES = 255


@dataclass(frozen=True)
class FeatureTable:
    """Columns of a model with the values of some rows: numbers, or indices of categories.

    Index -1 is a missing value, and -2 - k the k-th text of `others`, which is no category of the column. A model sees
    both as missing.
    """

    columns: tuple[ColumnSchema, ...]
    values: Mapping[str, FloatArray | npt.NDArray[np.int64]]
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values.values())))

    def take(self, rows: npt.NDArray[Any]) -> FeatureTable:
        """Rows with these indices."""
        return replace(self, values={name: values[rows] for name, values in self.values.items()})

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
                codes = pa.array(values, mask=values < 0, type=pa.int32())
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
        name in given.table.column(name).unique().to_pylist() for name in given.names
    ):
        there += ". Its first line may be a row: then say --no-header"
    raise ValueError(f"{option} {name!r}: {given.name} has no such column; {there}")


@dataclass(frozen=True)
class ChosenColumns:
    """Columns of a fit with their values, and the reasons for those that are left out."""

    table: FeatureTable
    left_out: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ColumnSummary:
    """Facts about a column over all rows, by which it is used or left out."""

    kind: str
    n_rows: int
    n_present: int
    texts: Mapping[str, int]
    """Category -> number of rows."""
    same: bool = False
    """True if all values that are present are the same."""
    numbers_rows: bool = False
    """True if the values are 0, 1, 2, ... in the order of the rows."""
    written: WrittenNumbers | None = None
    """Format of numbers that programs do not write so."""
    rounded: bool = False
    """True for integers with more digits than are kept."""

    @classmethod
    def of_texts(cls, texts: Texts) -> ColumnSummary:
        counts = texts.counts
        n_rows = {text: int(n) for text, n in zip(texts.values, counts.tolist(), strict=True) if n}
        return cls("category", len(texts.codes), int(counts.sum()), n_rows)

    @classmethod
    def of_numbers(cls, kind: InferredKind, values: FloatArray) -> ColumnSummary:
        there = values[~np.isnan(values)]
        return cls(
            kind.name,
            len(values),
            len(there),
            {},
            same=len(there) > 0 and bool((there == there[0]).all()),
            numbers_rows=len(values) > 1 and np.array_equal(values, np.arange(len(values))),
            written=kind.written,
        )


def choose_columns(
    given: RawTable, names: Sequence[str], categorical: Collection[str], missing: Sequence[str]
) -> ChosenColumns:
    """Decide on the kind of each column, and leave out those that cannot help."""
    seen: dict[str, ColumnSummary] = {}
    content: dict[str, Any] = {}
    for name in names:
        cells = cells_of(given, name, missing)
        kind = InferredKind("category") if name in categorical else kind_of(cells)
        if kind.name == "category":
            content[name] = as_texts(cells)
            seen[name] = ColumnSummary.of_texts(content[name])
        else:
            content[name] = numbers_of(cells, kind.name, kind.number_format)
            seen[name] = replace(ColumnSummary.of_numbers(kind, content[name]), rounded=loses_digits(cells))
    columns, left_out, notes = decide_columns(given.name, seen, categorical)
    return ChosenColumns(table_of(columns, content), left_out, notes)


def decide_columns(
    where: str, seen: Mapping[str, ColumnSummary], categorical: Collection[str]
) -> tuple[tuple[ColumnSchema, ...], dict[str, str], tuple[str, ...]]:
    """Columns that can help, reasons for those that are left out, and notes."""
    columns: list[ColumnSchema] = []
    left_out: dict[str, str] = {}
    notes: list[str] = []
    for index, (name, one) in enumerate(seen.items()):
        useless = _useless(name, one, wanted=name in categorical, first=index == 0)
        if useless is not None:
            left_out[name] = useless
        elif one.kind == "category":
            column, said = _category(name, one.texts)
            columns.append(column)
            notes += said
        else:
            number_format = None if one.written is None else one.written.format
            columns.append(ColumnSchema(name, one.kind, number_format=number_format))
            if one.written is not None:
                notes.append(_how_written(name, one.written))
            if one.kind == "date":
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


def cells_of(given: RawTable, name: str, missing: Sequence[str]) -> Cells:
    """Cells of a column of a table."""
    column, spelled = given.table.column(name), given.as_text
    if holds_long_integers(column):
        column, spelled = column.cast("string"), True
    return read_cells(name, column, missing, spelled=spelled, decimal_comma=given.decimal_comma, where=given.row_names)


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


def table_of(columns: tuple[ColumnSchema, ...], content: Mapping[str, Any]) -> FeatureTable:
    """Table of these columns, from numbers and, for categories, texts."""
    values, others = {}, {}
    for column in columns:
        values[column.name] = content[column.name]
        if column.kind == "category":
            texts = content[column.name]
            code_of = {value: k for k, value in enumerate(column.categories)}
            others[column.name] = tuple(text for text in texts.values if text not in code_of)
            code_of |= {text: -2 - k for k, text in enumerate(others[column.name])}
            codes = np.array([*(code_of[text] for text in texts.values), -1], dtype=np.int64)
            values[column.name] = codes[texts.codes]
    return FeatureTable(columns, values, others)


def _category(name: str, texts: Mapping[str, int]) -> tuple[ColumnSchema, list[str]]:
    """Category column of the 255 most frequent texts, of equally frequent ones the first, and notes."""
    frequent = sorted(sorted(texts, key=lambda text: (-texts[text], text))[:MOST_CATEGORIES])
    said = []
    if len(texts) > MOST_CATEGORIES:
        said.append(
            f"{name!r} has {len(texts):,} different texts; the {MOST_CATEGORIES} most frequent are told apart, and the "
            "others are taken as missing values"
        )
    return ColumnSchema(name, "category", tuple(frequent)), said


def _useless(name: str, seen: ColumnSummary, *, wanted: bool, first: bool) -> str | None:
    if not seen.n_present:
        return "has no value in any row"
    if seen.kind == "category":
        if len(seen.texts) == 1 and seen.n_present == seen.n_rows:
            return "has the same text in every row"
        if 1 < len(seen.texts) == seen.n_present and not wanted:
            return "has a different text in every row, like an identifier (--categorical takes it nevertheless)"
        return None
    if seen.same and seen.n_present == seen.n_rows:
        rounded = " once whole numbers beyond 2^53 are rounded (--categorical takes them as names)"
        return f"has the same value in every row{rounded * seen.rounded}"
    # the index of a data frame, which is written without a name
    if first and name == "column_1" and seen.numbers_rows:
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
        content[column.name], said = _matched(cells_of(given, column.name, schema.missing_words), column, given.name)
        notes += said
    known = {*used, *schema.left_out, schema.target}
    extra = [name for name in given.names if name not in known]
    if extra:
        notes.append(f"{given.name} has columns that the model does not know, and are not used: {listed(extra)}")
    return table_of(schema.columns, content), notes


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
        f"{n_rows:,} of {len(texts.codes):,} rows have no number in {column.name!r} that is written like those of the "
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
        f"tell apart ({listed(unseen, 3)}), in {n_rows:,} of {len(texts.codes):,} rows; taken as missing"
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
