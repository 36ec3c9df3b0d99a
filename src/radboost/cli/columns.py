"""The columns that a model uses: chosen for a fit, and found again in other tables by their names."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.cli.cells import Cells, Texts, as_booleans, as_dates, as_numbers, as_texts, is_number, kind_of, read_cells
from radboost.cli.reading import Given
from radboost.model_file import ColumnSchema, Schema

MOST_CATEGORIES = 255


@dataclass(frozen=True)
class Table:
    """The columns of a model with the values of some rows: numbers, or places among the categories (-1: missing)."""

    columns: tuple[ColumnSchema, ...]
    values: Mapping[str, FloatArray | npt.NDArray[np.int64]]

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values.values())))

    def take(self, rows: npt.NDArray[Any]) -> Table:
        """Some of the rows."""
        return Table(self.columns, {name: values[rows] for name, values in self.values.items()})

    def for_model(self, form: str) -> Any:
        """A table of pyarrow's as models take it."""
        import pyarrow as pa

        arrays: dict[str, Any] = {}
        for column in self.columns:
            values = self.values[column.name]
            if form == "numbers":
                arrays |= _as_features(column, values)
            elif column.kind == "category":
                codes = pa.array(values, mask=values < 0, type=pa.int32())
                arrays[column.name] = pa.DictionaryArray.from_arrays(codes, pa.array(column.categories, pa.string()))
            else:
                arrays[column.name] = pa.array(values, type=pa.float64())
        return pa.table(arrays)


def _as_features(column: ColumnSchema, values: npt.NDArray[Any]) -> dict[str, FloatArray]:
    """One number for each category; missing numbers are the mean of the training rows."""
    names = list(column.feature_names)
    if column.kind == "category":
        found = [(values == place).astype(np.float64) for place in range(len(column.categories))]
        absent = values < 0
    else:
        absent = np.isnan(values)
        found = [np.where(absent, column.mean or 0.0, values)]
    if column.may_miss:
        found.append(absent.astype(np.float64))
    return dict(zip(names, found, strict=True))


def with_means(columns: Sequence[ColumnSchema], table: Table) -> tuple[ColumnSchema, ...]:
    """Columns that remember the means of these rows, and whether values miss in them."""
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
    """The name of a column that an option gives."""
    if name in given.names:
        return name
    close = difflib.get_close_matches(name, given.names, 3)
    by_case = [one for one in given.names if one.lower() == name.lower()]
    meant = by_case or close
    there = f"did you mean {' or '.join(map(repr, meant))}?" if meant else f"its columns are {_with_last(given.names)}"
    raise ValueError(f"{option} {name!r}: {given.name} has no such column; {there}")


@dataclass(frozen=True)
class Choice:
    """The columns of a fit, with their values, and what is left out and why."""

    table: Table
    left_out: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """What decides whether a column can help: of all rows."""

    kind: str
    n_rows: int
    n_present: int
    texts: Mapping[str, int]
    """Of categories: in how many rows each is."""
    same: bool = False
    """Whether the values that are there are all the same."""
    numbers_rows: bool = False
    """Whether they are 0, 1, 2, ... in the order of the rows."""

    @classmethod
    def of_texts(cls, texts: Texts) -> Seen:
        counts = texts.counts
        found = {text: int(n) for text, n in zip(texts.values, counts.tolist(), strict=True) if n}
        return cls("category", len(texts.places), int(counts.sum()), found)

    @classmethod
    def of_numbers(cls, kind: str, values: FloatArray) -> Seen:
        there = values[~np.isnan(values)]
        return cls(
            kind,
            len(values),
            len(there),
            {},
            same=len(there) > 0 and bool((there == there[0]).all()),
            numbers_rows=len(values) > 1 and np.array_equal(values, np.arange(len(values))),
        )


def choose_columns(given: Given, names: Sequence[str], categorical: Collection[str], missing: Sequence[str]) -> Choice:
    """Takes each column for what it holds, and leaves out those that cannot help."""
    seen: dict[str, Seen] = {}
    found: dict[str, Any] = {}
    for name in names:
        cells = cells_of(given, name, missing)
        kind = "category" if name in categorical else kind_of(cells)
        if kind == "category":
            found[name] = as_texts(cells)
            seen[name] = Seen.of_texts(found[name])
        else:
            found[name] = numbers_of(cells, kind)
            seen[name] = Seen.of_numbers(kind, found[name])
    columns, left_out, notes = decide_columns(given.name, seen, categorical)
    values = {
        column.name: places_among(found[column.name], column) if column.kind == "category" else found[column.name]
        for column in columns
    }
    return Choice(Table(columns, values), left_out, notes)


def decide_columns(
    where: str, seen: Mapping[str, Seen], categorical: Collection[str]
) -> tuple[tuple[ColumnSchema, ...], dict[str, str], tuple[str, ...]]:
    """The columns that can help, why others are left out, and what is to be said."""
    columns: list[ColumnSchema] = []
    left_out: dict[str, str] = {}
    notes: list[str] = []
    for place, (name, one) in enumerate(seen.items()):
        useless = _useless(name, one, wanted=name in categorical, first=place == 0)
        if useless is not None:
            left_out[name] = useless
        elif one.kind == "category":
            column, said = _category(name, one.texts)
            columns.append(column)
            notes += said
        else:
            columns.append(ColumnSchema(name, one.kind))
            if one.kind == "date":
                notes.append(f"the dates in {name!r} are taken as numbers of days")
    if not columns:
        reasons = "; ".join(f"{name!r} {reason}" for name, reason in list(left_out.items())[:5])
        raise ValueError(f"{where} has no column left to learn from" + (f": {reasons}" if reasons else ""))
    return tuple(columns), left_out, tuple(notes)


