"""Rows of a fit in memory: read, split, and learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import MISSING_WORDS
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import cells_of
from radboost.cli.columns import FeatureTable, match_columns
from radboost.cli.console import Console
from radboost.cli.kinds import kind_of
from radboost.cli.options import FitOptions
from radboost.cli.splitting import table_hashes
from radboost.cli.tables import RawTable, find_column
from radboost.cli.targets import check_all_numbers, known_labels
from radboost.model_file import ColumnSchema, Schema
from radboost.rows.hashing import Hashes, joined

LEFT_OUT = "{:,} of {:,} rows have {}, and are left out"
_ARRAYS = ("y", "weights", "numbers", "units", "times", "known_hashes")


@dataclass(frozen=True)
class LabeledRows:
    """Rows with their targets and weights."""

    table: FeatureTable
    y: npt.NDArray[Any]
    weights: FloatArray | None
    numbers: npt.NDArray[np.int64]
    """Numbers of the rows in their table, counted from 1."""
    units: Hashes | None = None
    """Hash of the observation that a row belongs to; None: equal rows are one observation."""
    times: FloatArray | None = None
    """Times of the rows by --time."""
    known_hashes: Hashes | None = None
    """Hashes of rows without columns; None: computed from the table."""

    @cached_property
    def hashes(self) -> Hashes:
        """Hash of the values of each row, without its target."""
        return table_hashes(self.table) if self.known_hashes is None else self.known_hashes

    @cached_property
    def keys(self) -> Hashes:
        """Hash of each row with its target and weight."""
        return joined(joined(self.hashes, self.y), self.weights)

    def in_order(self) -> LabeledRows:
        """Same rows in an order that depends on their content alone."""
        return self.take(np.argsort(self.keys, kind="stable"))

    def take(self, rows: npt.NDArray[Any] | None) -> LabeledRows:
        """Rows with these indices; None: all."""
        if rows is None:
            return self
        arrays: dict[str, Any] = {name: None if (of := getattr(self, name)) is None else of[rows] for name in _ARRAYS}
        return LabeledRows(self.table.take(rows), **arrays)

    def without_columns(self) -> LabeledRows:
        """Same rows with their hashes in place of the columns, for choices among all rows."""
        return replace(self, table=FeatureTable((), {}), known_hashes=self.hashes)

    @staticmethod
    def joined(parts: Sequence[LabeledRows]) -> LabeledRows:
        """Rows of several parts, one below the other."""
        if len(parts) == 1:
            return parts[0]
        given = {name: [one for part in parts if (one := getattr(part, name)) is not None] for name in _ARRAYS}
        arrays: dict[str, Any] = {name: np.concatenate(of) if of else None for name, of in given.items()}
        return LabeledRows(FeatureTable.joined([one.table for one in parts]), **arrays)


@dataclass(frozen=True)
class NamedColumns:
    """Columns that the options name."""

    target: str
    weights: str | None
    group: str | None
    time: str | None
    ignored: tuple[str, ...]
    """Includes the columns of weights and groups."""
    categorical: frozenset[str]
    missing: tuple[str, ...]
    features: tuple[str, ...]

    @classmethod
    def of(cls, given: Any, options: FitOptions) -> NamedColumns:
        """Check the names; `given` has the name of a table and the names of its columns."""
        target = find_column(given, options.target, "--target")
        ignored = [find_column(given, name, "--ignore") for name in options.ignore]
        categorical = frozenset(find_column(given, name, "--categorical") for name in options.categorical)
        if target in ignored:
            raise ValueError(f"--ignore {target!r}: this is the target; leave it out of --ignore")
        asked = {"--weights": options.weights, "--group": options.group, "--time": options.time}
        weights, group, time = (name and find_column(given, name, option) for option, name in asked.items())
        if target in (group, time):
            raise ValueError(
                f"{'--group' if target == group else '--time'} {target!r}: this is the target; name another"
            )
        ignored = list(dict.fromkeys([*ignored, *(name for name in (weights, group) if name is not None)]))
        missing = tuple(sorted({*MISSING_WORDS, *(word.strip().lower() for word in options.missing)}))
        features = tuple(name for name in given.names if name != target and name not in ignored)
        return cls(target, weights, group, time, tuple(ignored), categorical, missing, features)

    @property
    def used(self) -> list[str]:
        """Names of the columns that a fit reads."""
        others = (self.target, self.weights, self.group, self.time)
        return list(dict.fromkeys([*self.features, *(name for name in others if name is not None)]))


def notes_of_left_out(reasons: Mapping[str, str]) -> list[str]:
    """Note for each reason, with its columns."""
    notes = []
    for why in dict.fromkeys(reasons.values()):
        names = [name for name, other in reasons.items() if other == why]
        if len(names) == 1:
            notes.append(f"{names[0]!r} is left out: it {why}")
        else:
            notes.append(f"{listed(names)} are left out; of each of them: it {why}")
    return notes


def labeled_rows(given: RawTable, schema: Schema, classes: npt.NDArray[Any] | None, console: Console) -> LabeledRows:
    """Rows of a table that have the target, as a model sees them; labels become its classes (None: numbers)."""
    console.note(*given.remarks)
    if schema.target not in given.names:
        raise ValueError(
            f"{given.name} has no column {schema.target!r}, which would have the right answers; its columns are "
            f"{', '.join(given.names[:10])}. radboost predict needs none"
        )
    cells = cells_of(given, schema.target, schema.missing_words, as_names=classes is not None)
    kept = cells.present
    if not len(kept):
        raise ValueError(
            f"the column {schema.target!r} of {given.name}, which has the right answers, is missing in every row"
        )
    if classes is None:
        column = ColumnSchema(schema.target, "number", number_format=schema.target_format)
        numbers = kind_of(column).read(cells, column, given.name)[0]
        check_all_numbers(cells, numbers)
        y = numbers[kept]
    else:
        y, unknown = known_labels(cells, classes)
        if unknown:
            named = ", ".join(map(repr, unknown[:5]))
            console.note(f"{schema.target!r} has classes that the model does not know ({named}); it is wrong there")
    if len(kept) < given.n_rows:
        console.note(LEFT_OUT.format(given.n_rows - len(kept), given.n_rows, f"no {schema.target!r}"))
    given = given.take(kept)
    table, notes = match_columns(given, schema)
    console.note(*notes)
    return LabeledRows(table, y, None, given.numbers)
