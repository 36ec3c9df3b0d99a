"""Tables from files: CSV, TSV, Parquet, Arrow and JSON lines, each also compressed by gzip, or from standard input."""

from __future__ import annotations

import codecs
import difflib
import glob
import gzip
import os
import re
import sys
import zlib
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost.cli.csv_text import (
    GZIP,
    arrow_file,
    in_utf8,
    is_plain,
    read_csv,
    without_lines,
)
from radboost.cli.tables import RawTable, ReadOptions, RowName, refuse_twice

if TYPE_CHECKING:
    from radboost.cli.parquet import ParquetTable

ENDINGS = {
    "csv": (".csv", ".txt", ".data", ".test"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
}
FORMATS = tuple(ENDINGS)
STDIN = "-"
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # row labels of pandas, which are no column of the user's
IN_MEMORY_BYTES = 2**28  # of the values of a table in Parquet files, above which it is read by parts
_MAX_NESTING = 64
_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


def open_tables(paths: Sequence[str], options: ReadOptions) -> RawTable | ParquetTable:
    """Table in one file, or in several with the same columns; large ones in Parquet files are read by parts."""
    expanded = [one for path in paths for one in _files_of(path)]
    formats = {format_of(path, options.format, "--format") for path in expanded}
    if formats == {"parquet"} and all(map(os.path.isfile, expanded)):
        from radboost.cli.parquet import ParquetTable
        from radboost.distributed.parquet import NUMBER_BYTES, read_contents

        contents = read_contents(expanded)
        expanded = [one.path for one in contents if sum(one.group_rows)] or expanded  # others may write empty files
        if sum(sum(one.group_rows) * len(one.names) for one in contents) * NUMBER_BYTES > IN_MEMORY_BYTES:
            _return_memory(0)
            names = [name for name in contents[0].schema.names if not UNNAMED_INDEX.fullmatch(name)]
            return ParquetTable(expanded[0], names, expanded)
    _return_memory(100)  # at once would cost time
    return read_tables(expanded, options)


def _return_memory(milliseconds: int) -> None:
    """Let pyarrow return memory when it is free for this time: its usual pool keeps that of its threads."""
    import pyarrow as pa

    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
        pa.jemalloc_set_decay_ms(milliseconds)


def _files_of(path: str) -> list[str]:
    """Files in a folder, or with the names of a pattern; anything else as it is."""
    if path == STDIN or Path(path).is_file() or not (Path(path).is_dir() or glob.has_magic(path)):
        return [path]
    from radboost.distributed.parquet import parquet_files

    return parquet_files(path)


def read_table(path: str, options: ReadOptions) -> RawTable:
    """Table in a file, or on standard input if the path is "-"."""
    name = "standard input" if path == STDIN else path
    kind = format_of(path, options.format, "--format")
    try:
        if kind in ("csv", "tsv"):
            text = partial(_text_of, path, name, options.skip)
            plain = path != STDIN and Path(path).is_file() and not options.skip and is_plain(Path(path))
            again = text if path != STDIN else bytes
            given = read_csv(Path(path) if plain else text(), name, kind, options, again)
        else:
            given = _read_typed(_bytes_of(path, name), name, kind)
    except (NotImplementedError, KeyError) as error:
        raise ValueError(f"{name} cannot be read as {kind}: {error}") from error
    except MemoryError as error:
        raise ValueError(f"{name} does not fit into memory; give a part of its rows or columns") from error
    if not given.n_rows:
        raise ValueError(f"{name} has names of columns ({listed(given.names, 8, str)}) and no rows")
    return given


def _text_of(path: str, name: str, skip: int) -> bytes:
    return without_lines(in_utf8(_bytes_of(path, name), name), skip)


def read_tables(paths: Sequence[str], options: ReadOptions) -> RawTable:
    """Table in one file, or in several that have the same columns, one below the other."""
    given = [read_table(path, options) for path in paths]
    first = given[0]
    if len(given) == 1:
        return first
    import pyarrow as pa

    tables = [_plain_table(one.table) if one.separator is None else one.table for one in given]
    for table, other in zip(tables[1:], given[1:], strict=True):
        if len({(one.separator is None, one.separator == ";") for one in (first, other)}) > 1:
            raise ValueError(f"{first.name} and {other.name} are not of one format; convert them to one")
        _check_same_columns(first.name, tables[0].schema, other.name, table.schema)
    remarks = tuple(dict.fromkeys(remark for one in given for remark in one.remarks))
    together = pa.concat_tables([table.select(first.names) for table in tables])
    starts = np.cumsum([0, *(one.n_rows for one in given)])
    row_name = partial(_of_files, [(one.name, one.row_name) for one in given], starts)
    return RawTable(first.name, together, first.separator, remarks, name_of=row_name)


def _of_files(files: Sequence[tuple[str, RowName]], starts: npt.NDArray[np.int64], index: int) -> str:
    """Name of a row of several files, by its index in all; the tables of the files are not kept."""
    file = int(np.searchsorted(starts, index, side="right")) - 1
    name, row_name = files[file]
    return f"{row_name(index - int(starts[file]))} of {name}"


def _plain_table(table: Any) -> Any:
    """Table whose texts and categories all have the type string."""
    import pyarrow as pa

    types = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    types = [pa.string() if pa.types.is_large_string(kind) else kind for kind in types]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def _check_same_columns(one: str, schema: Any, other: str, other_schema: Any) -> None:
    types = [dict(zip(each.names, each.types, strict=True)) for each in (schema, other_schema)]
    for name in types[0] | types[1]:
        if types[0].get(name) != types[1].get(name):
            held = [f"is {of.get(name, 'missing')} in {where}" for where, of in zip((one, other), types, strict=True)]
            raise ValueError(
                f"the column {name!r} {' and '.join(held)}; files must have the same columns, with one type everywhere"
            )


def format_of(path: str | None, wanted: str | None, option: str) -> str:
    """Format that an option names, or else by the end of a file's name; CSV on standard input and output."""
    if wanted is not None:
        if wanted not in FORMATS:
            raise ValueError(f"{option} is {wanted!r}; known are {', '.join(FORMATS)}")
        return wanted
    if path is None or path == STDIN:
        return "csv"
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    for kind, endings in ENDINGS.items():
        if ending in endings:
            return kind
    known = ", ".join(f"{kind} ({', '.join(endings)})" for kind, endings in ENDINGS.items())
    raise ValueError(
        f"{path}: {ending or 'no ending'!r} says nothing of the format; known are {known}; "
        f"name the format with {option}"
    )


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
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is compressed by gzip, and damaged: {error}") from error


def _beside(file: Path) -> str:
    if not file.parent.is_dir():
        return f", nor a folder {file.parent}"
    close = difflib.get_close_matches(file.name, [other.name for other in file.parent.iterdir()], 1)
    return f"; {file.with_name(close[0])} is there" if close else ""


def _read_typed(data: bytes, name: str, kind: str) -> RawTable:
    import pyarrow as pa
    import pyarrow.json
    import pyarrow.parquet

    if kind == "jsonl":
        _check_json(data, name)
    read: Any = {"parquet": pa.parquet.read_table, "arrow": _read_arrow, "jsonl": pa.json.read_json}[kind]
    try:
        table = read(arrow_file(data))
        table.validate(full=True)  # offsets of texts may point outside of the file
    except pa.ArrowException as error:
        raise ValueError(f"{name} cannot be read as {kind}: {error}") from error
    return typed_table(name, table)


def typed_table(name: str, table: Any) -> RawTable:
    """Table of a file that has types."""
    import pyarrow as pa

    table = table.drop_columns([name for name in table.column_names if UNNAMED_INDEX.fullmatch(name)])
    for index, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):  # of which pyarrow cannot take rows
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    refuse_twice(name, table.column_names)
    return RawTable(name, table)


def _check_json(data: bytes, name: str) -> None:
    """Refuse rows that are no objects (null ends pyarrow by a signal), and deep nesting."""
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        begin = line.lstrip(b" \t\r")
        if begin and not begin.startswith(b"{"):
            raise ValueError(
                f"{name}: line {number} begins with {begin[:20].decode(errors='replace').rstrip()!r}; JSON lines have "
                'one object in each line, like {"a": 1}'
            )
        if line.count(b"[") + line.count(b"{") > _MAX_NESTING:
            steps = ((sign in b"[{") - (sign in b"]}") for sign in _JSON_TEXT.sub(b"", line))
            if max(accumulate(steps), default=0) > _MAX_NESTING:
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
