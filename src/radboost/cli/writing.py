"""Output tables: CSV, TSV, JSON lines, Parquet or Arrow, by the end of the name."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

from radboost.cli.console import plain
from radboost.cli.files import write_whole
from radboost.cli.reading import STDIN


def write_table(table: Any, out: str | None, kind: str) -> None:
    """Write a table to a file, whole or not at all, or to standard output."""
    content = _content(table, kind)
    if out is None or out == STDIN:
        buffer = getattr(sys.stdout, "buffer", None)
        if kind in ("parquet", "arrow"):
            if buffer is None:
                raise ValueError(f"standard output takes text here, and {kind} is none; name a file with --out")
            buffer.write(content)
        else:
            sys.stdout.write(content.decode())
        return
    if out.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    write_whole(Path(out), content)


def _content(table: Any, kind: str) -> bytes:
    import pyarrow as pa

    if kind in ("csv", "tsv"):
        from pyarrow import csv as arrow_csv

        separator = "," if kind == "csv" else "\t"
        names = io.StringIO()
        csv.writer(names, delimiter=separator, lineterminator="\n").writerow(table.column_names)

        def rows(quotes: str) -> bytes:
            sink = io.BytesIO()
            how = arrow_csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=quotes)
            arrow_csv.write_csv(table, sink, how)
            return names.getvalue().encode() + sink.getvalue()

        try:
            return rows("none")
        except pa.ArrowInvalid:  # some text has a separator, a quote or a line's end
            return rows("needed")
    if kind == "jsonl":
        lines = (json.dumps(plain(row), ensure_ascii=False) for row in table.to_pylist())
        return "".join(f"{line}\n" for line in lines).encode()
    sink = io.BytesIO()
    if kind == "parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()
