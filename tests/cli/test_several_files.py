"""`radboost fit` of several files: a table that stands in parts, in memory and on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest

from command_tables import write_csv
from radboost.cli import main

FAST = ("--target", "answer", "--estimator", "softmax", "--jobs", "1", "--force")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def whole_table(folder: Path) -> Any:
    """The table of the tests of commands, with types."""
    return pyarrow.csv.read_csv(
        write_csv(folder / "whole.csv"), convert_options=pyarrow.csv.ConvertOptions(null_values=["?"])
    )


def write_parts(table: Any, n_files: int = 3, group_rows: int = 10) -> list[str]:
    names = [f"part-{number}.parquet" for number in range(n_files)]
    height = -(-table.num_rows // n_files)
    for number, name in enumerate(names):
        parquet.write_table(table.slice(number * height, height), name, row_group_size=group_rows)
    return names


def fitted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a call of fit with --json says."""
    assert main(["fit", *arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["fit", *arguments]) == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_files_are_one_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = whole_table(tmp_path)
    parquet.write_table(table, "whole.parquet")
    parts = write_parts(table)
    one, several = fitted(capsys, "whole.parquet", *FAST), fitted(capsys, *parts, *FAST)
    assert several.pop("data") == "part-0.parquet and 2 more files"
    assert one.pop("data") == "whole.parquet"
    assert one == several


def test_files_that_differ(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = whole_table(tmp_path)
    first, second, _ = write_parts(table)
    parquet.write_table(table.drop_columns("size"), second)
    assert f"{first} has a column 'size', and {second} has none" in fails(capsys, first, second, *FAST)
    changed = table.set_column(1, "size", table.column("size").cast(pa.string()))
    parquet.write_table(changed, second)
    assert f"'size' holds double in {first}, and string in {second}" in fails(capsys, first, second, *FAST)
    assert "are not of one format" in fails(capsys, first, "whole.csv", *FAST)
