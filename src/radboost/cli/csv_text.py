"""CSV: separator, names and records of a text, and its columns as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from radboost.cli.cells import is_number, unquoted
from radboost.cli.tables import RawTable, ReadOptions, plain_name, refuse_twice

SEPARATORS = (",", ";", "\t", "|")
GZIP = b"\x1f\x8b"
_BLOCK_BYTES = 2**22  # pyarrow holds some dozens of blocks at once
_LARGEST_BLOCK = 2**30
_SAMPLE_BYTES, _SAMPLE_LINES, _SAMPLE_RECORDS = 2**18, 3, 100
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_plain(path: Path) -> bool:
    """True for a file that is neither compressed nor in another encoding: pyarrow reads it by blocks."""
    with path.open("rb") as file:
        return not file.read(4).startswith((GZIP, *_UTF_16))


def read_csv(source: Path | bytes, name: str, kind: str, options: ReadOptions, read: Callable[[], bytes]) -> RawTable:
    """Table in UTF-8; separator and names are detected where the options have none.

    `source` is a plain file, or bytes; `read` returns all of the text again, for messages.
    """
    quoted = has_zeros = False
    with _opened(source) as file:
        for block in iter(partial(file.read, _BLOCK_BYTES), b""):
            quoted, has_zeros = quoted or b'"' in block, has_zeros or b"\x00" in block
    if has_zeros:
        raise ValueError(f"{name} is not text in UTF-8 (it holds bytes of zero); save it as CSV in UTF-8")
    records_by = {separator: _records(source, separator) for separator in _candidates(kind, options)}
    separator = max(records_by, key=lambda one: _regularity(records_by[one]))
    records = records_by[separator]
    if not records:
        raise ValueError(
            f"{name} is empty: it holds no line with text; a table has a line with the names of its columns, and rows"
        )
    try:
        table, remarks = _parsed(source, name, separator, len(records[0]), _BLOCK_BYTES, quoted=quoted)
    except ValueError as error:
        uneven = re.search(r"got (\d+):? ?(.*)", str(error))
        if uneven is None:
            raise ValueError(f"{name} cannot be read as CSV: {error}") from error
        begun = begun_records(read() if isinstance(source, Path) else source, separator)
        line = next((f"line {line + options.skip:,}" for line, one in begun if len(one) != len(records[0])), "a line")
        raise ValueError(
            f"{name}: {line} has {uneven[1]} fields ({uneven[2][:60].strip()}), and the first one has "
            f"{len(records[0])}, divided by {separator!r}; put text with separators into quotes, "
            "name the --separator, or --skip lines above the table"
        ) from error
    has_header = options.header is True if options.names is not None else options.header
    has_header = _has_header(records) if has_header is None else has_header
    names, more = _names_of(records, has_header, options)
    if len(names) != table.num_columns:
        raise ValueError(
            f"--names gives {len(names)} names, and {name} has {table.num_columns} columns; give one for each"
        )
    refuse_twice(name, names)
    table = table.rename_columns(names).slice(1 if has_header else 0)
    name_of = partial(_name_of, read, separator, options.skip, int(has_header))
    return RawTable(name, table, separator, (*remarks, *more), name_of=name_of)


def _opened(source: Path | bytes) -> BinaryIO:
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def _name_of(read: Callable[[], bytes], separator: str, skip: int, n_names: int, index: int) -> str:
    """Name of a row with its line; the text is read again."""
    line = next((line + skip for line, _ in islice(begun_records(read(), separator), index + n_names, None)), None)
    return plain_name(index) if line is None else f"{plain_name(index)} (line {line:,})"


def without_lines(data: bytes, n_lines: int) -> bytes:
    """Data below the first lines."""
    parts = data.split(b"\n", n_lines)
    return parts[n_lines] if len(parts) > n_lines else b""


def begun_records(data: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line, from 1 on, at which each record of CSV begins, and its fields; lines without text are left out."""
    csv.field_size_limit(2**31 - 1)
    reader, line = csv.reader(io.StringIO(data.decode("utf-8", errors="replace"), newline=""), delimiter=separator), 1
    for record in reader:
        if record:
            yield line, record
        line = reader.line_num + 1


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
    if not data.startswith(_UTF_16):
        return data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-16").encode()
    except UnicodeError as error:
        raise ValueError(f"{name} begins like UTF-16, and cannot be read as such: {error}") from error


def _candidates(kind: str, options: ReadOptions) -> tuple[str, ...]:
    if options.separator is None:
        return ("\t",) if kind == "tsv" else SEPARATORS
    separator = {"tab": "\t", "\\t": "\t"}.get(options.separator, options.separator)
    if len(separator) != 1 or not separator.isascii() or separator in '\0"\r\n':
        raise ValueError(
            f"--separator is {options.separator!r}; give one ASCII character that neither quotes nor ends lines, "
            "or the word tab"
        )
    return (separator,)


def _records(source: Path | bytes, separator: str) -> list[list[str]]:
    """Fields of the first lines, without a line that the sample cuts off."""
    with _opened(source) as file:
        sample = b"".join(islice(file, _SAMPLE_LINES))
        sample += file.read(max(0, _SAMPLE_BYTES - len(sample)))
        is_all = not file.read(1)
    begun = islice(begun_records(sample.removeprefix(codecs.BOM_UTF8), separator), _SAMPLE_RECORDS + 1)
    records = [[cell.strip() for cell in record] for _, record in begun]
    return records if is_all or not 1 < len(records) <= _SAMPLE_RECORDS else records[:-1]


def _regularity(records: list[list[str]]) -> tuple[bool, float, int]:
    """Sort key of a separator: several fields, as many in each line."""
    if not records:
        return False, 0.0, 0
    width, often = Counter(map(len, records)).most_common(1)[0]
    return width > 1, often / len(records), width


def _parsed(
    source: Path | bytes, name: str, separator: str, n_columns: int, block_size: int, *, quoted: bool
) -> tuple[Any, list[str]]:
    """Columns as text, whose first row has the names, if there are any, and remarks."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {f"f{index}": pa.dictionary(pa.int32(), pa.string()) for index in range(n_columns)}
    try:
        table = arrow_csv.read_csv(
            pa.OSFile(str(source)) if isinstance(source, Path) else arrow_file(source),
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=block_size),
            # lines may end inside of quotes
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=quoted),
            convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        if "straddling" in str(error) and block_size < _LARGEST_BLOCK:  # a row is larger than a block
            return _parsed(source, name, separator, n_columns, _LARGEST_BLOCK, quoted=quoted)
        if "UTF8" not in str(error):
            raise
        with _opened(source) as file:
            latin = file.read().decode("latin-1").encode()
        table, _ = _parsed(latin, name, separator, n_columns, block_size, quoted=quoted)
        return table, [f"{name} is not UTF-8, and is read as Latin-1"]
    return table, []


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
