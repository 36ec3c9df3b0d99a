"""Tables as they were read: columns of pyarrow, with the names that their rows have in messages."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed

RowName = Callable[[int], str]
"""Function from the index of a row to its name in messages, such as "row 12 (line 13)"."""


def plain_name(index: int) -> str:
    """Name of a row in messages, by its number from 1 on."""
    return f"row {index + 1:,}"


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files; None: detected from the content."""

    format: str | None = None
    separator: str | None = None
    header: bool | None = None
    names: tuple[str, ...] | None = None
    skip: int = 0


@dataclass(frozen=True)
class RawTable:
    """Table as it is in a file; columns of CSV are text."""

    name: str
    table: Any
    """Table of pyarrow, with names that are all different; texts of CSV are dictionary-encoded."""
    separator: str | None = None
    """Separator of CSV, where numbers are written as text; None: columns have types."""
    remarks: tuple[str, ...] = ()
    kept: npt.NDArray[np.int64] | None = None
    """Indices of the rows in the file; None for all of them."""
    name_of: RowName = plain_name
    """Name of a row of the file in messages."""

    def take(self, rows: npt.NDArray[np.int64]) -> RawTable:
        """Rows with these ascending indices."""
        if len(rows) == self.n_rows:
            return self
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[rows] = True
        # `take` would make one dictionary of those of all chunks
        return replace(self, table=self.table.filter(chosen), kept=rows if self.kept is None else self.kept[rows])

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """Numbers of the rows in the file, from 1 on."""
        return np.arange(1, self.n_rows + 1) if self.kept is None else self.kept + 1

    @property
    def row_name(self) -> RowName:
        """Name of a row in messages; the function does not keep the table."""
        kept, name_of = self.kept, self.name_of
        return name_of if kept is None else lambda index: name_of(int(kept[index]))

    @property
    def names(self) -> list[str]:
        return list(self.table.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    def parts(self, names: Sequence[str]) -> list[Any]:
        """The table as its only part."""
        return [self]

    def read(self) -> RawTable:
        """The table itself, as a part that is in memory."""
        return self


def refuse_twice(name: str, names: Sequence[str]) -> None:
    """Refuse a table in which two columns have the same name."""
    twice = [one for one, often in Counter(names).items() if often > 1]
    if twice:
        raise ValueError(
            f"{name} has more than one column named {twice[0]!r}; give every column a name of its own (--names a,b,... "
            "does so for CSV; with a line of names in the file, --header too; without one, --no-header names columns "
            "column_1, column_2, ...)"
        )


def find_column(given: Any, name: str, option: str) -> str:
    """Name of a column that an option gives; ValueError if there is none."""
    names = list(given.names)
    if name in names:
        return name
    meant = [one for one in names if one.lower() == name.lower()] or difflib.get_close_matches(name, names, 3)
    there = f"did you mean {' or '.join(map(repr, meant))}?" if meant else f"its columns are {_with_last(names)}"
    if isinstance(given, RawTable) and any(
        one in given.table.column(one).cast("string").unique().to_pylist() for one in names
    ):
        there += ". Its first line may be a row: then say --no-header"
    raise ValueError(f"{option} {name!r}: {given.name} has no such column; {there}")


def _with_last(names: Sequence[str], most: int = 10) -> str:
    """First names and the last one, which is often the target."""
    if len(names) <= most:
        return listed(names, most)
    return f"{listed(names[: most - 1])}, ..., {names[-1]!r} ({len(names):,} in all)"
