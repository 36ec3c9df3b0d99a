"""Ctrl-C ends a long prediction after the block of rows at hand, and not after all of them."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from boosting_cases import CASES
from radboost.rows import read

SCRIPT = """
import sys
import numpy as np
from radboost import {kind}
from radboost.ensemble import Ensemble

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 10))
y = (X[:, 0] + rng.normal(size=400) > 0).astype(int) + {more_classes} * (X[:, 1] > 0)
model = {kind}({rounds}, n_jobs=1).fit(X, y)
many = rng.normal(size=(1_500_000, 10))
blocks, scores = [0], Ensemble.decision_function

def counted(self, X, n_threads):
    blocks[0] += 1
    if blocks[0] == 2:
        print("ready", flush=True)
    return scores(self, X, n_threads)

Ensemble.decision_function = counted
try:
    model.predict(many)
except KeyboardInterrupt:
    print(blocks[0], flush=True)
    sys.exit(7)
print("not interrupted")
"""


@pytest.mark.parametrize(
    ("kind", "rounds", "more_classes"),
    [
        ("SoftmaxBoostClassifier", 300, 2),
        pytest.param("RGBClassifier", 500, 0, marks=pytest.mark.slow),
        pytest.param("DeepBoostClassifier", 500, 0, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c(kind: str, rounds: int, more_classes: int) -> None:
    script = SCRIPT.format(kind=kind, rounds=rounds, more_classes=more_classes)
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", script], stdout=pipe, stderr=pipe, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    finally:
        child.kill()
    assert child.returncode == 7, err
    # Of some 25 blocks and more. The signal may find the process at the end of a block, or two on a busy machine.
    assert int(out) <= 8


@pytest.mark.parametrize("name", CASES)
def test_blocks_do_not_change_predictions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    model = case.fitted(case.model(4))
    X, _ = case.data()
    methods = [m for m in ("predict", "predict_proba", "decision_function") if hasattr(model, m)]
    whole = {method: getattr(model, method)(X) for method in methods}
    monkeypatch.setattr(read, "BLOCK_PAIRS", 7 * max(1, len(model.ensemble_)))
    for method, expected in whole.items():
        np.testing.assert_array_equal(getattr(model, method)(X), expected)


def test_blocks_of_rows() -> None:
    def heights(n_rows: int, **more: Any) -> list[int]:
        return [len(block) for block in read.row_blocks(np.zeros((n_rows, 2)), **more)]

    assert heights(10) == [10]
    assert heights(10, n_members=read.BLOCK_PAIRS // 4) == [4, 4, 2]
    assert heights(3, n_members=10 * read.BLOCK_PAIRS) == [1, 1, 1]
    assert heights(5, n_members=0) == [5]
