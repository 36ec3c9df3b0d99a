"""The commands in docs/command-line.md, as they stand there, on a table like the one that the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest

from radboost.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


def write_people() -> None:
    """The table of the page: 300 people; `new.csv` has five of them without the answers."""
    rng = np.random.default_rng(0)
    n = 300
    age, hours = rng.integers(18, 70, n), rng.integers(10, 60, n)
    work = rng.choice(["State", "Private", "Self-employed", "?"], n, p=[0.2, 0.55, 0.2, 0.05])
    score = (age - 40) / 12 + (hours - 38) / 10 - 2 * ((age - 45) / 15) ** 2 + 1.2 * (work == "Private")
    score += rng.logistic(size=n) * 0.5
    since = np.datetime64("2005-01-01") + rng.integers(0, 6000, n)
    rows = [f"person {i + 1},{age[i]},{work[i]},{hours[i]},{since[i]}" for i in range(n)]
    answers = ["high" if one > 0 else "low" for one in score]
    header = "name,age,work,hours,since"
    people = [f"{row},{answer}" for row, answer in zip(rows, answers, strict=True)]
    Path("people.csv").write_text("\n".join([f"{header},income", *people]) + "\n")
    Path("new.csv").write_text("\n".join([header, *rows[:5]]) + "\n")
    parquet.write_table(pyarrow.csv.read_csv("new.csv"), "new.parquet")


def test_the_commands_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_people()
    text = PAGE.read_text(encoding="utf-8")
    for line in Path("people.csv").read_text().splitlines()[:4]:
        assert f"{line}\n" in text
    commands = re.findall(r"^\$ radboost (.*)$", text, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["fit", "predict", "explain", "predict", "export"]
    for command in commands:
        assert main(shlex.split(command)) == 0, command
        out, err = capsys.readouterr()
        if command.startswith("fit"):
            said = text.partition(f"$ radboost {command}\n")[2].partition("\n$ ")[0]
            assert sorted(said.splitlines()) == sorted([*err.splitlines(), *out.splitlines()])
    assert Path("answers.csv").read_text().startswith("name,prediction,probability_high,probability_low\n")
    assert {path.name for path in tmp_path.iterdir()} >= {"people.html", "answers.parquet", "people.onnx"}
