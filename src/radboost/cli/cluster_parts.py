"""Parts of a table as workers read them: rows as a model sees them, some of them held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat
from radboost.cli.cells import Texts, as_numbers, as_texts
from radboost.cli.cluster_columns import ColumnsToRead, PartSeen, look_at, read_part
from radboost.cli.columns import FeatureTable, numbers_of, table_of
from radboost.cli.rows import LabeledRows
from radboost.cli.splitting import fingerprint, order_of
from radboost.cli.targets import check_all_numbers, labels_of
from radboost.distributed.parquet import ParquetPartition
from radboost.model_file import ColumnSchema
from radboost.rows.hashing import Hashes
from radboost.rows.partitions import TRAINING, LoadedPartition


@dataclass(frozen=True)
class NumberedPart:
    """Some row groups, and how many rows stand above them in all files."""

    part: ParquetPartition
    first: int

    @property
    def n_rows(self) -> int:
        return self.part.n_rows


@dataclass(frozen=True)
class Encoding:
    """How the rows of a table become those of a model."""

    columns: ColumnsToRead
    schema: tuple[ColumnSchema, ...]
    labels: tuple[str, ...] | None
    """The texts of the classes, ascending; None: the target is a number."""
    target_format: NumberFormat | None = None

    def read(self, given: NumberedPart) -> LabeledRows:
        """The rows of a part that count."""
        kept = read_part(given.part.table(), self.columns)
        found: dict[str, Any] = {}
        for column in self.schema:
            cells = self.columns.cells(kept.table, column.name)
            if column.kind == "category":
                found[column.name] = as_texts(cells)
            else:
                found[column.name] = numbers_of(cells, column.kind, column.number_format)
        y: npt.NDArray[Any]
        if self.labels is None:
            numbers = as_numbers(kept.target, self.target_format)
            assert numbers is not None  # it was decided so
            numbered = replace(
                kept.target, where=lambda rows: [f"row {n:,}" for n in given.first + kept.places[rows] + 1]
            )
            check_all_numbers(numbered, numbers, self.target_format)
            y = numbers
        else:
            texts = as_texts(kept.target)
            place = {text: index for index, text in enumerate(self.labels)}
            of_texts = np.array([*(place[text] for text in texts.values), 0], dtype=np.int64)
            y = self.all_labels()[of_texts[texts.codes]]
        return LabeledRows(table_of(self.schema, found), y, kept.weights, given.first + kept.places + 1)

    def all_labels(self) -> npt.NDArray[Any]:
        """The classes, in the order of their texts."""
        texts = self.labels or ()
        return labels_of(Texts(texts, np.arange(len(texts))))


@dataclass(frozen=True)
class HeldOut:
    """Which rows are held out: those with one of these hashes, or so low in an order that the seed draws."""

    hashes: Hashes | None
    below: int = 0
    seed: int = 0

    def of(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        if self.hashes is not None:
            return np.isin(hashes, self.hashes)
        return order_of(hashes, self.seed) < np.uint64(self.below)


@dataclass(frozen=True)
class Hashed:
    """The rows of a part, as far as it matters who is held out."""

    hashes: Hashes
    y: npt.NDArray[Any]
    n_out: int
    rows_hash: int
    n_rows: int


@dataclass(frozen=True)
class TablePart:
    """Rows of a part to learn from, read again each time they are asked for."""

    part: NumberedPart
    encoding: Encoding
    held_out: HeldOut | None
    n_rows: int
    role: str = TRAINING

    def load(self) -> LoadedPartition:
        found = self.encoding.read(self.part)
        if self.held_out is not None:
            found = found.take(np.flatnonzero(~self.held_out.of(found.hashes)))
        return LoadedPartition(found.table.for_model("table"), found.y, found.weights)


def seen_in(given: NumberedPart, columns: ColumnsToRead) -> PartSeen:
    """Run by a worker: what the rows of a part hold."""
    return look_at(given.part.table(), columns)


def hashed(given: NumberedPart, encoding: Encoding, held_out: HeldOut | None) -> Hashed:
    """Run by a worker: with a rule for the rows held out their number, otherwise the hashes of all."""
    found = encoding.read(given)
    hashes = found.hashes
    rows_hash = int(fingerprint(hashes, found.y), 16)
    if held_out is None:
        return Hashed(hashes, found.y, 0, rows_hash, len(hashes))
    return Hashed(hashes[:0], found.y[:0], int(held_out.of(hashes).sum()), rows_hash, len(hashes))


@dataclass(frozen=True)
class Wanted:
    """Which rows the client wants to see: those held out, and others, of each at most a share."""

    held_out: HeldOut | None
    share_of_out: float
    share_of_others: float
    seed: int


def taken(given: NumberedPart, encoding: Encoding, wanted: Wanted) -> tuple[LabeledRows, LabeledRows]:
    """Run by a worker: rows to learn from, and rows held out."""
    found = encoding.read(given)
    hashes = found.hashes
    out = np.zeros(len(hashes), dtype=bool) if wanted.held_out is None else wanted.held_out.of(hashes)
    # another order than the one that decides who is held out
    order = order_of(hashes, -1 - wanted.seed).astype(np.float64) / 2.0**64
    others = np.flatnonzero(~out & ((order < wanted.share_of_others) | (wanted.share_of_others >= 1.0)))
    held = np.flatnonzero(out & ((order < wanted.share_of_out) | (wanted.share_of_out >= 1.0)))
    return found.take(others), found.take(held)


def together(parts: list[LabeledRows]) -> LabeledRows:
    """The rows of several parts, one below the other."""
    columns = parts[0].table.columns
    values: dict[str, Any] = {}
    others: dict[str, tuple[str, ...]] = {}
    for column in columns:
        found = [one.table.values[column.name] for one in parts]
        if column.kind == "category":
            of_parts = [one.table.others[column.name] for one in parts]
            starts = np.cumsum([0, *map(len, of_parts)])
            found = [np.where(one < -1, one - start, one) for one, start in zip(found, starts, strict=False)]
            others[column.name] = tuple(text for part in of_parts for text in part)
        values[column.name] = np.concatenate(found)
    weights = [one.weights for one in parts if one.weights is not None]
    return LabeledRows(
        FeatureTable(columns, values, others),
        np.concatenate([one.y for one in parts]),
        np.concatenate(weights) if weights else None,
        np.concatenate([one.numbers for one in parts]),
    )
