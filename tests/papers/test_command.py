"""The command `python -m papers`."""

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

from papers.__main__ import main
from papers.report import write_document
from radboost import __version__

ROOT = Path(__file__).resolve().parents[2]


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
    assert captured.err.startswith("papers: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_datasets(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["datasets", "--data-dir", str(folder)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["ionosphere"].split()[:5] == ["ionosphere", "351", "34", "2", "here"]
    assert " OpenML 37 " in lines["diabetes"]
    assert " not available " in lines["ocr17"]
    assert "--data-dir" in lines["not"]
    assert main(["datasets", "--data-dir", str(folder), "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["datasets"]}
    assert listed["ionosphere"]["found"] == "here"
    assert listed["ionosphere"]["rows"] == 351


def test_reproduce(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    arguments = [
        "run",
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
    rows = [line for line in out if line.startswith("ionosphere ")]
    assert out[-1].startswith("ionosphere: DeepBoost ahead of AdaBoost p = ")
    assert [line.split()[:2] for line in rows] == [
        ["ionosphere", name] for name in ("AdaBoost", "AdaBoost-L1", "DeepBoost")
    ]
    assert "0.0501 (0.0316)" in rows[-1]
    assert any(line.startswith("within: ") for line in out)
    document = json.loads(file.read_text())
    assert {key: value for key, value in document.items() if key not in ("cells", "paired_tests")} == {
        "table": "deep-boosting-2",
        "radboost": __version__,
        "quick": True,
        "seed": 4,
        "split_criterion": "gini",
        "rounds": 100,
        "rule": "validated",
        "runs": 3,
    }
    assert [test["against"] for test in document["paired_tests"]] == ["AdaBoost", "AdaBoost-L1"]
    assert f"{document['cells'][2]['error']:.4f}" in rows[-1]
    assert len(document["cells"][0]["runs"]) == 3


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    assert "'deep'; known are deep-boosting-1, deep-boosting-2, deep-" in fails(capsys, "run", "deep")
    table = ("run", "deep-boosting-1")
    assert "unknown data set 'iris'; known are" in fails(capsys, *table, "--datasets", "iris")
    assert "deep-boosting-1 lacks sonar" in fails(capsys, *table, "--datasets", "sonar")
    assert "--jobs is 0" in fails(capsys, *table, "--jobs", "0")
    assert "deep-boosting-1 has 10 runs and not 11" in fails(capsys, *table, "--runs", "11")
    for name in ("rgb-3.1", "soft-max-boosting-2"):
        assert f"{name} has no runs to choose; leave out --runs" in fails(capsys, "run", name, "--runs", "2")
    assert "--seed is -1" in fails(capsys, *table, "--seed", "-1")
    for option in ("--json", "--keep"):
        assert f"{option} {tmp_path}" in fails(capsys, *table, option, str(tmp_path / "no" / "x.json"))
    (tmp_path / "kept").write_text("nonsense\n")
    assert "line 1 of" in fails(capsys, *table, "--keep", str(tmp_path / "kept"))
    assert "which is not a directory" in fails(capsys, *table, "--data-dir", str(tmp_path / "no"))
    assert "which is not a directory" in fails(capsys, "datasets", "--data-dir", str(tmp_path / "no"))
    assert "'ocr17' not found" in fails(capsys, *table, "--datasets", "ocr17", "--data-dir", str(folder))


NO_FIT_BEGINS = ("run", "soft-max-boosting-fig7", "--quick", "--jobs", "1")


@pytest.mark.parametrize("option", ["--json", "--keep", "--plot"])
def test_files_that_cannot_be_written_are_found_before_the_first_fit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    assert main([*NO_FIT_BEGINS, option, str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"papers: {option} {tmp_path}: this is a folder; name a file\n"
    assert captured.out == ""
    device = "/dev/null"
    assert f"{option} {device}: this is not a regular file" in fails(capsys, *NO_FIT_BEGINS, option, device)
    nowhere = "/proc/x.png"  # not even root can make files there
    if Path("/proc").is_dir():
        message = fails(capsys, *NO_FIT_BEGINS, option, nowhere)
        assert f"{option} {nowhere}: it cannot be written here (No such file or directory); name another" in message
    long = tmp_path / ("x" * 300 + ".png")
    assert f"{option} {long}: it cannot be written here (File name too long)" in fails(
        capsys, *NO_FIT_BEGINS, option, str(long)
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_folders_that_are_locked(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    (tmp_path / "old.png").write_text("old")
    tmp_path.chmod(0o500)
    try:
        message = fails(capsys, *NO_FIT_BEGINS, option, str(tmp_path / "new.png"))
        assert f"{option} {tmp_path / 'new.png'}: it cannot be written here (Permission denied)" in message
        message = fails(capsys, *NO_FIT_BEGINS, "--json", str(tmp_path / "old.png"))
        assert "cannot be written here (Permission denied)" in message
        assert (tmp_path / "old.png").read_text() == "old"
    finally:
        tmp_path.chmod(0o700)


def test_kinds_of_pictures_are_checked_before_the_first_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("figure.pictures", "figure"):
        file = tmp_path / name
        message = fails(capsys, *NO_FIT_BEGINS, "--plot", str(file))
        assert f"--plot {file}: the end of the name says what kind" in message
        assert f"and {file.suffix!r} is none of ." in message
        assert ".pdf" in message
        assert not file.exists()


def test_no_temporary_name_in_messages(tmp_path: Path) -> None:
    target = tmp_path / "folder.json"
    target.mkdir()
    with pytest.raises(OSError, match=rf"Is a directory: '{target}'$"):
        write_document(target, {})
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]
    with pytest.raises(OSError, match=r"No such file or directory: '.*/no/x\.json'$"):
        write_document(tmp_path / "no" / "x.json", {})


def test_ctrl_c_ends_without_a_traceback(folder: Path) -> None:
    arguments = (
        "run",
        "deep-boosting-2",
        "--datasets",
        "german",
        "--jobs",
        "2",
        "--data-dir",
        str(folder),
    )
    with subprocess.Popen(
        [sys.executable, "-m", "papers", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("deep-boosting-2")
        time.sleep(3)
        # as a terminal does: to the whole group, workers included
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # otherwise leaving the block would wait for it
            raise
    assert process.returncode == 130
    assert err == "papers: stopped\n"
