"""Calls that would lose a file, never end, or fit something else than the table holds."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from command_tables import FAST, fails, fitted
from radboost.cli import main
from radboost.cli.console import Console
from radboost.cli.reading import ReadOptions, read_table

ROWS = "a,b,y\n" + "".join(f"{row % 7},{'uvw'[row % 3]},{'pq'[row % 2]}\n" for row in range(40))
FIT = ("fit", "t.csv", "--target", "y", *FAST)


@pytest.fixture(autouse=True)
def a_table(in_a_folder: None) -> None:
    Path("t.csv").write_text(ROWS)


def test_no_command_writes_over_what_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FIT, "--holdout", "0"]) == 0
    Path("link.csv").symlink_to("t.csv")
    Path("hard.html").hardlink_to("t.csv")
    lost = "which is read, and would be lost; name another file"
    for out in ("t.csv", "./t.csv", str(Path("t.csv").absolute()), "link.csv", "hard.html"):
        assert lost in fails(capsys, *FIT, "--out", out, "--force")
    assert lost in fails(capsys, *FIT, "--test", "link.csv", "--out", "link.csv", "--force")
    assert lost in fails(capsys, *FIT, "--out", "m.rad", "--report", "hard.html", "--force")
    assert lost in fails(capsys, "predict", "model.rad", "t.csv", "--out", "t.csv", "--force")
    assert lost in fails(capsys, "predict", "model.rad", "t.csv", "--out", "model.rad", "--to", "csv", "--force")
    assert lost in fails(capsys, "export", "model.rad", "--to", "json", "--out", "model.rad", "--force")
    assert lost in fails(capsys, "report", "model.rad", "t.csv", "--out", "hard.html", "--force")


def test_two_outputs_are_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    for report in ("x.html", "./x.html", str(Path("x.html").absolute())):
        assert "both name x.html" in fails(capsys, *FIT, "--out", "x.html", "--report", report)


def test_columns_of_a_sparse_model_do_not_replace_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b=u", "b is missing"):
        table = ROWS.replace("a,b,y", f"{name},b,y").replace("0,u,p", "0,,p")
        Path("t.csv").write_text(table)
        line = fails(capsys, "fit", "t.csv", "--target", "y", "--estimator", "sparse", "--jobs", "1", "--holdout", "0")
        assert f"{name!r} would be there twice; rename the column" in line


def test_separators_that_cannot_be_and_no_lines_below_those_above_the_table() -> None:
    for separator in ("é", '"', "\n", "\0", "ab", ""):
        with pytest.raises(ValueError, match="give one ASCII character that neither quotes nor ends lines"):
            read_table("t.csv", ReadOptions(separator=separator))
    with pytest.raises(ValueError, match="holds no line with text"):
        read_table("t.csv", ReadOptions(skip=10**15))


def test_rows_of_weight_0_are_as_if_they_were_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """They could be all that was held out, or all that a class had."""
    names, *rows = ROWS.splitlines()
    kept = [row % 2 == 0 or row % 3 == 0 for row in range(40)]
    asked = ("t.csv", "--target", "y", *FAST, "--force")

    def write(*lines: str) -> None:
        Path("t.csv").write_text("\n".join(lines))

    write(f"{names},w", *(f"{line},{int(there)}" for line, there in zip(rows, kept, strict=True)))
    found = fitted(capsys, *asked, "--weights", "w")
    assert f"{kept.count(False)} of 40 rows have the weight 0, and are left out" in found["notes"]
    write(names, *itertools.compress(rows, kept))
    alone = fitted(capsys, *asked)
    assert (found["rows"], found["verdict"]["score"]) == (alone["rows"], alone["verdict"]["score"])
    write(f"{names},w", *(f"{line},{int(row < 3)}" for row, line in enumerate(rows)))
    assert "has 3 rows with a target; 10 or more are needed" in fails(capsys, "fit", *asked, "--weights", "w")


def test_no_text_of_a_table_is_an_instruction_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text(ROWS.replace("p\n", "\x1b[2Jp\x9b\n").replace("a,b,y", "a\x07,b,y"))
    assert main([*FIT, "--holdout", "0"]) == 0
    for call in (
        ("info", "model.rad"),
        ("evaluate", "model.rad", "t.csv"),
        ("explain", "model.rad", "t.csv", "--row", "1"),
    ):
        assert main(call) == 0
        out, err = capsys.readouterr()
        assert not set("\x1b\x9b\x07") & set(out + err)
    assert main(["evaluate", "model.rad", "t.csv"]) == 0
    assert "\\x1b[2Jp\\x9b" in capsys.readouterr().out
    assert main(["predict", "no\x1b[2J.rad", "t.csv"]) == 2
    assert "\\x1b[2J" in capsys.readouterr().err


def test_names_of_files_that_are_no_text_are_written_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    Console(as_json=True).finish({"data": "t\udcff.csv"})
    written = capsys.readouterr().out
    assert json.loads(written.encode())["data"] == "t\udcff.csv"
