"""The demonstration runs from start to end and leaves what it says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import radboost
from radboost import demo


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "FOLDS", 2)
    monkeypatch.setattr(demo, "REPEATS", 1)
    monkeypatch.setattr(demo, "READINGS", 20_000)


@pytest.mark.parametrize("without", [(), ("rich",), ("rich", "matplotlib")], ids=str)
def test_it_runs(
    without: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in without else find_spec(name))
    assert demo.main(["--folder", str(tmp_path / "new")]) == 0
    output = capsys.readouterr().out
    for expected in ("DeepBoost", "AdaBoost", "true error is at most", "bit for bit", "seconds"):
        assert expected in output
    picture = tmp_path / "new" / "radboost-demo.png"
    if "matplotlib" in without:
        assert 'pip install "radboost[plot]"' in output
        assert not picture.exists()
    else:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert str(picture) in output
    assert radboost.load(tmp_path / "new" / "radboost-demo.model").n_features_in_ == 30
    assert max(len(line) for line in output.splitlines() if str(tmp_path) not in line) <= 100


def test_it_explains_itself() -> None:
    command = [sys.executable, "-m", "radboost.demo", "--help"]
    assert "--folder" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
