"""Tables from files: CSV, TSV, Parquet, Arrow and JSON lines, each also compressed by gzip, or from standard input."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost.cli.cells import is_number, unquoted

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
ENDINGS = {
    "csv": (".csv", ".txt", ".data", ".test"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
}
SEPARATORS = (",", ";", "\t", "|")
STDIN = "-"
_LARGEST_BLOCK = 2**30
_SAMPLE_BYTES, _SAMPLE_LINES, _SAMPLE_RECORDS = 2**18, 3, 100
_MAX_NESTING = 64
# Byte order marks, the longer ones first: a mark of UTF-32 begins with one of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_TOO_LARGE = "{} does not fit into memory; give a part of its rows or columns"
_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


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
    """Table of pyarrow, with names that are all different."""
    as_text: bool
    """True if numbers are written as text, as in CSV."""
    decimal_comma: bool
    remarks: tuple[str, ...]
    kept: npt.NDArray[np.int64] | None = None
    """Indices of the rows in the file; None for all of them."""
    lines: Callable[[Sequence[int]], list[str]] | None = None
    """Names of rows of the file in messages, by their numbers from 1 on; None: by these numbers."""

    def take(self, rows: npt.NDArray[np.int64]) -> RawTable:
        """Rows with these indices."""
        return replace(self, table=self.table.take(rows), kept=rows if self.kept is None else self.kept[rows])

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """Numbers of the rows in the file, from 1 on."""
        return np.arange(1, self.n_rows + 1) if self.kept is None else self.kept + 1

    def row_names(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """Names of rows in messages, by ascending indices."""
        numbers = self.numbers[rows].tolist()
        return [f"row {number:,}" for number in numbers] if self.lines is None else self.lines(numbers)

    @property
    def names(self) -> list[str]:
        return list(self.table.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)


def read_table(path: str, options: ReadOptions) -> RawTable:
    """Table in a file, or on standard input if the path is "-"."""
    name = "standard input" if path == STDIN else path
    kind = _format_of(path, options)
    data = _bytes_of(path, name)
    if not data:
        raise ValueError(f"{name} is empty; a table has a line with the names of its columns, and rows")
    try:
        given = _read_text(data, name, kind, options) if kind in ("csv", "tsv") else _read_typed(data, name, kind)
    except (NotImplementedError, KeyError) as error:
        raise ValueError(f"{name} cannot be read as {kind}: {error}") from error
    except MemoryError as error:
        raise ValueError(_TOO_LARGE.format(name)) from error
    if not given.n_rows:
        raise ValueError(f"{name} has names of columns ({listed(given.names, 8, str)}) and no rows")
    return given


def read_tables(paths: Sequence[str], options: ReadOptions) -> RawTable:
    """Table in one file, or in several that have the same columns, one below the other."""
    given = [read_table(path, options) for path in paths]
    first = given[0]
    if len(given) == 1:
        return first
    import pyarrow as pa

    tables = [_plain_table(one.table) for one in given]
    for table, other in zip(tables[1:], given[1:], strict=True):
        if (other.as_text, other.decimal_comma) != (first.as_text, first.decimal_comma):
            raise ValueError(f"{first.name} and {other.name} are not of one format; convert them to one")
        _check_same_columns(first.name, tables[0].schema, other.name, table.schema)
    remarks = tuple(dict.fromkeys(remark for one in given for remark in one.remarks))
    together = pa.concat_tables([table.select(first.names) for table in tables])
    return RawTable(first.name, together, first.as_text, first.decimal_comma, remarks, lines=partial(_of_files, given))


def _of_files(given: Sequence[RawTable], numbers: Sequence[int]) -> list[str]:
    """Names of rows of several files, by their numbers in all."""
    starts = np.cumsum([0, *(one.n_rows for one in given)])
    names = []
    for number in numbers:
        file = int(np.searchsorted(starts, number)) - 1
        row = given[file].row_names(np.array([number - 1 - starts[file]]))[0]
        names.append(f"{row} of {given[file].name}")
    return names


def _plain_table(table: Any) -> Any:
    """Table whose texts and categories all have the type string."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.string() if pa.types.is_large_string(kind) else kind
        if kind != field.type:
            table = table.set_column(index, field.name, table.column(index).cast(kind))
    return table.replace_schema_metadata()


