"""Columns of a model: chosen for a fit, and matched by name in other tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import MOST_DIFFERENT, Cells, cells_of
from radboost.cli.kinds import CATEGORY, NUMBER, infer_kind, kind_of, refuse_other_dates
from radboost.cli.tables import RawTable
from radboost.model_file import ColumnSchema, Schema

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


def table_of(
    columns: Sequence[ColumnSchema], where: str, cells: Callable[[ColumnSchema], Cells]
) -> tuple[FeatureTable, list[str]]:
    """Table of these columns, whose cells a function returns, and notes about cells that are taken as missing."""
    values, others, notes = {}, {}, []
    for column in columns:
        values[column.name], others[column.name], said = kind_of(column).read(cells(column), column, where)
        notes += said
    return FeatureTable(tuple(columns), values, others), notes


def decide_columns(
    where: str, seen: Mapping[str, Cells], categorical: Collection[str], n_rows: int
) -> tuple[tuple[ColumnSchema, ...], dict[str, str], tuple[str, ...]]:
    """Columns that can help, reasons for those that are left out, and notes, by summaries of all rows."""
    columns: list[ColumnSchema] = []
    left_out: dict[str, str] = {}
    notes: list[str] = []
    for index, (name, cells) in enumerate(seen.items()):
        if cells.more:
            left_out[name] = f"has more than {MOST_DIFFERENT:,} different texts, too many to tell apart"
            continue
        wanted = name in categorical
        kind = CATEGORY if wanted else infer_kind(cells)
        if kind is CATEGORY and not wanted:
            refuse_other_dates(cells)
        useless = kind.useless(cells, n_rows, wanted=wanted)
        if useless is None and index == 0 and name == UNNAMED and _numbers_the_rows(cells, n_rows):
            useless = "has no name of its own and numbers the rows"
        if useless is not None:
            left_out[name] = useless
            continue
        column, said = kind.schema(cells)
        columns.append(column)
        notes += said
    if not columns:
        reasons = "; ".join(f"{name!r} {reason}" for name, reason in list(left_out.items())[:5])
        raise ValueError(f"{where} has no column left to learn from" + (f": {reasons}" if reasons else ""))
    return tuple(columns), left_out, tuple(notes)


def _numbers_the_rows(cells: Cells, n_rows: int) -> bool:
    """True for the index of a data frame, which is written without a name: from 0 on, in any order."""
    numbers = NUMBER.parse(cells.values) if cells.spelled else None
    return numbers is not None and np.array_equal(np.sort(numbers), np.arange(n_rows))


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
    missing = schema.missing_words
    table, notes = table_of(
        schema.columns,
        given.name,
        lambda column: cells_of(given, column.name, missing, as_names=column.kind == "category"),
    )
    known = {*used, *schema.left_out, schema.target}
    extra = [name for name in given.names if name not in known]
    if extra:
        notes.append(f"{given.name} has columns that the model does not know, and are not used: {listed(extra)}")
    return table, notes
