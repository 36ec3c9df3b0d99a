"""A small table with a column of every kind and calls of the commands, for their tests."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radboost._number_formats import MISSING_WORDS
from radboost.cli import main
from radboost.cli.cells import Cells, cells_of
from radboost.cli.columns import FeatureTable, decide_columns, table_of
from radboost.cli.reading import read_table
from radboost.cli.tables import RawTable, ReadOptions
from radboost.cli.targets import Target, decide_target

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


def decided(given: RawTable, names: Sequence[str], wanted: Collection[str] = (), height: int | None = None) -> Any:
    """Columns, those left out and notes, decided from summaries of parts of this many rows (None: one part)."""
    seen = {name: summary(given, name, height, as_names=name in wanted) for name in names}
    return decide_columns(given.name, seen, wanted, given.n_rows)


def summary(given: RawTable, name: str, height: int | None = None, *, as_names: bool = False, **options: Any) -> Cells:
    """Summary of a column, merged from parts of this many rows (None: one part)."""
    height, parts = height or given.n_rows, []
    for start in range(0, given.n_rows, height):
        part = given.take(np.arange(start, min(given.n_rows, start + height)))
        cells = cells_of(part, name, MISSING_WORDS, as_names=as_names)
        parts.append((cells.as_texts() if as_names else cells).summary(**{"all_numbers": False, **options}))
    by_row = partial(cells_of, given, name, MISSING_WORDS)
    return replace(reduce(Cells.merged, parts), by_row=lambda: [by_row()])


def features(given: RawTable, names: Sequence[str], wanted: Collection[str] = ()) -> FeatureTable:
    """Values of the columns that are decided on."""
    columns = decided(given, names, wanted)[0]
    cells = {name: cells_of(given, name, MISSING_WORDS, as_names=name in wanted) for name in names}
    return table_of(columns, given.name, lambda column: cells[column.name])[0]


def target_of(cells: Cells, task: str | None = None) -> Target:
    """Decision on a target in one part."""
    seen = replace(cells.summary(all_numbers=True), by_row=lambda: [cells])
    return decide_target(seen, len(cells.present), task)
