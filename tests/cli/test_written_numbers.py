"""Tables with numbers as people write them: read as the same numbers written plainly, also in later files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from command_tables import decided, features, target_of
from radboost._number_formats import MISSING_WORDS
from radboost.cli import main
from radboost.cli.cells import cells_of
from radboost.cli.columns import match_columns
from radboost.cli.reading import read_table
from radboost.cli.tables import RawTable, ReadOptions
from radboost.model_file import Schema

N = 120


def messy() -> tuple[dict[str, list[str]], dict[str, Any]]:
    """A table as people write it, and the same written plainly."""
    z = (3000 * np.random.default_rng(0).normal(size=N)).round()
    gaps = np.arange(N) % 9 == 0
    plain: dict[str, Any] = {
        "money": z,
        "euros": z,
        "spaces": z,
        "brackets": z,
        "gaps": np.where(gaps, np.nan, z),
        "typo": np.where(np.arange(N) < 6, np.nan, z),
    }
    written = {
        "money": [f"${value:,.0f}" for value in z],
        "euros": [f"{value:,.0f} €".replace(",", ".") for value in z],
        "spaces": [f"{value:,.0f}".replace(",", "\u202f") for value in z],
        "brackets": [f"({-value:.0f})" if value < 0 else f"{value:.0f}" for value in z],
        "gaps": ["unknown" if gap else f"{value:.0f}" for value, gap in zip(z, gaps, strict=True)],
        "typo": ["?!"] * 6 + [f"{value:.0f}" for value in z[6:]],
    }
    written["euros"][0] = f"{z[0]:.2f} €".replace(".", ",")
    return written, plain


def given(columns: dict[str, list[str]], path: Path) -> RawTable:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return read_table(str(path), ReadOptions())


def test_columns_are_the_plain_ones_also_in_later_files(tmp_path: Path) -> None:
    written, plain = messy()
    table = given(written, tmp_path / "t.csv")
    columns, _, notes = decided(table, table.names)
    values = features(table, table.names).values
    for name, expected in plain.items():
        np.testing.assert_array_equal(values[name], expected, name)
    assert "'typo' is read as numbers; 6 of 120 values are no such numbers ('?!'), and are missing" in notes[-1]
    schema = Schema("y", "classes", "table", columns, missing_words=MISSING_WORDS)
    later = {name: [values[7]] for name, values in written.items()} | {"money": ["5.000,00"], "gaps": ["-"]}
    found, notes = match_columns(given(later, tmp_path / "later.csv"), schema)
    values = {name: value[0] for name, value in found.values.items()}
    expected = {name: value[7] for name, value in plain.items()} | {"money": np.nan, "gaps": np.nan}
    np.testing.assert_equal(values, expected)
    assert len(notes) == 1
    assert "1 of 1 rows have no number in 'money'" in notes[0]


def test_a_note_shows_how_the_least_usual_number_is_read(tmp_path: Path) -> None:
    table = given({"price": ["7"] * 20 + ["$5"] + ["6"] * 20}, tmp_path / "t.csv")
    notes = decided(table, table.names)[2]
    assert notes == ("'price' is read as numbers: '$5' is 5. --categorical 'price' takes it as text",)


def test_parts_of_a_typed_file_decide_alike() -> None:
    table = pa.table(messy()[0] | {"code": [f"{place % 40}" for place in range(N)], "y": ["u", "v"] * (N // 2)})
    typed = RawTable("t", table)
    expected = decided(typed, table.column_names[:-1])
    assert decided(typed, table.column_names[:-1], (), 50) == expected
    assert [column.kind for column in expected[0]] == ["number"] * 6 + ["category"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([*messy()[0]["money"][:-1], "a lot"], r"but for 'a lot' in row 120 \(line 121\); correct .*--missing 'a lot'"),
        ([*messy()[0]["money"][:-1], "-"], "but for '-' in row 120"),
        ([f"street {place % 60}" for place in range(N)], r"60 different texts in 120 rows.*--task classes"),
    ],
)
def test_targets_that_are_refused(tmp_path: Path, values: list[str], message: str) -> None:
    table = given({"y": values, "x": values}, tmp_path / "t.csv")
    cells = cells_of(table, "y", MISSING_WORDS)
    for these in (cells, cells_of(table.take(np.arange(N // 2, N)), "y", MISSING_WORDS)):
        with pytest.raises(ValueError, match=message if these is cells else message.replace("120 rows", "60 rows")):
            target_of(these).labels(these)
    assert target_of(cells_of(given({"y": ["1", "2", "-"] * 40}, tmp_path / "u.csv"), "y", ())).task == "classes"


def test_a_model_is_that_of_the_plain_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written, plain = messy()
    price = np.arange(N) * 37 + 1000
    given({"Price": [f"$ {one:,}" for one in price], **written}, tmp_path / "messy.csv")
    texts = {name: ["" if np.isnan(one) else f"{one}" for one in values] for name, values in plain.items()}
    given({"Price": list(map(str, price)), **texts}, tmp_path / "plain.csv")
    said = []
    for name in ("messy", "plain"):
        assert main(["fit", f"{name}.csv", "--target", "Price", "--out", f"{name}.rad", "--jobs", "1"]) == 0
        said.append(capsys.readouterr().out)
        for command in ("evaluate", "predict"):
            assert main([command, f"{name}.rad", f"{name}.csv"]) == 0
            said.append(capsys.readouterr().out.replace(name, ""))
    assert said[:3] == said[3:]
