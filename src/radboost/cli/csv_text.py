"""CSV: separator, names and records of a text, and its columns as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from radboost.cli.cells import is_number, unquoted
from radboost.cli.tables import ReadOptions, refuse_twice

SEPARATORS = (",", ";", "\t", "|")
GZIP = b"\x1f\x8b"
_BLOCK_BYTES = 2**22  # pyarrow holds some dozens of blocks at once
_LARGEST_BLOCK = 2**30
_SAMPLE_BYTES, _SAMPLE_LINES, _SAMPLE_RECORDS = 2**18, 3, 100
# Byte order marks, the longer ones first: a mark of UTF-32 begins with one of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class CsvTable:
    """Columns of CSV as dictionary-encoded text (a table of pyarrow), and how they were read."""

    table: Any
    separator: str
    has_header: bool
    remarks: tuple[str, ...]


class CsvText:
    """Text of CSV in UTF-8: bytes in memory, or a file that pyarrow reads by blocks."""

    def __init__(self, head: bytes, path: str | None = None) -> None:
        self.head, self._path = head, path

    @classmethod
    def of_file(cls, path: str) -> CsvText | None:
        """Text of a plain file; None for one that is small, or is to be converted before it is parsed."""
        with Path(path).open("rb") as file:
            head = file.read(_BLOCK_BYTES)
        coded = head.startswith((GZIP, *_BYTE_ORDER_MARKS)) or b"\x00" in head
        if coded or len(head) < _BLOCK_BYTES or head.count(b"\n") < _SAMPLE_LINES:
            return None
        return cls(head.removeprefix(codecs.BOM_UTF8), path)

    def whole(self) -> bytes:
        """All of the text."""
        return self.head if self._path is None else in_utf8(Path(self._path).read_bytes(), self._path)

    @cached_property
    def quotes_and_zeros(self) -> tuple[bool, bool]:
        """Whether the text has a double quote, and a byte of zero, anywhere."""
        if self._path is None:
            return b'"' in self.head, b"\x00" in self.head
        found = [False, False]
        with Path(self._path).open("rb") as file:
            for block in iter(partial(file.read, _BLOCK_BYTES), b""):
                found = [found[0] or b'"' in block, found[1] or b"\x00" in block]
        return found[0], found[1]

    def stream(self) -> Any:
        """File of pyarrow with this text."""
        import pyarrow as pa

        return arrow_file(self.head) if self._path is None else pa.OSFile(self._path)


def read_csv(text: CsvText, name: str, kind: str, options: ReadOptions) -> CsvTable:
    """Table in the text of a file; separator and names are detected where the options have none."""
    if text.quotes_and_zeros[1]:
        raise ValueError(f"{name} is not text in UTF-8 (it holds bytes of zero); save it as CSV in UTF-8")
    records_by = {separator: _records(text.head, separator) for separator in _candidates(kind, options)}
    separator = max(records_by, key=lambda one: _regularity(records_by[one]))
    records = records_by[separator]
    if not records:
        raise ValueError(f"{name} holds no line with text; a table has a line with the names of its columns, and rows")
    table, remarks = _parsed(text, name, separator, len(records[0]), options.skip)
    if options.names is not None:
        has_header = options.header is True
    else:
        has_header = _has_header(records) if options.header is None else options.header
    names, more = _names_of(records, has_header, options)
    if len(names) != table.num_columns:
        raise ValueError(
            f"--names gives {len(names)} names, and {name} has {table.num_columns} columns; give one for each"
        )
    refuse_twice(name, names)
    table = table.rename_columns(names)
    return CsvTable(table.slice(1 if has_header else 0), separator, has_header, (*remarks, *more))


def without_lines(data: bytes, n_lines: int) -> bytes:
    """Data below the first lines."""
    for _ in range(min(n_lines, data.count(b"\n") + 1)):
        data = data.partition(b"\n")[2]
    return data


def begun_records(data: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line, from 1 on, at which each record of CSV begins, and its fields; lines without text are left out."""
    text, line = data.decode("utf-8", errors="replace"), 1
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def arrow_file(data: bytes) -> Any:
    """File for pyarrow in memory that pyarrow owns."""
    # Threads of pyarrow may release a file after it was read. For memory of Python they need Python, and end the
    # process by a signal if it is about to exit.
    import pyarrow as pa

    memory = pa.allocate_buffer(len(data))
    np.frombuffer(memory, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return pa.BufferReader(memory)


def in_utf8(data: bytes, name: str) -> bytes:
    """Text in UTF-8, without a byte order mark."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            try:
                return data.decode(encoding).encode()
            except UnicodeError as error:
                raise ValueError(
                    f"{name} begins like {encoding.upper()}, and cannot be read as such: {error}"
                ) from error
    return data.removeprefix(codecs.BOM_UTF8)


def _candidates(kind: str, options: ReadOptions) -> tuple[str, ...]:
    if options.separator is not None:
        separator = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(options.separator, options.separator)
        if len(separator) != 1 or not separator.isascii() or separator in '\0"\r\n':
            raise ValueError(
                f"--separator is {options.separator!r}; give one ASCII character that neither quotes nor ends lines, "
                "or the word tab"
            )
        return (separator,)
    return ("\t",) if kind == "tsv" else SEPARATORS


def _records(data: bytes, separator: str) -> list[list[str]]:
    """Fields of the first lines, without a line that the sample cuts off."""
    sample = data[: _sample_size(data)]
    begun = islice(begun_records(sample, separator), _SAMPLE_RECORDS + 1)
    records = [[cell.strip() for cell in record] for _, record in begun]
    whole = len(data) == len(sample) or len(records) > _SAMPLE_RECORDS
    return records if whole or len(records) < 2 else records[:-1]


def _sample_size(data: bytes) -> int:
    """Bytes of the sample, which has the first lines whole."""
    end = 0
    for _ in range(_SAMPLE_LINES):
        end = data.find(b"\n", end) + 1
        if not end:
            return len(data)
    return max(end, _SAMPLE_BYTES)


def _regularity(records: list[list[str]]) -> tuple[bool, float, int]:
    """Sort key of a separator: several fields, as many in each line."""
    if not records:
        return False, 0.0, 0
    width, often = Counter(map(len, records)).most_common(1)[0]
    return width > 1, often / len(records), width


def _parsed(text: CsvText, name: str, separator: str, n_columns: int, skip: int) -> tuple[Any, list[str]]:
    """Columns as text, whose first row has the names, if there are any, and remarks."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {f"f{index}": pa.dictionary(pa.int32(), pa.string()) for index in range(n_columns)}

    def read(text: CsvText, block_size: int) -> Any:
        return arrow_csv.read_csv(
            text.stream(),
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=block_size),
            # lines may end inside of quotes
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=text.quotes_and_zeros[0]),
            convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )

    def read_all(text: CsvText) -> Any:
        try:
            return read(text, _BLOCK_BYTES)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
            return read(text, _LARGEST_BLOCK)  # a row is larger than a block

    try:
        try:
            return read_all(text), []
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                raise
            latin = CsvText(text.whole().decode("latin-1").encode())
            return read_all(latin), [f"{name} is not UTF-8, and is read as Latin-1"]
    except pa.ArrowInvalid as error:
        uneven = re.search(r"got (\d+):? ?(.*)", str(error))
        if uneven is not None:
            records = begun_records(text.whole(), separator)
            line = next((f"line {line + skip:,}" for line, record in records if len(record) != n_columns), "a line")
            raise ValueError(
                f"{name}: {line} has {uneven[1]} fields ({uneven[2][:60].strip()}), and the first one has {n_columns}, "
                f"divided by {separator!r}; put text with separators into quotes, "
                "name the --separator, or --skip lines above the table"
            ) from error
        raise ValueError(f"{name} cannot be read as CSV: {error}") from error


