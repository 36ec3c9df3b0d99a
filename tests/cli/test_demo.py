"""The demonstration runs from start to end and leaves what it says."""

import importlib.util
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import radboost
from radboost import cli, demo


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows, rates and methods: the commands and what is left behind are the same."""
    X, y = demo.digits()
    monkeypatch.setattr(demo, "digits", lambda: (X[:400], y[:400]))
    monkeypatch.setattr(demo, "RATES", (0.0, 0.3))
    monkeypatch.setattr(demo, "SPLITS", 1)
    monkeypatch.setattr(demo, "TRAIN", 150)
    for name in ("RandomForest", "HistGradientBoosting"):
        monkeypatch.setitem(demo.METHODS, name, demo.METHODS["AdaBoost"])


@pytest.mark.parametrize("without", [(), ("matplotlib", "typer")], ids=str)
def test_it_runs(
    without: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in without else find_spec(name))
    folder = tmp_path / "new"
    if not without:  # a second time, over what is there
        folder.mkdir()
        for name in ("digits.csv", "digits.rad", "report.html", "wrong-labels.png"):
            (folder / name).touch()
    assert demo.main(["--folder", str(folder)]) == 0
    output = capsys.readouterr().out
    for expected in (*demo.METHODS, "wrong labels", "seconds"):
        assert expected in output
    picture, report, model = (folder / name for name in ("wrong-labels.png", "report.html", "digits.rad"))
    for extra, needs, files in (("plot", "matplotlib", [picture]), ("cli", "typer", [report, model])):
        if needs in without:
            assert f'pip install "radboost[{extra}]"' in output
            assert not any(path.exists() for path in files)
        else:
            assert files[0].resolve().as_uri() in output
            assert all(path.exists() for path in files)
    assert (folder / "digits.csv").read_text().splitlines()[0].endswith("pixel_7_7,parity")
    free = (str(tmp_path), "95%", "AUC")  # paths and figures, which may be longer
    assert max(len(line) for line in output.splitlines() if not any(text in line for text in free)) <= 100
    if not without:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert radboost.load(model).n_features_in_ > 30
        assert "linear model" in output  # the verdict
        assert "probability_odd" in output  # the predictions


def test_the_conclusion_names_whoever_is_ahead() -> None:
    errors = {name: np.full((2, 1), 0.1 + 0.01 * place) for place, name in enumerate(demo.METHODS)}
    assert demo.conclusion(errors).startswith("With 30% of the labels wrong: DeepBoost 10.0%, RGB 11.0%; RandomForest")
    assert demo.conclusion(errors).endswith("The lowest error is that of DeepBoost.")
    errors["AdaBoost"][:] = 0.01
    assert demo.conclusion(errors).endswith("The lowest error is that of AdaBoost.")


def test_a_command_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "main", lambda _: 2)
    with pytest.raises(RuntimeError, match="radboost fit ended with 2"):
        demo.run(["fit", "nothing.csv"])


def test_only_training_labels_are_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A method that knows the truth has an error of 0 whatever it is given to learn from."""
    X, y = demo.digits()
    truth = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
    shares = []

    class Knows:
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Knows":
            shares.append(np.mean([truth[row.tobytes()] != label for row, label in zip(X, y, strict=True)]))
            return self

        def score(self, X: np.ndarray, y: np.ndarray) -> float:
            return float(np.mean([truth[row.tobytes()] == label for row, label in zip(X, y, strict=True)]))

    monkeypatch.setattr(demo, "METHODS", {"knows": Knows})
    errors = demo.wrong_labels(X, y)
    np.testing.assert_array_equal(errors["knows"], 0.0)
    np.testing.assert_allclose(shares, demo.RATES, atol=0.01)
    assert "0.0%" in capsys.readouterr().out


def test_it_explains_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["demo", "--help"])
    monkeypatch.delitem(sys.modules, "radboost.demo")
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("radboost.demo", run_name="__main__")
    assert "--folder" in capsys.readouterr().out
