"""Rows of a fit in memory: read, split, and learned from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import MISSING_WORDS
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import as_numbers
from radboost.cli.columns import FeatureTable, cells_of, find_column, match_columns
from radboost.cli.console import Console
from radboost.cli.options import FitOptions
from radboost.cli.reading import RawTable, read_table
from radboost.cli.splitting import table_hashes
from radboost.cli.targets import TargetSummary, check_all_numbers, known_labels, present
from radboost.model_file import Schema
from radboost.rows.hashing import Hashes, joined

FEWEST_ROWS = 10


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

    @cached_property
    def hashes(self) -> Hashes:
        """Hash of the values of each row, without its target."""
        return table_hashes(self.table)

    @cached_property
    def keys(self) -> Hashes:
        """Hash of each row with its target and weight."""
        return joined(joined(self.hashes, self.y), self.weights)

    def in_order(self) -> LabeledRows:
        """Same rows in an order that depends on their content alone."""
        return self.take(np.argsort(self.keys, kind="stable"))

    def take(self, rows: npt.NDArray[Any]) -> LabeledRows:
        """Rows with these indices."""
        weights, units, times = (
            None if values is None else values[rows] for values in (self.weights, self.units, self.times)
        )
        return LabeledRows(self.table.take(rows), self.y[rows], weights, self.numbers[rows], units, times)

    @staticmethod
    def joined(parts: Sequence[LabeledRows]) -> LabeledRows:
        """Rows of several parts, one below the other."""
        if len(parts) == 1:
            return parts[0]
        return LabeledRows(
            FeatureTable.joined([one.table for one in parts]),
            np.concatenate([one.y for one in parts]),
            concatenated([one.weights for one in parts]),
            np.concatenate([one.numbers for one in parts]),
            concatenated([one.units for one in parts]),
            concatenated([one.times for one in parts]),
        )


def concatenated(parts: Iterable[npt.NDArray[Any] | None]) -> Any:
    """Entries of all parts; None if these have none."""
    given = [one for one in parts if one is not None]
    return np.concatenate(given) if given else None


@dataclass(frozen=True)
class NamedColumns:
    """Columns that the options name."""

    target: str
    weights: str | None
    ignored: tuple[str, ...]
    """Includes the columns of weights and groups."""
    categorical: frozenset[str]
    missing: tuple[str, ...]
    features: tuple[str, ...]
    group: str | None = None
    time: str | None = None

    @classmethod
    def of(cls, given: Any, options: FitOptions) -> NamedColumns:
        """Check the names; `given` has the name of a table and the names of its columns."""
        target = find_column(given, options.target, "--target")
        missing = tuple(sorted({*MISSING_WORDS, *(word.strip().lower() for word in options.missing)}))
        ignored = [find_column(given, name, "--ignore") for name in options.ignore]
        categorical = frozenset(find_column(given, name, "--categorical") for name in options.categorical)
        if target in ignored:
            raise ValueError(f"--ignore {target!r}: this is the target; leave it out of --ignore")
        weights = None
        if options.weights is not None:
            weights = find_column(given, options.weights, "--weights")
            ignored.append(weights)
        group, time = (
            None if name is None else find_column(given, name, option)
            for name, option in ((options.group, "--group"), (options.time, "--time"))
        )
        if target in (group, time):
            raise ValueError(
                f"{'--group' if target == group else '--time'} {target!r}: this is the target; name another"
            )
        if group is not None and group not in ignored:
            ignored.append(group)
        features = tuple(name for name in given.names if name != target and name not in ignored)
        return cls(target, weights, tuple(ignored), categorical, missing, features, group, time)

    @property
    def used(self) -> list[str]:
        """Names of the columns that a fit reads."""
        others = (self.target, self.weights, self.group, self.time)
        return list(dict.fromkeys([*self.features, *(name for name in others if name is not None)]))

    def check_features(self, where: str) -> None:
        """Refuse a table without features."""
        if not self.features:
            raise ValueError(f"{where} has no column beside the target; a model needs one at least to learn from")


def check_enough(n_rows: int, where: str) -> None:
    """Refuse very few rows; none at all is another error."""
    if 0 < n_rows < FEWEST_ROWS:
        raise ValueError(
            f"{where} has {n_rows} {'row' if n_rows == 1 else 'rows'} with a target; {FEWEST_ROWS} or more are needed "
            "to fit and to judge a model"
        )


def note_left_out_rows(
    n_rows: int, n_without_weight: int, n_without_target: int, target: str, console: Console
) -> None:
    """Note how many rows do not count."""
    if n_without_weight:
        console.note(f"{n_without_weight:,} of {n_rows:,} rows have the weight 0, and are left out")
    if n_without_target:
        n_weighted = n_rows - n_without_weight
        console.note(f"{n_without_target:,} of {n_weighted:,} rows have no {target!r}, and are left out")


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


def read_test(options: FitOptions, schema: Schema, console: Console) -> LabeledRows:
    """Rows of --test."""
    assert options.test is not None
    return labeled_rows(read_table(options.test, options.read), schema, None, console)


def labeled_rows(given: RawTable, schema: Schema, classes: npt.NDArray[Any] | None, console: Console) -> LabeledRows:
    """Rows of a table that have the target, as a model sees them.

    With the classes of a model, labels become those that it knows; None keeps them as they are in the table.
    """
    console.note(*given.remarks)
    if schema.target not in given.names:
        raise ValueError(
            f"{given.name} has no column {schema.target!r}, which would have the right answers; its columns are "
            f"{', '.join(given.names[:10])}. radboost predict needs none"
        )
    cells = cells_of(given, schema.target, schema.missing_words)
    if schema.task == "numbers":
        numbers, kept = as_numbers(cells, schema.target_format), present(cells)
        if numbers is None or not len(kept):
            raise ValueError(
                f"the column {schema.target!r} of {given.name} holds {cells.unlike('number') or 'no numbers'}, and the "
                "model predicts numbers; correct the column"
            )
        check_all_numbers(cells, numbers, schema.target_format)
        y = numbers[kept]
    elif classes is None:
        kept = present(cells)
        y = TargetSummary.of(cells).decide("classes", lambda: [cells]).labels(cells)[kept]
    else:
        y, kept, unknown = known_labels(cells, classes)
        if unknown:
            named = ", ".join(map(repr, unknown[:5]))
            console.note(f"{schema.target!r} has classes that the model does not know ({named}); it is wrong there")
    note_left_out_rows(given.n_rows, 0, given.n_rows - len(kept), schema.target, console)
    given = given.take(kept)
    table, notes = match_columns(given, schema)
    console.note(*notes)
    return LabeledRows(table, y, None, given.numbers)
