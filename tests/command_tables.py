"""A small table with a column of every kind and calls of the commands, for their tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radboost.cli import main
from radboost.cli.reading import RawTable, ReadOptions, read_table

#: options of a fit that takes milliseconds
FAST = ("--estimator", "softmax", "--jobs", "1", "--set", "n_rounds=10", "--set", "calibration=null")
HEADER = "id,size,colour,bought,when,empty,same,answer"


def lines(n_rows: int = 90, seed: int = 1) -> list[str]:
    """Rows as lines of CSV, without the one of names; the answer follows from size and colour."""
    rng = np.random.default_rng(seed)
    found = []
    for row in range(n_rows):
        size, colour = round(float(rng.normal()), 3), ("red", "green", "blue")[rng.integers(3)]
        answer = "yes" if (size > 0) != (colour == "red") else "no"
        shown = "?" if row % 17 == 5 else str(size)
        bought = "true" if rng.integers(2) else "false"
        found.append(f"k{row:03d},{shown}, {colour},{bought},2024-01-{1 + row % 28:02d},,7,{answer}")
    return found


def write_csv(path: Path, rows: list[str] | None = None, header: str = HEADER) -> str:
    """A file of these rows; returns its name."""
    path.write_text("\n".join([header, *(lines() if rows is None else rows)]) + "\n")
    return str(path)


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line on standard error of a call that ends with 2, and changes no file."""
    before = {path: path.read_bytes() for path in Path.cwd().iterdir() if path.is_file()}
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    last = captured.err.splitlines()[-1]
    assert last.startswith("radboost: ")
    assert {path: path.read_bytes() for path in Path.cwd().iterdir() if path.is_file()} == before
    return last


def read(path: Path, content: str | bytes, **options: Any) -> RawTable:
    """The table of a file with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(str(path), ReadOptions(**options))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a call with --json says."""
    assert main([*arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def fitted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a call of fit with --json says."""
    return said(capsys, "fit", *arguments)
