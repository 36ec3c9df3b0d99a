"""Tables in Parquet files that are read by parts, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from radboost.cli.reading import typed_table
from radboost.cli.tables import RawTable
from radboost.distributed.parquet import NUMBER_BYTES, parquet_parts

PART_BYTES = 2**23  # of a part, with 8 bytes a value; reading takes several times as much


@dataclass(frozen=True)
class ParquetTable:
    """Table in Parquet files."""

    name: str
    names: list[str]
    files: list[str]
    remarks: tuple[str, ...] = ()

    def parts(self, names: Sequence[str]) -> list[FilePart]:
        """Parts with these columns; a part is not read before it is asked for."""
        height, parts, first = max(1, PART_BYTES // (NUMBER_BYTES * len(names))), [], 0
        given_names = {str(Path(path).absolute()): path for path in self.files}
        first_of: dict[str, int] = {}
        for groups in parquet_parts(self.files, {}, names, part_bytes=PART_BYTES):
            reader = GroupReader(groups.path, groups.row_groups, groups.n_rows, names)
            start_of_file = first_of.setdefault(groups.path, first)
            row_names = partial(_row_names, given_names[groups.path], start_of_file) if len(self.files) > 1 else None
            for start in range(0, groups.n_rows, height):
                n_rows = min(height, groups.n_rows - start)
                parts.append(FilePart(reader, start, n_rows, first + start, row_names))
            first += groups.n_rows
        return parts


class GroupReader:
    """Rows of row groups, read from their first one on where they are not asked for in their order."""

    def __init__(self, path: str, row_groups: Sequence[int], n_rows: int, names: Sequence[str]) -> None:
        self.path, self._row_groups, self._n_rows, self._names = path, list(row_groups), n_rows, list(names)
        self._tables: Iterator[Any] = iter(())
        self._rest: list[Any] = []
        self._next = -1

    def read(self, first: int, n_rows: int) -> Any:
        """Table of these rows."""
        import pyarrow as pa

        try:
            if first != self._next:
                self._tables, self._rest, self._next = self._opened(n_rows), [], 0
                for start in range(0, first, n_rows):
                    self._take(min(n_rows, first - start))
            return self._take(n_rows)
        except (pa.ArrowException, OSError, IndexError) as error:
            raise ValueError(f"{self.path} cannot be read as parquet: {error}") from error

    def _opened(self, height: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        schema = parquet.read_schema(self.path)
        texts = [name for name in self._names if str(schema.field(name).type) in ("string", "large_string")]
        with parquet.ParquetFile(self.path, read_dictionary=texts) as file:
            for batch in file.iter_batches(height, self._row_groups, self._names):
                yield pa.Table.from_batches([batch])

    def _take(self, n_rows: int) -> Any:
        import pyarrow as pa

        tables, n_read = self._rest, sum(table.num_rows for table in self._rest)
        while n_read < n_rows:
            table = next(self._tables, None)
            if table is None:
                raise ValueError(f"{self.path} has changed since the fit began: it has fewer rows now")
            tables.append(table)
            n_read += table.num_rows
        whole = pa.concat_tables(tables)
        self._rest, self._next = [whole.slice(n_rows)] if n_read > n_rows else [], self._next + n_rows
        if self._next == self._n_rows:
            self._tables, self._next = iter(()), -1  # closes the file
        return whole.slice(0, n_rows)


@dataclass(frozen=True)
class FilePart:
    """Some rows of a Parquet file."""

    reader: GroupReader
    start: int
    """Number of rows above them in their row groups."""
    n_rows: int
    first: int
    """Number of rows above them in all files."""
    row_names: Callable[[Sequence[int]], list[str]] | None
    """Names of rows in messages, by their numbers in all files; None: by these numbers."""

    def read(self) -> RawTable:
        """The rows, with the numbers that they have in the whole table."""
        given = typed_table(self.reader.path, self.reader.read(self.start, self.n_rows))
        kept = np.arange(self.first, self.first + self.n_rows)
        return replace(given, kept=kept, lines=self.row_names)


def _row_names(path: str, first: int, numbers: Sequence[int]) -> list[str]:
    return [f"row {number - first:,} of {path}" for number in numbers]
