"""Tables that nobody would write by hand: the commands read them, or say what is wrong with them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from command_tables import read
from radboost import _tables
from radboost.cli import main
from radboost.cli.reading import read_table
from radboost.cli.tables import ReadOptions


def test_long_cells_and_long_names_are_read(tmp_path: Path) -> None:
    text, name = "z" * 10**6, "n" * 10**6
    given = read(tmp_path / "cell.csv", f"a,b\n1,x\n2,{text}\n")
    assert given.table.column("b").to_pylist() == ["x", text]
    given = read(tmp_path / "name.csv", f"{name},b\n1,x\n2,y\n")
    assert given.names == [name, "b"]
    assert given.n_rows == 2
    names = [f"column number {place}" for place in range(20_000)]  # together longer than the sample
    row = ",".join("1" for _ in names)
    given = read(tmp_path / "wide.csv", f"{','.join(names)}\n{row}\n{row}\n")
    assert given.names == names
    assert given.n_rows == 2


def test_bytes_of_zero_are_refused_wherever_they_are(tmp_path: Path) -> None:
    rows = "1,x\n" * 100_000
    for content in (f"a\0,b\n{rows}", f"a,b\n{rows}1,x\0\n"):
        with pytest.raises(ValueError, match="holds bytes of zero"):
            read(tmp_path / "t.csv", content)


def test_json_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    """pyarrow ends the process by a signal, for want of memory for its calls."""
    file = tmp_path / "t.jsonl"
    for deep in ("[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000):
        with pytest.raises(ValueError, match="line 2 has lists or objects inside of each other, more than 64 deep"):
            read(file, '{"a": 1}\n{"a": ' + deep + "}\n")
    many = {f"c{place}": "[{" * 40 for place in range(100)}
    assert read(file, json.dumps(many) + "\n").table.to_pylist() == [many]


@pytest.mark.parametrize("line", ["null", "true", "3", '"a"', "  null\r", "[1, 2]"])
def test_json_lines_are_objects(tmp_path: Path, line: str) -> None:
    """At null in the first line pyarrow ends the process by a signal."""
    for text, number in ((f'{line}\n{{"a": 1}}\n', 1), (f'{{"a": 1}}\n\n{line}\n', 3)):
        with pytest.raises(
            ValueError, match=rf"line {number} begins with '{re.escape(line.strip())}'; JSON lines have one object"
        ):
            read(tmp_path / "t.jsonl", text)


@pytest.mark.parametrize("place", ["gzip.decompress", "pyarrow.csv.read_csv", "radboost.cli.fitting.RowSource"])
def test_too_little_memory_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,x\n"))
    monkeypatch.setattr(place, fails)
    assert main(["fit", str(tmp_path / "t.csv.gz"), "--target", "b", "--out", str(tmp_path / "m.rad")]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "memory" in said


def arrow_file(path: Path, column: pa.Array) -> str:
    table = pa.table({"s": column})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return str(path)


def test_texts_outside_of_an_arrow_file_are_not_looked_up(tmp_path: Path) -> None:
    """The process ended by a signal."""
    for places, letters in (([0, 1, 2**30, 3, 4], b"abcd"), ([0, 1, 2, 3, 4], b"ab\xff\xfe")):
        buffers = [None, pa.py_buffer(np.array(places, dtype=np.int32).tobytes()), pa.py_buffer(letters)]
        forged = arrow_file(tmp_path / "t.arrow", pa.Array.from_buffers(pa.string(), 4, buffers))
        with pytest.raises(ValueError, match=r"t\.arrow cannot be read as arrow"):
            read_table(forged, ReadOptions())


def test_texts_as_polars_writes_them_are_read(tmp_path: Path) -> None:
    given = read_table(arrow_file(tmp_path / "t.arrow", pa.array(["u", None, "v"], pa.string_view())), ReadOptions())
    assert given.table.take([2, 1]).to_pylist() == [{"s": "v"}, {"s": None}]


def test_pyarrow_is_given_no_memory_of_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads would need Python to let go of it, also when Python is just ending: one process in 20 was aborted."""
    seen = []

    def watch(source: pa.BufferReader, **options: object) -> object:
        seen.append(source.read_buffer())
        source.seek(0)
        return real(source, **options)

    real = arrow_csv.read_csv
    monkeypatch.setattr(arrow_csv, "read_csv", watch)
    read(tmp_path / "t.csv", "a,b\n1,é\n".encode("latin-1"))
    own = pa.py_buffer(b"a,b\n")
    assert len(seen) == 2
    # what belongs to Python cannot be written to, and pyarrow's own memory can
    assert all((buffer.parent or buffer).is_mutable for buffer in seen)
    assert not own.is_mutable


def test_the_names_of_columns_are_not_asked_for_once_for_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(_tables, "column_title", lambda X, column: calls.append(column) or f"column {column}")
    columns = {f"c{place}": np.zeros(2) for place in range(50)}
    _tables.refuse_dates(pa.table(columns))
    assert not calls
    with pytest.raises(ValueError, match="Column 50 of X holds dates or times"):
        _tables.refuse_dates(pa.table({**columns, "d": pa.array([0, 1], pa.date32())}))
    assert calls == [50]
