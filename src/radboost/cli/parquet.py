"""Tables in Parquet files that are read by parts, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from radboost.cli.reading import typed_table
from radboost.cli.tables import RawTable, RowName, plain_name
from radboost.distributed.parquet import NUMBER_BYTES, ParquetPartition, parquet_parts

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
        height, parts, first = max(1, PART_BYTES // (NUMBER_BYTES * len(names))), list[FilePart](), 0
        given_names = {str(Path(path).absolute()): path for path in self.files}
        first_of: dict[str, int] = {}
        for groups in parquet_parts(self.files, {}, names, part_bytes=PART_BYTES):
            reader, start_of_file = GroupReader(groups, height), first_of.setdefault(groups.path, first)
            name_of = partial(_name_of, given_names[groups.path], start_of_file) if len(self.files) > 1 else plain_name
            for index, start in enumerate(range(0, groups.n_rows, height)):
                n_rows = min(height, groups.n_rows - start)
                parts.append(FilePart(reader, index, n_rows, first + start, name_of))
            first += groups.n_rows
        return parts


class GroupReader:
    """Rows of row groups in tables of equal height, read from the first on where they are not asked for in order."""

    def __init__(self, groups: ParquetPartition, height: int) -> None:
        self.groups, self._height = groups, height
        self._tables: Iterator[Any] = iter(())
        self._next = -1

    def read(self, index: int, n_rows: int) -> Any:
        """Table with this index, which has so many rows."""
        import pyarrow as pa

        table, path = None, self.groups.path
        try:
            if index != self._next:
                self._tables, self._next = self._opened(), 0
            while self._next <= index:
                table, self._next = next(self._tables, None), self._next + 1
        except (pa.ArrowException, OSError, IndexError) as error:
            raise ValueError(f"{path} cannot be read as parquet: {error}") from error
        if table is None or table.num_rows != n_rows:
            raise ValueError(f"{path} has changed since the fit began: it has fewer rows now")
        if self._next * self._height >= self.groups.n_rows:
            self._tables, self._next = iter(()), -1  # closes the file
        return table

    def _opened(self) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        groups, names = self.groups, list(self.groups.features)
        schema = parquet.read_schema(groups.path)
        texts = [name for name in names if str(schema.field(name).type) in ("string", "large_string")]
        rest: list[Any] = []  # batches of texts may be shorter than is asked for
        with parquet.ParquetFile(groups.path, read_dictionary=texts) as file:
            for batch in file.iter_batches(self._height, list(groups.row_groups), names):
                rest.append(batch)
                if sum(map(len, rest)) >= self._height:
                    table = pa.Table.from_batches(rest)
                    yield table.slice(0, self._height)
                    rest = table.slice(self._height).to_batches()
            if rest:
                yield pa.Table.from_batches(rest)


@dataclass(frozen=True)
class FilePart:
    """Some rows of a Parquet file."""

    reader: GroupReader
    index: int
    """Number of parts above it in its row groups."""
    n_rows: int
    first: int
    """Number of rows above them in all files."""
    name_of: RowName
    """Name of a row in messages, by its index in all files."""

    def read(self) -> RawTable:
        """The rows, with the numbers that they have in the whole table."""
        given = typed_table(self.reader.groups.path, self.reader.read(self.index, self.n_rows))
        kept = np.arange(self.first, self.first + self.n_rows)
        return replace(given, kept=kept, name_of=self.name_of)


def _name_of(path: str, first: int, index: int) -> str:
    return f"{plain_name(index - first)} of {path}"
