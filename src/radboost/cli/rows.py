"""Rows of a fit in memory: read, split, and learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._number_formats import MISSING_WORDS
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import as_dates, as_numbers, as_texts, is_number, is_of_kind
from radboost.cli.columns import FeatureTable, cells_of, choose_columns, find_column, match_columns, with_means
from radboost.cli.console import Console
from radboost.cli.models import Plan, fit_and_choose, fit_once
from radboost.cli.options import FitOptions
from radboost.cli.reading import RawTable, read_table, read_tables
from radboost.cli.splitting import Rows, copies_out, fingerprint, folds_of, hold_out, latest, table_hashes
from radboost.cli.targets import check_all_numbers, known_labels, present, read_target
from radboost.model_file import Schema
from radboost.report.figures import count
from radboost.rows.hashing import Hashes, cell_bits, joined

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
        weights = None if self.weights is None else self.weights[rows]
        units = None if self.units is None else self.units[rows]
        return LabeledRows(self.table.take(rows), self.y[rows], weights, self.numbers[rows], units)


@dataclass(frozen=True)
class RowSplit:
    """Training rows, test rows, and what the test rows are called."""

    train: LabeledRows | None
    """With a cluster possibly a part of the training rows; None without an evaluation."""
    test_rows: LabeledRows | None
    what: str
    holds_out: bool
    copies: LabeledRows | None = None
    """Held-out rows that are copies of training rows."""
    copied_fraction: float = 0.0
    """Fraction of all rows that have a copy."""
    folds: tuple[tuple[Rows, Rows], ...] = ()
    """Training and test rows of each fold of a cross-validation."""


class RowSource(Protocol):
    """Rows of a fit, in memory or on a cluster."""

    name: str
    schema: Schema
    reason: str
    """Reason for the task."""

    @property
    def n_rows(self) -> int: ...
    def classes(self) -> npt.NDArray[Any]: ...
    def rows_hash(self) -> str: ...
    def divide(self, console: Console) -> RowSplit: ...
    def fit(self, plan: Plan, schema: Schema, console: Console) -> tuple[Any, Any, Schema]: ...
    def fit_all(self, plan: Plan, chosen: Any, schema: Schema, console: Console) -> tuple[Any, Schema]: ...


class InMemorySource:
    """Rows of tables that were read into memory."""

    def __init__(self, options: FitOptions, console: Console) -> None:
        given = read_tables(options.data, options.read)
        console.note(*given.remarks)
        self._options = options
        self.name = options.title if len(options.data) > 1 else given.name
        self.schema, self.whole, self.reason, self._times = _read_rows(given, options, console)
        self._train = self.whole

    @property
    def n_rows(self) -> int:
        return len(self.whole.y)

    def classes(self) -> npt.NDArray[Any]:
        """Different targets, ascending."""
        return np.unique(self.whole.y)

    def rows_hash(self) -> str:
        """Hash of all rows with their targets."""
        return fingerprint(self.whole.hashes, self.whole.y)

    def divide(self, console: Console) -> RowSplit:
        """Hold rows out, or read test rows from another file."""
        options, schema, whole = self._options, self.schema, self.whole
        if options.test is not None:
            return RowSplit(whole, read_test(options, schema, console), f"rows of {options.test}", False)
        if options.holdout == 0.0:
            console.note(NOT_JUDGED)
            return RowSplit(whole, None, "", False)
        hashes, stratify = whole.hashes, schema.task == "classes"
        if len(np.unique(hashes)) < 2:
            raise ValueError(NOTHING_TO_LEARN)
        units = hashes if whole.units is None else whole.units
        if options.folds is not None:
            return self._in_folds(units, options.folds, stratify=stratify, console=console)
        if self._times is not None:
            learn, out = latest(self._times, options.holdout)
            say_held_out(len(learn), len(out), 0, options, console)
            self._train = whole.take(learn)
            return RowSplit(self._train, whole.take(out), f"latest {HELD_OUT}", True)
        learn, out = hold_out(units, whole.y, options.holdout, options.seed, stratify=stratify)
        copies = learn[:0]
        if whole.units is None:
            copies = copies_out(hashes, whole.keys, learn, options.holdout, options.seed)
        learn = np.setdiff1d(learn, copies, assume_unique=True)
        say_held_out(len(learn), len(out), len(copies), options, console)
        self._train = whole.take(learn)
        if not len(copies):
            return RowSplit(self._train, whole.take(out), HELD_OUT, True)
        often = np.unique(hashes, return_inverse=True, return_counts=True)
        fraction = float((often[2][often[1].reshape(-1)] > 1).mean())
        return RowSplit(self._train, whole.take(out), HELD_OUT, True, whole.take(copies), fraction)

    def _in_folds(self, units: Hashes, n_folds: int, *, stratify: bool, console: Console) -> RowSplit:
        """Folds of a cross-validation."""
        if len(np.unique(units)) < n_folds:
            raise ValueError(f"--folds is {n_folds}, and there are {len(np.unique(units))} different rows; give fewer")
        fold = folds_of(units, self.whole.y, n_folds, self._options.seed, stratify=stratify)
        parts = tuple((np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(n_folds))
        console.say(
            f"cross-validation: {n_folds} folds, drawn by their content (seed {self._options.seed}); each row is "
            "judged by a model that has not seen it"
        )
        return RowSplit(self.whole, self.whole, f"rows, in {n_folds} folds", True, folds=parts)

    def fit(self, plan: Plan, schema: Schema, console: Console) -> tuple[Any, Any, Schema]:
        """Fitted model or search of the training rows, the unfitted estimator with its settings, and the schema."""
        return self.fit_part(plan, schema, self._train, "fitting", console)

    def fit_part(
        self, plan: Plan, schema: Schema, part: LabeledRows, title: str, console: Console
    ) -> tuple[Any, Any, Schema]:
        """Fitted model or search of any rows, as for `fit`."""
        schema, X = _learned_columns(schema, part)
        model, chosen = fit_and_choose(plan, X, part.y, part.weights, title, console)
        return model, chosen, schema

    def fit_all(self, plan: Plan, chosen: Any, schema: Schema, console: Console) -> tuple[Any, Schema]:
        """Model of all rows, and its schema."""
        schema, X = _learned_columns(schema, self.whole)
        whole, title = self.whole, "fitting to all rows"
        return fit_once(chosen, X, whole.y, whole.weights, title, console, plan.scorer), schema


HELD_OUT = "rows held out"
NOT_JUDGED = "no rows are held out, so that nothing is said about how good the model is"
NOTHING_TO_LEARN = "all rows have the same values in the columns of the model; there is nothing to learn from"


def say_held_out(n_learned: int, n_out: int, n_copies: int, options: FitOptions, console: Console) -> None:
    """Say how many rows are held out, and how they were chosen."""
    if not n_out:
        raise ValueError("there are too few different rows to hold some out; give --holdout 0, or more rows")
    how = f"drawn by their content (seed {options.seed})"
    if options.time is not None:
        how = f"the latest ones by {options.time!r}"
    elif options.group is not None:
        how = f"whole groups of {options.group!r} (seed {options.seed})"
    copies = f", and {count(n_copies, 'copy', 'copies')} of rows that are learned from" if n_copies else ""
    console.say(
        f"held out: {count(n_out, 'row')}, {how}{copies}; the verdict"
        f"{' and the report are' if options.report is not None else ' is'} about a model of the other {n_learned:,}"
    )


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


def _read_rows(
    given: RawTable, options: FitOptions, console: Console
) -> tuple[Schema, LabeledRows, str, FloatArray | None]:
    """Schema, rows, reason for the task, and times of the rows (None without --time)."""
    named = NamedColumns.of(given, options)
    weights, n_given = None, given.n_rows
    if named.weights is not None:
        weights = _weights(given, named.weights, named.missing)
        rows = np.flatnonzero(weights)
        given, weights = given.take(rows), weights[rows]
    note_left_out_rows(n_given, n_given - given.n_rows, 0, named.target, console)
    cells = cells_of(given, named.target, named.missing)
    check_enough(len(present(cells)), given.name)
    target = read_target(cells, options.task)
    note_left_out_rows(given.n_rows, 0, given.n_rows - len(target.kept), named.target, console)
    named.check_features(given.name)
    given = given.take(target.kept)
    choice = choose_columns(given, named.features, named.categorical, named.missing)
    console.note(*notes_of_left_out(choice.left_out), *choice.notes)
    schema = Schema(
        target=named.target,
        task=target.task,
        form="table",
        columns=choice.table.columns,
        left_out=(*named.ignored, *choice.left_out),
        missing_words=named.missing,
        target_format=target.number_format,
    )
    weights = None if weights is None else weights[target.kept]
    part = LabeledRows(choice.table, target.y, weights, given.numbers)
    if named.group is not None:
        part = replace(part, units=_groups(given, named.group, named.missing, part))
    times = None if named.time is None else _times(given, named.time, named.missing)
    return schema, part, target.reason, times


def _groups(given: RawTable, name: str, missing: tuple[str, ...], part: LabeledRows) -> Hashes:
    """Hash of the group of each row; rows without one are groups of their own."""
    texts = as_texts(cells_of(given, name, missing))
    codes, used = texts.codes, np.unique(texts.codes[texts.codes >= 0])
    if len(used) < 2:
        raise ValueError(
            f"--group {name!r}: the column has {count(len(used), 'group')}, and two or more are needed; name another"
        )
    return np.where(codes >= 0, cell_bits(np.array([*texts.values, ""], dtype=object))[codes], part.hashes)


def _times(given: RawTable, name: str, missing: tuple[str, ...]) -> FloatArray:
    cells = cells_of(given, name, missing)
    times = as_numbers(cells)
    times = as_dates(cells) if times is None else times
    if times is None or len(np.unique(times[~np.isnan(times)])) < 2:
        example = cells.examples(lambda text: not is_number(text) and not is_of_kind(text, "date"))
        example = example or cells.unlike("date")
        holds = f"the column holds {example}" if times is None else "all rows are of one time"
        raise ValueError(
            f"--time {name!r}: {holds}; times are numbers, or dates in the form 2020-12-31, at least two different "
            "ones; correct the column, or leave out --time"
        )
    return times


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


def _weights(given: RawTable, name: str, missing: tuple[str, ...]) -> FloatArray:
    cells = cells_of(given, name, missing)
    weights = as_numbers(cells)
    if weights is None:
        wrong = f"the column holds {cells.unlike('number')}"
    elif len(rows := np.flatnonzero(~(weights >= 0))):
        value = "no value" if np.isnan(weights[rows[0]]) else f"{weights[rows[0]]:g}"
        wrong = f"the column holds {value} in {given.row_names(rows[:1])[0]}"
    elif not weights.any():
        wrong = "all weights are 0"
    else:
        return weights
    raise ValueError(
        f"--weights {name!r}: {wrong}; weights must be numbers, none missing or negative, and not all of them 0; "
        "correct the column, or leave out --weights"
    )


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
        target = read_target(cells, "classes")
        y, kept = target.y, target.kept
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


def _learned_columns(schema: Schema, part: LabeledRows) -> tuple[Schema, Any]:
    """Schema, with the means of these rows if the model needs numbers, and the rows as the model takes them."""
    if schema.form == "numbers":
        schema = replace(schema, columns=with_means(schema.columns, part.table))
        twice = [name for name, often in Counter(schema.feature_names).items() if often > 1]
        if twice:
            raise ValueError(
                f"a sparse model has a column for each category (a=x) and for missing values (a is missing), and "
                f"{twice[0]!r} would be there twice; rename the column of that name, or leave it out with --ignore"
            )
    return schema, FeatureTable(schema.columns, part.table.values).for_model(schema.form)
