"""Rows of a fit: described, labeled and divided, in memory or by parts of Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from radboost._typing import FloatArray
from radboost.cli.cells import Cells, cells_of
from radboost.cli.columns import FeatureTable, decide_columns, table_of, with_means
from radboost.cli.console import Console
from radboost.cli.kinds import DATE, NUMBER
from radboost.cli.models import Plan, fit_and_choose
from radboost.cli.options import FitOptions
from radboost.cli.reading import open_tables, read_table
from radboost.cli.rows import LEFT_OUT, LabeledRows, NamedColumns, labeled_rows, notes_of_left_out
from radboost.cli.splitting import Rows, copies_out, fingerprint, folds_of, hold_out, latest
from radboost.cli.tables import RawTable
from radboost.cli.targets import decide_target
from radboost.estimators import learn
from radboost.estimators._learning import needs_values
from radboost.model_file import Schema
from radboost.report.figures import count
from radboost.rows.hashing import Hashes, cell_bits, order_of
from radboost.rows.partitions import TRAINING, LoadedPartition, Partition
from radboost.rows.prepare import PreparedRows, read_training

FEWEST_ROWS = 10
MOST_CELLS = 50_000_000  # of rows read by parts that are in memory at once for the evaluation and its baselines
HELD_OUT = "rows held out"
FOR_BASELINES = "the linear model and the baseline learn from {:,} of the {:,} rows, drawn by their content"


class CountedRows:
    """Rows of a part that count: those with a weight and a target."""

    def __init__(self, given: RawTable, named: NamedColumns) -> None:
        self.named, self.n_given = named, given.n_rows
        self.weights = None if named.weights is None else _weights(given, named.weights, named.missing)
        if self.weights is not None:
            given, self.weights = given.take(np.flatnonzero(self.weights)), self.weights[self.weights > 0]
        self.n_weighted = given.n_rows
        target = cells_of(given, named.target, named.missing, as_names=True)
        kept = target.present
        self.given, self.n_rows = given.take(kept), len(kept)
        if self.n_rows < self.n_weighted:
            self.weights = None if self.weights is None else self.weights[kept]
            target = cells_of(self.given, named.target, named.missing, as_names=True)
        self._cells = {named.target: target}

    def cells(self, name: str) -> Cells:
        """Cells of a column; the column as it was read goes."""
        if name not in self._cells:
            as_names = name in self.named.categorical
            cells = cells_of(self.given, name, self.named.missing, as_names=as_names)
            self._cells[name] = cells.as_texts() if as_names else cells
            self.given = replace(self.given, table=self.given.table.drop_columns([name]))
        return self._cells[name]

    def released(self, name: str) -> Cells:
        """Cells of a column that nothing needs again."""
        cells = self.cells(name)
        del self._cells[name]
        return cells

    def summaries(self) -> dict[str, Cells]:
        """Summaries of the target and the features, by name."""
        target = self.named.target
        names = (target, *self.named.features)
        return {name: self.cells(name).summary(all_numbers=name == target) for name in names}

    def units(self, name: str, hashes: Hashes) -> Hashes:
        """Hash of the group of each row; rows without one are groups of their own."""
        groups = self.cells(name).as_texts()
        bits = cell_bits(np.array([*groups.texts, ""], dtype=object))
        return np.where(groups.ranks < len(groups.texts), bits[groups.ranks], hashes)

    def times(self, name: str) -> FloatArray:
        """Times of the rows, as numbers or days."""
        cells = self.cells(name)
        times = NUMBER.numbers(cells)
        times = DATE.numbers(cells) if times is None else times
        if times is None:
            example = cells.examples(lambda text: not NUMBER.fits(text, cells) and not DATE.fits(text, cells))
            raise ValueError(_wrong_times(name, f"the column holds {example or DATE.unlike(cells)}"))
        return times


@dataclass(frozen=True)
class RowSplit:
    """Training rows, test rows, and what the test rows are called."""

    learned: Rows | None
    """Indices of the training rows; None: all."""
    train: LabeledRows | None
    """Training rows for the baselines, possibly a sample; None without an evaluation."""
    test_rows: LabeledRows | None
    what: str
    holds_out: bool
    copies: LabeledRows | None = None
    """Held-out rows that are copies of training rows."""
    copied_fraction: float = 0.0
    """Fraction of all rows that have a copy."""
    folds: tuple[tuple[Rows, Rows], ...] = ()
    """Training and test rows of each fold of a cross-validation."""


@dataclass(frozen=True)
class TrainingPart:
    """Training rows of a part, for fits that read them in each pass."""

    read: Callable[[], LabeledRows]
    n_rows: int
    role: str = TRAINING

    def load(self) -> LoadedPartition:
        """Rows as fits by parts take them."""
        rows = self.read()
        return LoadedPartition(rows.table.for_model("table"), rows.y, rows.weights)


class RowSource:
    """Rows of a fit: in memory, or in Parquet files that are read by parts in each pass over them."""

    def __init__(self, options: FitOptions, console: Console) -> None:
        given = open_tables(options.data, options.read)
        console.note(*given.remarks)
        self._options, self._named = options, NamedColumns.of(given, options)
        self.name = options.title if len(options.data) > 1 else given.name
        where, self._parts = given.name, given.parts(self._named.used)
        del given  # in memory a column goes as soon as it is converted
        self._only = CountedRows(self._parts.pop().read(), self._named) if len(self._parts) == 1 else None
        self._describe(where, console)
        self._whole = None if self._only is None else self._labeled(self._only)
        self._only = None

    @cached_property
    def _keys(self) -> LabeledRows:
        """All rows, without columns where these are not in memory."""
        named, parts = self._named, self._with(None)
        keys = self._whole or LabeledRows.joined([part.read().without_columns() for part in parts])
        if keys.units is not None:
            n_groups = len(np.unique(keys.units[keys.units != keys.hashes]))
            if n_groups < 2:
                raise ValueError(
                    f"--group {named.group!r}: the column has {count(n_groups, 'group')}, and two or more are needed; "
                    "name another"
                )
        if keys.times is not None and len(np.unique(keys.times[~np.isnan(keys.times)])) < 2:
            raise ValueError(_wrong_times(str(named.time), "all rows are of one time"))
        return keys

    def _counted(self) -> Iterator[CountedRows]:
        """Rows of each part that count."""
        if self._only is not None:
            yield self._only
            return
        for part in self._parts:
            yield CountedRows(part.read(), self._named)

    def _describe(self, where: str, console: Console) -> None:
        """Read all rows once, and decide on the task and the columns."""
        named, heights = self._named, [(0, 0, 0)]
        seen: dict[str, Cells] = {}
        for rows in self._counted():
            heights.append((rows.n_given, rows.n_weighted, rows.n_rows))
            seen = {name: seen[name].merged(own) if seen else own for name, own in rows.summaries().items()}
        ends = np.cumsum(heights, axis=0)
        n_given, n_weighted, self.n_rows = ends[-1].tolist()
        self._intervals = list(pairwise(ends[:, 2].tolist()))
        if n_weighted < n_given:
            console.note(LEFT_OUT.format(n_given - n_weighted, n_given, "the weight 0"))
        if not n_weighted:
            raise ValueError(_wrong_weights(str(named.weights), "all weights are 0"))
        if 0 < self.n_rows < FEWEST_ROWS:
            raise ValueError(
                f"{where} has {count(self.n_rows, 'row')} with a target; {FEWEST_ROWS} or more are needed to fit and "
                "to judge a model"
            )
        seen = {name: replace(cells, by_row=partial(self._cells_by_row, name)) for name, cells in seen.items()}
        self._target = decide_target(seen.pop(named.target), self.n_rows, self._options.task)
        if self.n_rows < n_weighted:
            console.note(LEFT_OUT.format(n_weighted - self.n_rows, n_weighted, f"no {named.target!r}"))
        if not named.features:
            raise ValueError(f"{where} has no column beside the target; a model needs one at least to learn from")
        columns, left_out, notes = decide_columns(where, seen, named.categorical, self.n_rows)
        console.note(*notes_of_left_out(left_out), *notes)
        self.reason = self._target.reason
        self.schema = Schema(
            target=named.target,
            task=self._target.task,
            form="table",
            columns=columns,
            left_out=(*named.ignored, *left_out),
            missing_words=named.missing,
            target_format=self._target.number.format,
        )

    def _cells_by_row(self, name: str) -> Iterator[Cells]:
        return (rows.cells(name) for rows in self._counted())

    def _labeled(self, rows: CountedRows) -> LabeledRows:
        times = None if self._named.time is None else rows.times(self._named.time)
        table, _ = table_of(self.schema.columns, self.name, lambda column: rows.released(column.name))
        y = self._target.labels(rows.cells(self._named.target))
        labeled = LabeledRows(table, y, rows.weights, rows.given.numbers, times=times)
        if self._named.group is None:
            return labeled
        return replace(labeled, units=rows.units(self._named.group, labeled.hashes))

    def classes(self) -> npt.NDArray[Any]:
        """Different targets, ascending."""
        return np.unique(self._keys.y)

    def rows_hash(self) -> str:
        """Hash of all rows with their targets."""
        return fingerprint(self._keys.hashes, self._keys.y)

    def divide(self, console: Console) -> RowSplit:
        """Hold rows out, or read test rows from another file."""
        options, schema, keys = self._options, self.schema, self._keys
        if options.test is not None:
            test = labeled_rows(read_table(options.test, options.read), schema, self._target.classes, console)
            return RowSplit(None, self._sample(None, console, FOR_BASELINES), test, f"rows of {options.test}", False)
        if options.holdout == 0.0:
            console.note("no rows are held out, so that nothing is said about how good the model is")
            return RowSplit(None, self._sample(None, console, FOR_BASELINES), None, "", False)
        stratify, units = schema.task == "classes", keys.hashes if keys.units is None else keys.units
        if len(np.unique(keys.hashes)) < 2:
            raise ValueError(
                "all rows have the same values in the columns of the model; there is nothing to learn from"
            )
        if options.folds is not None:
            return self._in_folds(units, options.folds, stratify=stratify, console=console)
        copies = np.zeros(0, dtype=np.int64)
        if keys.times is not None:
            learn, out = latest(keys.times, options.holdout)
        else:
            learn, out = hold_out(units, keys.y, options.holdout, options.seed, stratify=stratify)
            if keys.units is None:
                copies = copies_out(keys.hashes, keys.keys, learn, options.holdout, options.seed)
                learn = np.setdiff1d(learn, copies, assume_unique=True)
        say_held_out(len(learn), len(out), len(copies), options, console)
        test = self._sample(out, console, "the verdict is about {:,} of the {:,} rows held out, drawn by content")
        train = self._sample(learn, console, FOR_BASELINES)
        what = HELD_OUT if keys.times is None else f"latest {HELD_OUT}"
        if not len(copies):
            return RowSplit(learn, train, test, what, True)
        _, index, often = np.unique(keys.hashes, return_inverse=True, return_counts=True)
        return RowSplit(learn, train, test, what, True, self._sample(copies), float((often[index] > 1).mean()))

    def _in_folds(self, units: Hashes, n_folds: int, *, stratify: bool, console: Console) -> RowSplit:
        """Folds of a cross-validation."""
        if len(np.unique(units)) < n_folds:
            raise ValueError(f"--folds is {n_folds}, and there are {len(np.unique(units))} different rows; give fewer")
        fold = folds_of(units, self._keys.y, n_folds, self._options.seed, stratify=stratify)
        parts = tuple((np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(n_folds))
        console.say(
            f"cross-validation: {n_folds} folds, drawn by their content (seed {self._options.seed}); each row is "
            "judged by a model that has not seen it"
        )
        whole = self.take(None)
        return RowSplit(None, whole, whole, f"rows, in {n_folds} folds", True, folds=parts)

    def take(self, rows: Rows | None) -> LabeledRows:
        """Rows with these ascending indices, in memory; None: all."""
        return LabeledRows.joined([part.read() for part in self._with(rows)])

    def _with(self, rows: Rows | None) -> list[TrainingPart]:
        """Parts with these rows; None: all."""
        if self._whole is not None:
            return [TrainingPart(partial(self._whole.take, rows), self.n_rows if rows is None else len(rows))]
        parts = []
        for (first, end), part in zip(self._intervals, self._parts, strict=True):
            own = None if rows is None else rows[(rows >= first) & (rows < end)] - first
            parts.append(TrainingPart(partial(self._read, part, own), end - first if own is None else len(own)))
        return parts

    def _read(self, part: Any, rows: Rows | None) -> LabeledRows:
        return self._labeled(CountedRows(part.read(), self._named)).take(rows)

    def _sample(self, rows: Rows | None, console: Console | None = None, note: str = "") -> LabeledRows:
        """Rows (None: all), or as many as the evaluation keeps, by content; `note` has braces for both numbers."""
        n_rows = self.n_rows if rows is None else len(rows)
        fraction = MOST_CELLS / (n_rows * len(self.schema.columns))
        if self._whole is None and fraction < 1.0:
            rows = np.arange(n_rows) if rows is None else rows
            order = order_of(self._keys.hashes[rows], -1 - self._options.seed)  # not the order that holds rows out
            rows = rows[order < np.uint64(fraction * 2.0**64)]
            if console is not None and len(rows) < n_rows:
                console.note(note.format(len(rows), n_rows))
        return self.take(rows)

    def fit(
        self,
        plan: Plan,
        schema: Schema,
        rows: Rows | None,
        title: str,
        console: Console,
        part: LabeledRows | None = None,
    ) -> tuple[Any, Any, Schema]:
        """Fitted model or search of these rows (None: all), the unfitted estimator with its settings, and the schema.

        `part`: these rows, where they are in memory.
        """
        if self._whole is None and plan.by_parts:
            with console.progress(title), console.warnings_as_notes():
                own = clone(plan.estimator)
                return learn(own, self.prepared(own, rows)), plan.estimator, schema
        part = self.take(rows) if part is None or self._whole is None else part
        schema, X = _learned_columns(schema, part)
        model, chosen = fit_and_choose(plan, X, part.y, part.weights, title, console)
        return model, chosen, schema

    def prepared(self, estimator: Any, rows: Rows | None = None) -> PreparedRows:
        """Bins of these rows (None: all), read by parts; the values of all rows are never in memory together."""
        growth = estimator._read_parameters().growth
        parts: Sequence[Partition] = self._with(rows)
        if self._whole is not None:
            parts = [part.load() for part in parts]
        given = () if self._named.weights is None else ("sample_weight",)
        options: dict[str, Any] = {"regression": self.schema.task == "numbers", "keep_values": needs_values(estimator)}
        training = read_training(estimator, parts, given, **options)
        estimator._check_training(training)
        return training.prepare(growth.options.max_bins, growth.n_threads)


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


def _wrong_times(name: str, why: str) -> str:
    return (
        f"--time {name!r}: {why}; times are numbers, or dates in the form 2020-12-31, at least two different ones; "
        "correct the column, or leave out --time"
    )


def _weights(given: RawTable, name: str, missing: tuple[str, ...]) -> FloatArray:
    cells = cells_of(given, name, missing)
    weights = NUMBER.numbers(cells)
    if weights is None:
        wrong = f"the column holds {NUMBER.unlike(cells) or 'dates'}"
    elif len(rows := np.flatnonzero(~(weights >= 0))):
        value = "no value" if np.isnan(weights[rows[0]]) else f"{weights[rows[0]]:g}"
        wrong = f"the column holds {value} in {given.row_name(rows[0])}"
    else:
        return weights
    raise ValueError(_wrong_weights(name, wrong))


def _wrong_weights(name: str, why: str) -> str:
    return (
        f"--weights {name!r}: {why}; weights must be numbers, none missing or negative, and not all of them 0; "
        "correct the column, or leave out --weights"
    )


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
