"""Messages about a cell that is refused name its column, its row and line, the value, and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_tables import FAST, fails
from radboost.cli import main

COLUMNS = ("size", "kind", "when", "weight", "answer")
LINE = "in row 12 (line 14)"
# Column and text of the cell in row 12, the options of a fit, and parts of the message.
CELLS = [
    ("size", "inf", "answer", (), f"the column 'size' holds infinity {LINE}, and numbers must be finite"),
    ("weight", "-1", "answer", ("--weights", "weight"), f"holds -1 {LINE}; weights must be numbers, none missing"),
    ("weight", "much", "answer", ("--weights", "weight"), f"holds 'much' {LINE}; weights must be numbers"),
    ("weight", "", "answer", ("--weights", "weight"), f"holds no value {LINE}; weights must be numbers"),
    ("when", "soon", "answer", ("--time", "when"), f"holds 'soon' {LINE}; times are numbers, or dates"),
    ("size", "many", "size", (), f"the target 'size' holds numbers, but for 'many' {LINE}; correct these rows"),
    ("size", "many,more", "answer", (), "line 14 has 6 fields (many,more,c,"),
]


def write(path: Path, column: str, value: str) -> str:
    """A table of 40 rows whose second line is empty, with this value in row 12, and without an answer in row 4."""
    rows = []
    for row in range(40):
        cells = [f"{row * 1.5:.2f}", "abc"[row % 3], f"2024-01-{1 + row % 28:02d}", "1", ("yes", "no")[row % 7 % 2]]
        if row == 3:
            cells[-1] = ""
        if row == 11:
            cells[COLUMNS.index(column)] = value
        rows.append(",".join(cells))
    path.write_text("\n".join([",".join(COLUMNS), "", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("cell", CELLS)
def test_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path, cell: tuple[Any, ...]) -> None:
    """Also after rows without a target are left out, and in the second of two files."""
    column, value, target, options, message = cell
    data = write(tmp_path / "t.csv", column, value)
    settings = FAST if target == "answer" else ("--jobs", "1")
    assert message in fails(capsys, "fit", data, "--target", target, *settings, *options)
    if "line 14 has" not in message:
        first = write(tmp_path / "first.csv", "kind", "a")
        said = fails(capsys, "fit", first, data, "--target", target, *settings, *options)
        assert message.replace(LINE, f"{LINE} of {data}") in said


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("size", "many", f"holds 'many' {LINE}, and the model was fitted to numbers"),
        ("when", "soon", f"holds 'soon' {LINE}, and the model was fitted to dates (2020-12-31)"),
    ],
)
def test_predictions(capsys: pytest.CaptureFixture[str], tmp_path: Path, column: str, value: str, message: str) -> None:
    data, later = write(tmp_path / "t.csv", "kind", "a"), write(tmp_path / "later.csv", column, value)
    assert main(["fit", data, "--target", "answer", *FAST]) == 0
    capsys.readouterr()
    assert message in fails(capsys, "predict", "model.rad", later)
    assert message in fails(capsys, "evaluate", "model.rad", later)