def _check_same_columns(one: str, schema: Any, other: str, other_schema: Any) -> None:
    for has, there, lacks, absent in ((one, schema, other, other_schema), (other, other_schema, one, schema)):
        only = [name for name in there.names if name not in absent.names]
        if only:
            raise ValueError(f"{has} has a column {only[0]!r}, and {lacks} has none; the files must have the same ones")
    for name in schema.names:
        types = [each.field(name).type for each in (schema, other_schema)]
        if types[0] != types[1]:
            raise ValueError(
                f"the column {name!r} holds {types[0]} in {one}, and {types[1]} in {other}; write it with one type "
                "everywhere"
            )


def _format_of(path: str, options: ReadOptions) -> str:
    if options.format is not None:
        if options.format not in FORMATS:
            raise ValueError(f"--format is {options.format!r}; known are {', '.join(FORMATS)}")
        return options.format
    if path == STDIN:
        return "csv"
    return format_of_name(path, "read it as such with --format")


def format_of_name(path: str, advice: str) -> str:
    """Format by the end of a file's name, compressed or not."""
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    for kind, endings in ENDINGS.items():
        if ending in endings:
            return kind
    known = ", ".join(f"{kind} ({', '.join(endings)})" for kind, endings in ENDINGS.items())
    raise ValueError(f"{path}: {ending or 'no ending'!r} says nothing of the format; known are {known}; {advice}")


def _bytes_of(path: str, name: str) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed; name a file")
        data = sys.stdin.buffer.read()
    else:
        file = Path(path)
        if not file.exists():
            raise ValueError(f"{path}: there is no such file{_beside(file)}")
        if file.is_dir():
            raise ValueError(f"{path}: this is a folder; name a file")
        data = file.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except MemoryError as error:
        raise ValueError(_TOO_LARGE.format(name)) from error
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is compressed by gzip, and damaged: {error}") from error


def _beside(file: Path) -> str:
    if not file.parent.is_dir():
        return f", nor a folder {file.parent}"
    close = difflib.get_close_matches(file.name, [other.name for other in file.parent.iterdir()], 1)
    return f"; {file.with_name(close[0])} is there" if close else ""


def _read_typed(data: bytes, name: str, kind: str) -> RawTable:
    import pyarrow as pa

    if kind == "parquet":
        import pyarrow.parquet as parquet

        read: Any = parquet.read_table
    elif kind == "arrow":
        read = _read_arrow
    else:
        import pyarrow.json as arrow_json

        _check_json(data, name)
        read = arrow_json.read_json
    try:
        table = read(_arrow_file(data))
        # offsets of texts may point outside of the file
        table.validate(full=True)
        for index, field in enumerate(table.schema):
            if pa.types.is_string_view(field.type):  # of which pyarrow cannot take rows
                table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    except pa.ArrowException as error:
        raise ValueError(f"{name} cannot be read as {kind}: {error}") from error
    _refuse_twice(name, table.column_names)
    return RawTable(name, table, as_text=False, decimal_comma=False, remarks=())


