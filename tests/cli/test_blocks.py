"""CSV that is read by blocks is the table that is read at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from command_tables import decided, features, read
from radboost._number_formats import MISSING_WORDS
from radboost.cli import csv_text
from radboost.cli.cells import cells_of
from radboost.cli.tables import RawTable

ROWS = [f"{k % 7},{k / 8},t{k % 5}" for k in range(60)]
TEXTS = {
    "plain": "\n".join(["a,b,c", *ROWS]),
    "a text in a late block": "\n".join(["a,b,c", *ROWS, "x,?,NA", *ROWS]),
    "lines inside of quotes": "\n".join(["a,b,c", *ROWS, '1,2,"u\nv"', *ROWS]),
    "single quotes": "\n".join(["a,b,c", *(f"'{k % 4}','{k}',' ?'" for k in range(60))]),
    "a row larger than a block": "\n".join(["a,b,c", *ROWS, f"1,2,{'w' * 500}", *ROWS]),
    "different dictionaries": "\n".join(["a,b,c", *(f"{k},u{k // 9},{k % 2}" for k in range(90))]),
    "decimal commas": "\n".join(["a;b;c", *(f"{k},5;{k};{k % 3}" for k in range(60))]),
    "a mark": "\ufeff" + "\n".join(["a,b,c", *ROWS]),
    "empty lines": "\n\n".join(["a,b,c", *ROWS]),
}


@pytest.mark.parametrize("what", list(TEXTS))
def test_blocks_are_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    def parsed() -> Any:
        given = read(tmp_path / "t.csv", TEXTS[what])
        names = ["a", "b", "c"]
        assert given.names == names
        part = given.take(np.flatnonzero(np.arange(given.n_rows) % 3))
        cells = [cells_of(one, name, MISSING_WORDS) for one in (given, part) for name in names]
        texts = [(one.texts, one.ranks.tolist(), one.counts.tolist()) for one in cells]
        values = {name: one.tolist() for name, one in features(given, names, {"c"}).values.items()}
        return texts, decided(given, names, {"c"}), values, [given.row_name(index) for index in (2, 50)]

    expected = parsed()
    opened = []
    monkeypatch.setattr(csv_text, "_BLOCK_BYTES", 64)
    real = csv_text._parsed
    monkeypatch.setattr(csv_text, "_parsed", lambda *given, **named: opened.append(given[4]) or real(*given, **named))
    assert str(parsed()) == str(expected)  # NaN is not equal to itself
    assert opened[0] == 64


def test_bytes_that_are_no_text_in_a_late_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_text, "_BLOCK_BYTES", 64)
    head = TEXTS["plain"].encode()
    latin = read(tmp_path / "t.csv", head + "\n1,2,é\n".encode("latin-1"))
    assert latin.remarks == (f"{tmp_path / 't.csv'} is not UTF-8, and is read as Latin-1",)
    assert latin.table.column("c").cast("string").to_pylist()[-1] == "é"
    with pytest.raises(ValueError, match="bytes of zero"):
        read(tmp_path / "t.csv", head + b"\n1,2,\x00\n")
    with pytest.raises(ValueError, match=r"line 62 has 2 fields"):
        read(tmp_path / "t.csv", head + b"\n1,2\n")


def test_a_dictionary_that_fills_its_type_has_missing_values() -> None:
    words, codes = [f"w{k:03d}" for k in range(128)], [*range(127, -1, -1), None]
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), words)])
    cells = cells_of(RawTable("t", pa.table({"a": column})), "a", ())
    assert cells.texts == tuple(words)
    assert cells.ranks.tolist() == [*range(127, -1, -1), 128]
    assert cells.of_rows(np.arange(128), -1).tolist() == [*range(127, -1, -1), -1]
