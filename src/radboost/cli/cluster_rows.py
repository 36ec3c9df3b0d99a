"""The rows of `radboost fit --dask`: they stay where the workers read them, and the client sees some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from radboost._progress import Progress
from radboost.cli.cluster_columns import TOO_MANY, ColumnsToRead, PartSeen
from radboost.cli.cluster_parts import (
    Encoding,
    Hashed,
    HeldOut,
    NumberedPart,
    TablePart,
    Wanted,
    hashed,
    seen_in,
    taken,
    together,
)
from radboost.cli.clusters import connected, run_on, shares_of
from radboost.cli.columns import decide_columns
from radboost.cli.console import Console, RoundProgress
from radboost.cli.models import Plan
from radboost.cli.options import FitOptions
from radboost.cli.rows import (
    HELD_OUT,
    NOT_JUDGED,
    NOTHING_TO_LEARN,
    NamedColumns,
    RowSplit,
    check_enough,
    note_left_out_rows,
    notes_of_left_out,
    read_test,
    say_held_out,
)
from radboost.cli.splitting import hold_out
from radboost.distributed import WorkerLostError
from radboost.distributed.arguments import Arguments
from radboost.distributed.cluster import fit_parts
from radboost.distributed.learning import FitTask
from radboost.distributed.parquet import deal_out, parquet_files, parquet_parts, read_contents
from radboost.model_file import Schema

MOST_HASHED_ROWS = 5_000_000  # whose hashes the client sees, so that the share held out is that of every class
MOST_CELLS = 50_000_000  # of rows that the client sees: of those held out, and of the others


@contextmanager
def on_cluster(options: FitOptions, console: Console) -> Iterator[OnCluster]:
    """The rows of the files, on the cluster that --dask names."""
    assert options.dask is not None
    files = parquet_files(list(options.data))
    contents = read_contents(files)[0]
    head = Head(options.title, contents.names)
    named = NamedColumns.of(head, options)
    with connected(options.dask, options.jobs) as client:
        try:
            yield OnCluster(client, files, named, options, console)
        except WorkerLostError as error:
            raise ValueError(f"--dask {options.dask}: {error}") from error


@dataclass(frozen=True)
class Head:
    """The name of a table, and those of its columns."""

    name: str
    names: list[str]


class OnCluster:
    """A table in files that the workers of a cluster read."""

    def __init__(
        self, client: Any, files: Sequence[str], named: NamedColumns, options: FitOptions, console: Console
    ) -> None:
        self._client, self._options = client, options
        self.name = options.title
        columns = ColumnsToRead(named.target, named.features, named.categorical, named.weights, named.missing)
        parts = parquet_parts(list(files), {}, columns.names, n_workers=len(client.nthreads()))
        starts = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
        self._parts = [NumberedPart(part, first) for part, first in zip(parts, starts[:-1], strict=True)]
        self._hashed: Mapping[NumberedPart, Hashed] = {}
        self._held_out: HeldOut | None = None
        seen = self._look(columns, console)
        self._seen = seen
        note_left_out_rows(seen.n_given, seen.n_without_weight, 0, named.target, console)
        if seen.n_without_weight == seen.n_given:
            raise ValueError(f"--weights {named.weights!r}: all weights are 0")
        check_enough(seen.n_rows, self.name)
        decided = seen.target.decide(named.target, options.task)
        n_weighted = seen.n_given - seen.n_without_weight
        note_left_out_rows(n_weighted, 0, seen.n_without_target, named.target, console)
        named.check_features(self.name)
        of_all = {name: column.seen(name, seen.n_rows) for name, column in seen.columns.items() if not column.too_many}
        chosen, left_out, notes = decide_columns(self.name, of_all, named.categorical)
        left_out |= {name: TOO_MANY for name, column in seen.columns.items() if column.too_many}
        for text in (*notes_of_left_out(left_out), *notes):
            console.note(text)
        self.reason = decided.reason
        self.schema = Schema(
            target=named.target,
            task=decided.task,
            form="table",
            columns=chosen,
            left_out=(*named.ignored, *left_out),
            missing_words=named.missing,
            target_format=decided.number_format,
        )
        labels = None if decided.texts is None else decided.texts.values
        self._encoding = Encoding(columns, chosen, labels, decided.number_format)

    @property
    def n_rows(self) -> int:
        return self._seen.n_rows

    def classes(self) -> npt.NDArray[Any]:
        """The different targets, ascending."""
        numbers = self.schema.task == "numbers"
        return self._seen.target.values if numbers else np.unique(self._encoding.all_labels())

    def rows_hash(self) -> str:
        """What tells these rows from others."""
        return f"{sum(one.rows_hash for one in self._hashed.values()) % 2**64:016x}"

    def divide(self, console: Console) -> RowSplit:
        """Holds rows out, or reads others to be judged on; brings some of the rows to the client."""
        options = self._options
        if options.test is None and options.holdout > 0.0:
            return self._hold_out(console)
        self._hash(HeldOut(np.zeros(0, dtype=np.uint64)), console)
        if options.test is None:
            console.note(NOT_JUDGED)
            return RowSplit(None, None, "", False)
        test_rows = read_test(options, self.schema, console)
        train, _ = self._take(0, console)
        return RowSplit(train, test_rows, f"rows of {options.test}", False)

    def fit(self, plan: Plan, schema: Schema, console: Console) -> tuple[Any, Any, Schema]:
        """A model of the rows that are not held out; its settings; and its columns."""
        model = self._fit(plan.estimator, self._held_out, "fitting", console)
        for line in shares_of(model.workers_):
            console.say(line)
        return model, plan.estimator, schema

    def fit_all(self, plan: Plan, chosen: Any, schema: Schema, console: Console) -> tuple[Any, Schema]:
        """A model of all rows."""
        return self._fit(chosen, None, "fitting to all rows", console), schema

    def _fit(self, estimator: Any, held_out: HeldOut | None, title: str, console: Console) -> Any:
        parts = [
            TablePart(part, self._encoding, held_out, found.n_rows - (0 if held_out is None else found.n_out))
            for part, found in self._hashed.items()
        ]
        model = clone(estimator)
        task = FitTask.of(model, Arguments(sample_weight=self._encoding.columns.weights))
        with console.progress(title) as watch, console.warnings_as_notes(RuntimeWarning):
            return fit_parts(model, task, parts, self._client, bar=partial(_bar, watch))

    def _run(self, work: Any, title: str, console: Console, *common: Any) -> dict[NumberedPart, Any]:
        """What the workers find in each part, in the order of the parts."""
        placed = deal_out(self._parts, list(self._client.nthreads()))
        found = run_on(self._client, placed, work, title, console, *common)
        return {part: found[part] for part in self._parts}

    def _look(self, columns: ColumnsToRead, console: Console) -> PartSeen:
        first, *others = self._run(seen_in, "looking at the columns", console, columns).values()
        for other in others:
            first.add(other)
        return first  # type: ignore[no-any-return]

    def _hash(self, rule: HeldOut | None, console: Console) -> None:
        self._hashed = self._run(hashed, "numbering the rows", console, self._encoding, rule)

    def _hold_out(self, console: Console) -> RowSplit:
        options, schema = self._options, self.schema
        if self.n_rows > MOST_HASHED_ROWS:
            self._held_out = HeldOut(None, int(options.holdout * 2**64), options.seed)
            self._hash(self._held_out, console)
        else:
            self._hash(None, console)
            hashes = np.concatenate([one.hashes for one in self._hashed.values()])
            y = np.concatenate([one.y for one in self._hashed.values()])
            if len(np.unique(hashes)) < 2:
                raise ValueError(NOTHING_TO_LEARN)
            _, out = hold_out(hashes, y, options.holdout, options.seed, stratify=schema.task == "classes")
            self._held_out = HeldOut(np.unique(hashes[out]))
            self._hashed = {part: _counted(one, self._held_out) for part, one in self._hashed.items()}
        n_out = sum(one.n_out for one in self._hashed.values())
        say_held_out(self.n_rows - n_out, n_out, 0, options, console)
        train, test_rows = self._take(n_out, console)
        return RowSplit(train, test_rows, HELD_OUT, True)

    def _take(self, n_out: int, console: Console) -> tuple[Any, Any]:
        """Rows to learn from and rows held out, as many as the client can hold."""
        most = max(1, MOST_CELLS // len(self.schema.columns))
        n_others = self.n_rows - n_out
        wanted = Wanted(
            self._held_out, min(1.0, most / max(n_out, 1)), min(1.0, most / max(n_others, 1)), self._options.seed
        )
        found = list(self._run(taken, "gathering rows", console, self._encoding, wanted).values())
        train, held = together([one[0] for one in found]), together([one[1] for one in found])
        if wanted.share_of_out < 1.0:
            console.note(f"the verdict is about {len(held.y):,} of the {n_out:,} rows held out, drawn by their content")
        if wanted.share_of_others < 1.0:
            console.note(
                f"the linear model and the baseline learn from {len(train.y):,} of the other {n_others:,} rows, drawn "
                "by their content"
            )
        return train, held


def _counted(one: Hashed, held_out: HeldOut) -> Hashed:
    n_out = int(held_out.of(one.hashes).sum())
    return Hashed(one.hashes[:0], one.y[:0], n_out, one.rows_hash, one.n_rows)


@contextmanager
def _bar(watch: RoundProgress, total: int, *, n_done: int, what: str) -> Iterator[Progress]:
    """What a fit on a cluster has done, in the bar of the command."""
    bar = watch.bar(total, n_done, what)
    bar.start()
    yield bar.advance