def cells_of(given: Given, name: str, missing: Sequence[str]) -> Cells:
    """A column of a table that was read."""
    return read_cells(name, given.table.column(name), missing, spelled=given.as_text, decimal_comma=given.decimal_comma)


def numbers_of(cells: Cells, kind: str) -> FloatArray:
    """A column of this kind, as `kind_of` has seen it."""
    found = {"number": as_numbers, "date": as_dates, "boolean": as_booleans}[kind](cells)
    assert found is not None  # what `kind_of` has seen
    return found


def places_among(texts: Texts, column: ColumnSchema) -> npt.NDArray[np.int64]:
    """The place of each row's text among the categories of a column; -1 where it is none of them, or missing."""
    place = {value: index for index, value in enumerate(column.categories)}
    return np.array([*(place.get(text, -1) for text in texts.values), -1], dtype=np.int64)[texts.places]


def _category(name: str, texts: Mapping[str, int]) -> tuple[ColumnSchema, list[str]]:
    """At most 255 texts are told apart: the most frequent ones, of equally frequent ones the first."""
    frequent = sorted(sorted(texts, key=lambda text: (-texts[text], text))[:MOST_CATEGORIES])
    said = []
    if len(texts) > MOST_CATEGORIES:
        said.append(
            f"{name!r} has {len(texts):,} different texts; the {MOST_CATEGORIES} most frequent are told apart, and the "
            "others are taken as missing values"
        )
    return ColumnSchema(name, "category", tuple(frequent)), said


def _useless(name: str, seen: Seen, *, wanted: bool, first: bool) -> str | None:
    if not seen.n_present:
        return "has no value in any row"
    if seen.kind == "category":
        if len(seen.texts) == 1 and seen.n_present == seen.n_rows:
            return "has the same text in every row"
        if 1 < len(seen.texts) == seen.n_present and not wanted:
            return "has a different text in every row, like an identifier (--categorical takes it nevertheless)"
        return None
    if seen.same and seen.n_present == seen.n_rows:
        return "has the same value in every row"
    # what data frames write in front of their rows, without a name
    if first and name == "column_1" and seen.numbers_rows:
        return "has no name of its own and numbers the rows"
    return None


def match_columns(given: Given, schema: Schema) -> tuple[Table, list[str]]:
    """The columns of a model in another table, by their names, and notes about what was found there."""
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
    notes, values = [], {}
    for column in schema.columns:
        values[column.name], said = _matched(cells_of(given, column.name, schema.missing_words), column, given.name)
        notes += said
    known = {*used, *schema.left_out, schema.target}
    extra = [name for name in given.names if name not in known]
    if extra:
        notes.append(f"{given.name} has columns that the model does not know, and are not used: {listed(extra)}")
    return Table(schema.columns, values), notes


def _matched(cells: Cells, column: ColumnSchema, where: str) -> tuple[Any, list[str]]:
    if column.kind == "category":
        return _matched_category(cells, column, where)
    read = {"number": as_numbers, "date": as_dates, "boolean": as_booleans}[column.kind]
    values = read(cells)
    if values is None or (column.kind == "number" and cells.form == "date"):
        wanted = {"number": "numbers", "date": "dates (2020-12-31)", "boolean": "true or false"}[column.kind]
        raise ValueError(
            f"the column {column.name!r} of {where} holds {_example(cells)}, and the model was fitted to {wanted}; "
            "correct the column, or fit a new model"
        )
    return values, []


def _matched_category(cells: Cells, column: ColumnSchema, where: str) -> tuple[Any, list[str]]:
    texts = as_texts(cells)
    place = {value: index for index, value in enumerate(column.categories)}
    unseen = [text for text in texts.values if text not in place]
    numbers_wanted = all(map(is_number, column.categories))
    if unseen and len(unseen) == len(texts.values) and not numbers_wanted and all(map(is_number, unseen)):
        raise ValueError(
            f"the column {column.name!r} of {where} holds numbers ({unseen[0]}), and the model was fitted to texts "
            f"like {listed(column.categories, 3)}; correct the column, or fit a new model"
        )
    place_of = np.array([*(place.get(text, -1) for text in texts.values), -1], dtype=np.int64)
    values = place_of[texts.places]
    n_rows = int(((values < 0) & (texts.places >= 0)).sum())
    if not n_rows:
        return values, []
    said = (
        f"{column.name!r} has {'a text' if len(unseen) == 1 else f'{len(unseen):,} texts'} that the model does not "
        f"tell apart ({listed(unseen, 3)}), in {n_rows:,} of {len(values):,} rows; taken as missing"
    )
    return values, [said]


def _example(cells: Cells) -> str:
    if cells.form == "text" and cells.texts is not None:
        strange = [text for text in cells.texts.values if not is_number(text)] or list(cells.texts.values)
        place = cells.texts.values.index(strange[0])
        row = int(np.flatnonzero(cells.texts.places == place)[0]) + 1
        return f"{strange[0]!r} (row {row})"
    return {"number": "numbers", "boolean": "true and false", "date": "dates"}.get(cells.form, "nothing")


def _with_last(names: Sequence[str], most: int = 10) -> str:
    """Some of the first, and the last one, which is often the target."""
    if len(names) <= most:
        return listed(names, most)
    return f"{listed(names[: most - 1])}, ..., {names[-1]!r} ({len(names):,} in all)"


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first of them, and how many more there are."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most:,} more" if len(names) > most else "")
