"""What the rows of a table hold, found out part by part and put together: as `rows` decides it for rows in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.cli.cells import Cells, InferredKind, Texts, as_numbers, as_texts, kind_of, read_cells
from radboost.cli.columns import ColumnSummary, numbers_of
from radboost.cli.targets import TargetDecision, decide_target, present

MOST_DIFFERENT = 1_000_000
TOO_MANY = f"has more than {MOST_DIFFERENT:,} different texts, which is too many to be counted on a cluster"


@dataclass(frozen=True)
class ColumnsToRead:
    """Which columns of a table are read, and for what."""

    target: str
    features: tuple[str, ...]
    categorical: frozenset[str]
    weights: str | None
    missing: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [*self.features, self.target, *([] if self.weights is None else [self.weights])]

    def cells(self, table: Any, name: str) -> Cells:
        """A column of the table."""
        return read_cells(name, table.column(name), self.missing, spelled=False, decimal_comma=False)


@dataclass
class Numbers:
    """A column of numbers, in a few of them."""

    n_present: int = 0
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, values: FloatArray) -> Numbers:
        there = values[~np.isnan(values)]
        if not len(there):
            return cls()
        return cls(len(there), float(there.min()), float(there.max()))

    def add(self, other: Numbers) -> None:
        self.n_present += other.n_present
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)


@dataclass
class ColumnCounts:
    """What some rows have in a column: texts with their numbers, or numbers."""

    form: str
    texts: Counter[str] = field(default_factory=Counter)
    numbers: Numbers = field(default_factory=Numbers)
    too_many: bool = False

    @classmethod
    def of(cls, cells: Cells, *, as_categories: bool) -> ColumnCounts:
        if as_categories or cells.form == "text":
            return cls("text" if cells.form == "text" else "names", Counter(_counted(as_texts(cells)))).bounded()
        assert cells.numbers is not None  # of every other form
        return cls(cells.form, numbers=Numbers.of(cells.numbers))

    def bounded(self) -> ColumnCounts:
        if len(self.texts) > MOST_DIFFERENT:
            self.texts, self.too_many = Counter(), True
        return self

    def add(self, other: ColumnCounts) -> None:
        self.too_many |= other.too_many
        self.texts = Counter() if self.too_many else self.texts + other.texts
        self.bounded()
        self.numbers.add(other.numbers)

    def seen(self, name: str, n_rows: int) -> ColumnSummary:
        """As the columns of a table in memory are seen."""
        n_present = sum(self.texts.values())
        if self.form == "names":
            return ColumnSummary("category", n_rows, n_present, dict(self.texts))
        if self.form != "text":
            return self._of_numbers(kind_of(Cells(name, self.form, spelled=False)), self.numbers, n_rows)
        cells = Cells(name, "text", spelled=False, texts=_texts_of(self.texts))
        kind = kind_of(cells, [self.texts[text] for text in sorted(self.texts)])
        if kind.name == "category":
            return ColumnSummary(kind.name, n_rows, n_present, dict(self.texts))
        found = Numbers.of(numbers_of(cells, kind.name, kind.number_format))
        if kind.written is not None:
            n_present -= kind.written.n_others
        return self._of_numbers(kind, replace(found, n_present=n_present), n_rows)

    @staticmethod
    def _of_numbers(kind: InferredKind, found: Numbers, n_rows: int) -> ColumnSummary:
        same = found.low == found.high
        return ColumnSummary(kind.name, n_rows, found.n_present, {}, same=same, written=kind.written)


def _counted(texts: Texts) -> dict[str, int]:
    return {text: int(n) for text, n in zip(texts.values, texts.counts.tolist(), strict=True) if n}


def _texts_of(counted: Counter[str]) -> Texts:
    """Each text once."""
    values = tuple(sorted(counted))
    return Texts(values, np.arange(len(values)))


@dataclass
class TargetSeen:
    """The different values of the target, with their numbers of rows."""

    form: str
    texts: Counter[str] = field(default_factory=Counter)
    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    more: bool = False
    """Whether there are more different values than are kept."""

    @classmethod
    def of(cls, cells: Cells) -> TargetSeen:
        if cells.texts is not None:
            return cls(cells.form, Counter(_counted(cells.texts))).bounded()
        numbers = cells.numbers
        assert numbers is not None  # of every other form
        values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
        return cls(cells.form, values=values, counts=counts.astype(np.int64)).bounded()

    def bounded(self) -> TargetSeen:
        """Of too many the first, and all with a fraction before those without; their rows are counted with the last."""
        if len(self.texts) > MOST_DIFFERENT:
            self.texts, self.more = Counter(dict(self.texts.most_common(MOST_DIFFERENT))), True
        if len(self.values) > MOST_DIFFERENT:
            self.more = True
            kept = np.argsort(self.values == np.round(self.values), kind="stable")[:MOST_DIFFERENT]
            lost = int(self.counts.sum() - self.counts[kept].sum())
            self.values, self.counts = self.values[kept], self.counts[kept]
            self.counts[-1] += lost
        return self

    def add(self, other: TargetSeen) -> None:
        self.more |= other.more
        self.texts += other.texts
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places.reshape(-1), np.concatenate([self.counts, other.counts]))
        self.values, self.counts = values, counts
        self.bounded()

    def decide(self, name: str, task: str | None) -> TargetDecision:
        """As the target of a table in memory is decided on."""
        if self.texts:
            texts = _texts_of(self.texts)
            counts = np.array([self.texts[text] for text in texts.values], dtype=np.int64)
            decided = decide_target(Cells(name, self.form, spelled=False, texts=texts), counts, task)
        else:
            cells = Cells(name, self.form, spelled=False, numbers=self.values)
            decided = decide_target(cells, self.counts, task)
        if not self.more:
            return decided
        if decided.texts is not None:
            raise ValueError(
                f"the target {name!r} has more than {MOST_DIFFERENT:,} different values, which are too many to be "
                "classes; name another --target"
            )
        exactly = f"{MOST_DIFFERENT:,} different"
        return replace(decided, reason=decided.reason.replace(exactly, f"more than {exactly}"))


@dataclass
class PartSeen:
    """What the rows of a part hold; parts are added."""

    n_given: int
    n_without_weight: int
    n_without_target: int
    target: TargetSeen
    columns: dict[str, ColumnCounts]

    @property
    def n_rows(self) -> int:
        return self.n_given - self.n_without_weight - self.n_without_target

    def add(self, other: PartSeen) -> None:
        self.n_given += other.n_given
        self.n_without_weight += other.n_without_weight
        self.n_without_target += other.n_without_target
        self.target.add(other.target)
        for name, column in self.columns.items():
            column.add(other.columns[name])


@dataclass(frozen=True)
class Kept:
    """The rows of a part that count: those with a weight and a target."""

    table: Any
    target: Cells
    weights: FloatArray | None
    places: npt.NDArray[np.int64]
    """Among the rows of the part."""
    n_weighted: int


def read_part(table: Any, columns: ColumnsToRead) -> Kept:
    """Leaves out the rows that do not count."""
    places = np.arange(table.num_rows)
    weights = None
    if columns.weights is not None:
        weights = as_numbers(columns.cells(table, columns.weights))
        if weights is None or np.isnan(weights).any() or (weights < 0).any():
            raise ValueError(
                f"--weights {columns.weights!r}: weights must be numbers, none missing or negative, and not all of "
                "them 0"
            )
        places = np.flatnonzero(weights)
        table, weights = table.take(places), weights[places]
    n_weighted = table.num_rows
    target = columns.cells(table, columns.target)
    kept = present(target)
    if len(kept) < n_weighted:
        table, places = table.take(kept), places[kept]
        weights = None if weights is None else weights[kept]
        target = columns.cells(table, columns.target)
    return Kept(table, target, weights, places, n_weighted)


def look_at(table: Any, columns: ColumnsToRead) -> PartSeen:
    """What the rows of a part hold."""
    kept = read_part(table, columns)
    return PartSeen(
        table.num_rows,
        table.num_rows - kept.n_weighted,
        kept.n_weighted - kept.table.num_rows,
        TargetSeen.of(kept.target),
        {
            name: ColumnCounts.of(columns.cells(kept.table, name), as_categories=name in columns.categorical)
            for name in columns.features
        },
    )