def _has_header(records: list[list[str]]) -> bool:
    """True if the first line has names: no number in a column whose rows have numbers."""
    first, rest = records[0], records[1:]
    if [cell for cell in first if cell] in (
        list(map(str, range(len(first)))),
        list(map(str, range(1, len(first) + 1))),
    ):
        return len(first) > 1
    for index, cell in enumerate(first):
        below = [record[index] for record in rest if len(record) > index]
        if _may_be_number(cell) and any(map(_may_be_number, below)):
            return False
    return True


def _may_be_number(text: str) -> bool:
    return is_number(text.strip("'").replace(",", ".", 1))


def _names_of(records: list[list[str]], has_header: bool, options: ReadOptions) -> tuple[list[str], list[str]]:
    import pyarrow as pa

    first = records[0]
    if options.names is not None:
        return list(options.names), []
    if not has_header:
        said = (
            "the first line holds numbers, so that it is taken as a row, and the columns are named column_1 to "
            f"column_{len(first)}; --header says that it has names, and --names a,b,... gives other ones"
        )
        return [f"column_{index + 1}" for index in range(len(first))], [] if options.header is False else [said]
    names = unquoted(pa.array([cell or None for cell in first], pa.string())).to_pylist()
    return [name or f"column_{index + 1}" for index, name in enumerate(names)], []
