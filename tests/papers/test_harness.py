"""Harness and command: what is fitted, kept, printed, stored and refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from papers import harness
from papers.__main__ import main, studies
from papers.harness import Facts, KeptResults, Outcome, Result, Row, Study, as_text, chance_of_lead, run

STUDIES = studies()
NO_FIT_BEGINS = ("run", "soft-max-boosting-fig7", "--quick", "--jobs", "1")


@dataclass(frozen=True)
class Squares(Study):
    """Squares of numbers; asks for one more fit after the first ones."""

    runs = 4
    quick_runs = 2
    columns = ("number", "square")
    legend = "squares"

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [{"number": number} for number in range(runs)]

    def further(self, outcomes: Sequence[Outcome]) -> list[Facts]:
        return [] if any(one.facts["number"] == 9 for one in outcomes) else [{"number": 9}]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        return {"square": facts["number"] ** 2, "process": os.getpid()}

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        return [[str(one.facts["number"]), str(one.result["square"])] for one in outcomes]


SQUARES = Squares("squares", "squares of numbers")


def test_fits_and_those_that_they_call_for() -> None:
    wanted = SQUARES.wanted(quick=True, seed=3)
    assert [facts["seed"] for facts in wanted] == [3, 3]
    outcomes = run(SQUARES, wanted)
    assert SQUARES.rows(outcomes) == [["0", "0"], ["1", "1"], ["9", "81"]]
    assert all(one.facts.keys() == {"radboost", "seed", "number"} for one in outcomes)
    assert [len(SQUARES.wanted(runs=runs)) for runs in (None, 3)] == [4, 3]
    with pytest.raises(ValueError, match="squares has 4 runs and not 5; ask for 1 to 4"):
        SQUARES.wanted(runs=5)
    with pytest.raises(ValueError, match="squares has no picture"):
        SQUARES.draw(outcomes)


def test_kept_results_are_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept.jsonl"
    first = run(SQUARES, SQUARES.wanted(quick=True), kept=KeptResults(path))
    assert len(path.read_text().splitlines()) == 3
    again = run(SQUARES, SQUARES.wanted(), kept=KeptResults(path))
    assert len(path.read_text().splitlines()) == 5
    assert [one for one in again if one in first] == first
    path.write_text('{"facts": {}, "result": {}}\n{"facts": 1}')
    with pytest.raises(ValueError, match=f"line 2 of {path} is not a kept result"):
        KeptResults(path)


@pytest.mark.slow
def test_several_processes() -> None:
    outcomes = run(SQUARES, SQUARES.wanted(), jobs=2)
    assert SQUARES.rows(outcomes) == SQUARES.rows(run(SQUARES, SQUARES.wanted()))
    assert os.getpid() not in {one.result["process"] for one in outcomes}


def test_messages_on_the_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 31.0, 31.0, 40.0])
    monkeypatch.setattr(harness.time, "monotonic", lambda: next(clock))
    run(SQUARES, SQUARES.wanted(quick=True))
    assert capsys.readouterr().err == "squares: 2 of 2 fits\n"


def test_tables_as_text() -> None:
    assert as_text(("name", "n"), [["a", "10"], ["bcdef", "-"]]) == "name    n\n---------\na      10\nbcdef   -"


def test_the_test_of_the_papers() -> None:
    worse, better = [0.30, 0.28, 0.31, 0.29, 0.30], [0.26, 0.25, 0.28, 0.24, 0.27]
    assert chance_of_lead(better, worse) < 0.01
    assert chance_of_lead(worse, better) > 0.99
    assert chance_of_lead(worse, worse) == 0.5


def test_studies_share_results_only_if_they_share_the_fit() -> None:
    """Kept results are recognized by their facts alone."""
    fits: dict[str, Any] = {}
    for study in STUDIES.values():
        for facts in study.wanted(quick=True):
            key = json.dumps(facts, sort_keys=True)
            assert fits.setdefault(key, type(study).fit) is type(study).fit, study.name
        assert len(study.legend) > 20


@pytest.mark.parametrize("folder", ["results", "published"])
def test_stored_tables_are_complete(folder: str) -> None:
    for path in (harness.FOLDER / folder).glob("*.csv"):
        head, *rows = harness.read_csv(path)
        assert rows, path.name
        assert all(len(row) == len(head) for row in rows), path.name
        if folder == "results":
            assert [name for name in STUDIES if path in harness.stored(name)], path.name


def test_show_and_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "deep-boosting-2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("deep-boosting-2.csv: boosted trees, exponential loss\n\ndata set")
    assert "0.0358 (0.0172)" in out
    assert "deep-boosting-2.quick.csv" in out
    assert main(["list"]) == 0
    assert capsys.readouterr().out.startswith("## Deep Boosting (Cortes, Mohri and Syed, 2014)\n\n| the paper | here |")


def test_run(capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path) -> None:
    arguments = ["run", "soft-max-boosting-3", "--quick", "--datasets", "vowel", "--jobs", "1", "--seed", "2"]
    assert main([*arguments, "--data-dir", folder, "--csv", str(tmp_path / "table.csv")]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"soft-max-boosting-3: {STUDIES['soft-max-boosting-3'].title}; 3 fits, seed 2"
    with (tmp_path / "table.csv").open() as file:
        head, *rows = csv.reader(file)
    assert head[:2] == ["data set", "algorithm"]
    assert [row[1] for row in rows] == ["AdaBoost.MH", "SAMME", "sm-boost"]
    assert [line.split()[:3] for line in out[4:7]] == [row[:3] for row in rows]


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command, which ends with 2, and return its one line on standard error."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("papers: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    return captured.err


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = ("run", "deep-boosting-1")
    assert "unknown study 'deep'; known are deep-boosting-1, deep-" in fails(capsys, "run", "deep")
    assert "deep-boosting-1 lacks sonar; its sets are breastcancer" in fails(capsys, *table, "--datasets", "sonar")
    assert "makes its own data" in fails(capsys, *NO_FIT_BEGINS, "--datasets", "vowel")
    assert "--jobs is 0" in fails(capsys, *table, "--jobs", "0")
    assert "--seed is -1" in fails(capsys, *table, "--seed", "-1")
    assert "deep-boosting-1 has 10 runs and not 11" in fails(capsys, *table, "--runs", "11")
    assert "has no picture" in fails(capsys, *table, "--plot", str(tmp_path / "x.png"))
    assert "has no stored results" in fails(capsys, "show", "structured-6.5")
    assert "the ending '.pictures' names no kind" in fails(
        capsys, *NO_FIT_BEGINS, "--plot", str(tmp_path / "x.pictures")
    )
    for option in ("--csv", "--keep", "--plot"):
        said = fails(capsys, *NO_FIT_BEGINS, option, str(tmp_path))
        assert f"{option} {tmp_path}: this is not a regular file" in said
        assert f"{option} {tmp_path}" in fails(capsys, *NO_FIT_BEGINS, option, str(tmp_path / "no" / "x.png"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_ends_without_a_traceback() -> None:
    arguments = ("run", "soft-max-boosting-fig1", "--jobs", "2")
    with subprocess.Popen(
        [sys.executable, "-m", "papers", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=harness.FOLDER.parent,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("soft-max-boosting-fig1")
        time.sleep(3)
        # as a terminal does: to the whole group, workers included
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # otherwise leaving the block would wait for it
            raise
    assert process.returncode == 130
    assert err == "papers: stopped\n"
