"""The command `radboost`."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from radboost import __version__
from radboost.cli import main


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RADBOOST_DATA", raising=False)
    monkeypatch.setenv("RADBOOST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Stand-ins for two data sets."""
    rng = np.random.default_rng(1)
    folder = tmp_path / "data"
    folder.mkdir()
    for name, rows in (("ionosphere", 60), ("german", 1000)):
        X = rng.normal(size=(rows, 4)).round(2)
        lines = ["a,b,c,d,target", *(",".join(map(str, x)) + f",{int(x[0] + x[1] * x[2] > 0)}" for x in X)]
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on standard error of a call that ends with 2."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("radboost: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"radboost {__version__}\n"


def test_without_a_command_it_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "reproduce" in out
    assert "datasets" in out


def test_datasets(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["datasets", "--data-dir", str(folder)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["ionosphere"].split()[:5] == ["ionosphere", "351", "34", "2", "here"]
    assert " OpenML 37 " in lines["diabetes"]
    assert " nowhere " in lines["ocr17"]


def test_reproduce(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    arguments = [
        "reproduce",
        "deep-boosting-2",
        "--quick",
        "--datasets",
        "ionosphere",
        "--seed",
        "4",
        "--jobs",
        "1",
    ]
    assert main([*arguments, "--data-dir", str(folder), "--json", str(file), "--split-criterion", "gini"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "deep-boosting-2: boosted trees, exponential loss; means over 3 runs, seed 4"
    rows = [line for line in out if line.startswith("ionosphere")]
    assert [line.split()[:2] for line in rows] == [
        ["ionosphere", name] for name in ("AdaBoost", "AdaBoost-L1", "DeepBoost")
    ]
    assert "0.0501 (0.0316)" in rows[-1]
    assert any(line.startswith("within: ") for line in out)
    document = json.loads(file.read_text())
    assert {key: value for key, value in document.items() if key != "cells"} == {
        "table": "deep-boosting-2",
        "radboost": __version__,
        "quick": True,
        "seed": 4,
        "split_criterion": "gini",
        "rounds": 100,
        "rule": "validated",
    }
    assert f"{document['cells'][2]['error']:.4f}" in rows[-1]
    assert len(document["cells"][0]["runs"]) == 3


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    assert "'deep'; known are deep-boosting-1, deep-boosting-2, deep-" in fails(capsys, "reproduce", "deep")
    table = ("reproduce", "deep-boosting-1")
    assert "unknown data set 'iris'; known are" in fails(capsys, *table, "--datasets", "iris")
    assert "deep-boosting-1 lacks sonar" in fails(capsys, *table, "--datasets", "sonar")
    assert "--jobs is 0" in fails(capsys, *table, "--jobs", "0")
    assert "--seed is -1" in fails(capsys, *table, "--seed", "-1")
    for option in ("--json", "--keep"):
        assert f"{option} {tmp_path}" in fails(capsys, *table, option, str(tmp_path / "no" / "x.json"))
    (tmp_path / "kept").write_text("nonsense\n")
    assert "line 1 of" in fails(capsys, *table, "--keep", str(tmp_path / "kept"))
    assert "which is no folder" in fails(capsys, *table, "--data-dir", str(tmp_path / "no"))
    assert "which is no folder" in fails(capsys, "datasets", "--data-dir", str(tmp_path / "no"))
    assert "'ocr17' not found" in fails(capsys, *table, "--datasets", "ocr17", "--data-dir", str(folder))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "import sys; from radboost.cli import main; sys.exit(main())", *arguments]


def test_ctrl_c_ends_without_a_traceback(folder: Path) -> None:
    arguments = (
        "reproduce",
        "deep-boosting-2",
        "--datasets",
        "german",
        "--jobs",
        "2",
        "--data-dir",
        str(folder),
    )
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("deep-boosting-2")
        time.sleep(3)
        # as a terminal does: to the whole group, workers included
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "radboost: stopped\n"


def test_a_reader_that_stops_reading_is_no_error() -> None:
    with subprocess.Popen(command("datasets"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0
