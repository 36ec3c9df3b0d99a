"""The demonstration runs from start to end and leaves what it says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import radboost
from radboost import DeepBoostClassifier, demo, guarantees


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
    for expected in ("bound: error is at most", "held-out limit: error is at most", "sets for 95% hold the truth for"):
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


def test_held_out_rows_had_no_part_in_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    """The limit is that of the half that the model was not fitted to, which it only watched."""
    bunch = load_breast_cancer()
    X, y = bunch.data, bunch.target_names[bunch.target]
    X_train, X_other, y_train, y_other = demo.halves(X, y)
    model = DeepBoostClassifier(n_rounds=20).fit(X_train, y_train)
    demo.hold_out(demo.Screen(), model, X, y)
    output = capsys.readouterr().out
    wrong = int((model.predict(X_other) != y_other).sum())
    assert f"{wrong} of {len(y_other)} others wrong" in output
    assert f"{guarantees.holdout(model, X_other, y_other).upper:.3f}" in output
    assert f"{guarantees.bound(model, X_train, y_train).total:.3f}" in output


def test_it_explains_itself() -> None:
    command = [sys.executable, "-m", "radboost.demo", "--help"]
    assert "--folder" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
