"""A progress bar never costs the model, whatever happens to its stream."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any
from unittest.mock import Mock

import pytest

from boosting_cases import everything, two
from radboost import DeepBoostClassifier, RGBRegressor, SparseBoostClassifier
from radboost import _progress as progress

SCRIPT = """
import sys
import numpy as np
from radboost import DeepBoostClassifier, SparseBoostClassifier
X = np.random.default_rng(0).random((150, 5))

def rounds_of_a_fit():
    SparseBoostClassifier(verbose=1).fit(X, X[:, 0] > 0.5)
    return len(DeepBoostClassifier(15, verbose=1).fit(X, X[:, 0] > 0.5).history_["objective"])

rounds = []
{commands}
with open({path!r}, "w") as file:
    file.write(str(rounds))
"""
FIT = "rounds.append(rounds_of_a_fit())"
NO_RICH = "sys.modules['rich'] = sys.modules['rich.progress'] = sys.modules['rich.console'] = None"
BOTH = pytest.mark.parametrize("rich", ["", NO_RICH], ids=["rich", "plain"])


def run(tmp_path: Any, rich: str, *commands: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """Fits a model after each of the commands, in one process."""
    lines = [rich, *(f"{command}\n{FIT}" for command in commands)]
    script = SCRIPT.format(commands="\n".join(lines), path=str(tmp_path / "rounds"))
    done = subprocess.run([sys.executable, "-c", script], text=True, check=False, **streams)
    assert (tmp_path / "rounds").read_text() == str([15] * len(commands))
    return done


@BOTH
def test_streams_that_fail(rich: str, tmp_path: Any) -> None:
    done = run(
        tmp_path,
        rich,
        "sys.stderr.reconfigure(encoding='ascii')",
        "sys.stderr = None",
        "sys.stderr = open('/dev/full', 'w', buffering=1)",
        "import io; sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding='latin-1')",
        "sys.stdout.close(); sys.stderr.close()",
        capture_output=True,
    )
    assert done.returncode in (0, 120), done.stderr  # 120: Python could not flush a stream at its end


@BOTH
@pytest.mark.slow
def test_a_stream_that_fails_at_the_end(rich: str, tmp_path: Any) -> None:
    assert run(tmp_path, rich, "sys.stderr = open('/dev/full', 'w')", capture_output=True).returncode in (0, 120)


@pytest.mark.parametrize("rich", ["", pytest.param(NO_RICH, marks=pytest.mark.slow)], ids=["rich", "plain"])
def test_a_reader_that_leaves(rich: str, tmp_path: Any) -> None:
    """`2>&1 | head -c 1`: the pipe breaks while the bar is drawn."""
    reader = subprocess.Popen(["head", "-c", "1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        force = "import os; os.environ['FORCE_COLOR'] = '1'"
        run(tmp_path, rich, force, stdout=reader.stdin, stderr=reader.stdin)
    finally:
        assert reader.stdin is not None
        reader.stdin.close()
        reader.wait(60)


def test_rich_failing_is_not_heard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    bar = Mock()
    bar.advance.side_effect = SystemExit(1)  # what rich does where a pipe is broken
    monkeypatch.setattr(progress, "_make_bar", lambda *_: bar)
    model = DeepBoostClassifier(6, verbose=1, calibration=None).fit(*two())
    assert [name for name, *_ in bar.mock_calls] == ["start", "advance"]  # and nothing after the first failure
    assert everything(model) == everything(DeepBoostClassifier(6, calibration=None).fit(*two()))


def test_ctrl_c_is_heard_while_the_bar_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Mock()
    bar.start.side_effect = KeyboardInterrupt
    monkeypatch.setattr(progress, "_make_bar", lambda *_: bar)
    with pytest.raises(KeyboardInterrupt):
        DeepBoostClassifier(6, verbose=1).fit(*two())


def test_lines_of_every_kind_of_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stderr", stream)
    X, y = two()
    DeepBoostClassifier(20, verbose=1).fit(X, y)
    RGBRegressor(10, verbose=1).fit(X, y)
    SparseBoostClassifier(0.01, n_rounds=9, verbose=1).fit(X[:, [0, 3]] > 0, y)
    text = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert text.startswith("round 2/20: objective ")
    assert " error " in text.splitlines()[0]
    assert " error " not in text.splitlines()[10]
    assert "nan" not in text
    assert " features" in text.splitlines()[-1]


def test_the_bar_fits_into_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    console = pytest.importorskip("rich.console")
    out, original = io.StringIO(), console.Console
    monkeypatch.setattr(
        console, "Console", lambda **given: original(file=out, force_terminal=True, color_system=None, width=80)
    )
    bar = progress._RichBar(1000, 199, progress.ROUND)
    bar.start()
    bar.advance({"objective": 0.34281, "train_error": 0.0, "n_hypotheses": 177})
    bar.stop()
    last = next(line for line in reversed(out.getvalue().replace("\r", "\n").splitlines()) if "objective" in line)
    assert "200/1000" in last
    assert "objective 0.3428, error 0.0000, 177 hypotheses" in last
    assert last.index("200/1000") < last.index("objective")
