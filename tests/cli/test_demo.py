"""The demonstration runs from start to end and leaves what it says."""

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


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also over files of an earlier run."""
    files = [tmp_path / name for name in ("wrong-labels.png", "report.html", "digits.rad", "digits.csv")]
    for path in files:
        path.touch()
    assert demo.main(["--folder", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    picture, report, model, table = files
    links = (path.resolve().as_uri() for path in (picture, report))
    # the verdict, the predictions, the comparison
    for expected in ("linear model", "probability_odd", *demo.METHODS, "wrong labels", "seconds", *links):
        assert expected in output
    assert report.stat().st_size > 0
    assert table.read_text().splitlines()[0].endswith("pixel_7_7,parity")
    free = (str(tmp_path), "95%", "AUC")  # paths and figures, which may be longer
    assert max(len(line) for line in output.splitlines() if not any(text in line for text in free)) <= 100
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert radboost.load(model).n_features_in_ > 30


def test_a_command_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "main", lambda _: 2)
    with pytest.raises(RuntimeError, match="radboost fit ended with 2"):
        demo.run(["fit", "nothing.csv"])


def test_only_training_labels_are_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A method that knows the truth has an error of 0 whatever it is given to learn from."""
    X, y = demo.digits()
    truth = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
    shares = []

    def wrong(X: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean([truth[row.tobytes()] != label for row, label in zip(X, y, strict=True)]))

    class Knows:
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Knows":
            shares.append(wrong(X, y))
            return self

        def score(self, X: np.ndarray, y: np.ndarray) -> float:
            return 1.0 - wrong(X, y)

    monkeypatch.setattr(demo, "METHODS", {"knows": Knows})
    errors = demo.wrong_labels(X, y)
    np.testing.assert_array_equal(errors["knows"], 0.0)
    np.testing.assert_allclose(shares, demo.RATES, atol=0.01)
    assert "0.0%" in capsys.readouterr().out