def _arrow_file(data: bytes) -> Any:
    """File for pyarrow in memory that pyarrow owns."""
    # Threads of pyarrow may release a file after it was read. For memory of Python they need Python, and end the
    # process by a signal if it is about to exit.
    import pyarrow as pa

    memory = pa.allocate_buffer(len(data))
    np.frombuffer(memory, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return pa.BufferReader(memory)


def _check_json(data: bytes, name: str) -> None:
    """Refuse rows that are no objects (null ends pyarrow by a signal), and deep nesting."""
    if data.lstrip().startswith(b"["):
        raise ValueError(f'{name} begins with a list; as JSON lines it has an object in each line, like {{"a": 1}}')
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        begin = line.lstrip(b" \t\r")
        if begin and not begin.startswith(b"{"):
            raise ValueError(
                f"{name}: line {number} begins with {begin[:20].decode(errors='replace').rstrip()!r}; JSON lines have "
                'one object in each line, like {"a": 1}'
            )
        if line.count(b"[") + line.count(b"{") > _MAX_NESTING:
            signs = np.frombuffer(_JSON_TEXT.sub(b"", line), dtype=np.uint8)
            steps = np.isin(signs, list(b"[{")).astype(np.int64) - np.isin(signs, list(b"]}"))
            if steps.cumsum().max(initial=0) > _MAX_NESTING:
                raise ValueError(
                    f"{name}: line {number} has lists or objects inside of each other, more than {_MAX_NESTING} deep; "
                    "a row is one object with numbers, texts, true and false"
                )


def _read_arrow(source: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:  # a stream has no footer
        source.seek(0)
        return pa.ipc.open_stream(source).read_all()


def _read_text(data: bytes, name: str, kind: str, options: ReadOptions) -> RawTable:
    data = _in_utf8(data, name)
    if b"\x00" in data:
        raise ValueError(f"{name} is not text in UTF-8 (it holds bytes of zero); save it as CSV in UTF-8")
    data = _without_lines(data, options.skip)
    records_by = {separator: _records(data, separator) for separator in _candidates(kind, options)}
    separator = max(records_by, key=lambda one: _regularity(records_by[one]))
    records = records_by[separator]
    if not records:
        raise ValueError(f"{name} holds no line with text; a table has a line with the names of its columns, and rows")
    table, remarks = _parsed(data, name, separator, len(records[0]), options.skip)
    if options.names is not None:
        has_header = options.header is True
    else:
        has_header = _has_header(records) if options.header is None else options.header
    names, more = _names_of(records, has_header, options)
    if len(names) != table.num_columns:
        raise ValueError(
            f"--names gives {len(names)} names, and {name} has {table.num_columns} columns; give one for each"
        )
    _refuse_twice(name, names)
    table = table.rename_columns(names).slice(1 if has_header else 0)
    lines = partial(_with_lines, name, separator, options.skip, int(has_header))
    decimal_comma, remarks = separator == ";", [*remarks, *more]
    return RawTable(name, table, as_text=True, decimal_comma=decimal_comma, remarks=tuple(remarks), lines=lines)


def _without_lines(data: bytes, n_lines: int) -> bytes:
    """Data below the first lines."""
    for _ in range(min(n_lines, data.count(b"\n") + 1)):
        data = data.partition(b"\n")[2]
    return data


def _with_lines(path: str, separator: str, skip: int, n_names: int, numbers: Sequence[int]) -> list[str]:
    """Names of rows of a CSV file with their lines, by ascending numbers; the file is read again."""
    lines = {}
    if Path(path).is_file():
        records = _begun_records(_without_lines(_in_utf8(_bytes_of(path, path), path), skip), separator)
        for row, (line, _) in enumerate(islice(records, numbers[-1] + n_names), 1 - n_names):
            lines[row] = f" (line {line + skip:,})"
    return [f"row {number:,}{lines.get(number, '')}" for number in numbers]


def _begun_records(data: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
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


def _in_utf8(data: bytes, name: str) -> bytes:
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
    begun = islice(_begun_records(sample, separator), _SAMPLE_RECORDS + 1)
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


def _parsed(data: bytes, name: str, separator: str, n_columns: int, skip: int) -> tuple[Any, list[str]]:
    """Columns as text, whose first row has the names, if there are any, and remarks."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {f"f{index}": pa.string() for index in range(n_columns)}

    def read(data: bytes) -> Any:
        return arrow_csv.read_csv(
            _arrow_file(data),
            # in one block, so that nothing is left to read after an error
            read_options=arrow_csv.ReadOptions(
                autogenerate_column_names=True, block_size=min(len(data) + 1, _LARGEST_BLOCK)
            ),
            # lines may end inside of quotes
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in data),
            convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )

    try:
        try:
            return read(data), []
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                raise
            return read(data.decode("latin-1").encode()), [f"{name} is not UTF-8, and is read as Latin-1"]
    except pa.ArrowInvalid as error:
        uneven = re.search(r"got (\d+):? ?(.*)", str(error))
        if uneven is not None:
            records = _begun_records(data, separator)
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
    first = records[0]
    if options.names is not None:
        return list(options.names), []
    if not has_header:
        said = (
            "the first line holds numbers, so that it is taken as a row, and the columns are named column_1 to "
            f"column_{len(first)}; --header says that it has names, and --names a,b,... gives other ones"
        )
        return [f"column_{index + 1}" for index in range(len(first))], [] if options.header is False else [said]
    return [cell or f"column_{index + 1}" for index, cell in enumerate(unquoted(first))], []


def _refuse_twice(name: str, names: list[str]) -> None:
    twice = [one for one, often in Counter(names).items() if often > 1]
    if twice:
        raise ValueError(
            f"{name} has more than one column named {twice[0]!r}; give every column a name of its own (--names a,b,... "
            "does so for CSV; with a line of names in the file, --header too; without one, --no-header names columns "
            "column_1, column_2, ...)"
        )
