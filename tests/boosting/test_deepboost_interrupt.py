"""Ctrl-C stops a fit within a second and leaves the estimator as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = """
import sys, time
import numpy as np
import radboost
from radboost import DeepBoostClassifier

rng = np.random.default_rng(0)
small, labels = rng.normal(size=(60, 3)), np.arange(60) % 2
model = DeepBoostClassifier(3, n_jobs=2).fit(small, labels)
before = model.decision_function(small)
kept = dict(vars(model))
X = rng.normal(size=({rows}, {columns}))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
model.set_params(n_rounds=1_000_000, complexity_penalty=0.0, max_depth={depth}{more})
print("ready", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    stopped = time.time()
    assert np.array_equal(model.decision_function(small), before)
    assert all(vars(model)[name] is value for name, value in kept.items() if name.endswith("_"))
    assert model.n_features_in_ == 3
    again = DeepBoostClassifier(3, n_jobs=2).fit(small, labels)
    assert np.array_equal(again.decision_function(small), before)
    print(stopped, flush=True)
    sys.exit(7)
print("not interrupted")
"""


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "more", "delay"),
    [
        (400, 5, 4, "", 0.6),
        (300_000, 10, 8, ", tree_options=radboost.TreeOptions(thresholds='best', max_features=None)", 0.3),
        (300_000, 10, 8, ", subsample=0.5", 1.5),
        (2_000, 5, 3, ", step='line_search'", 0.6),
        (1_500, 5, 3, ", family='kernel'", 0.6),
    ],
    ids=["small", "large, while binning or early", "large, boosting", "line search", "kernel"],
)
def test_ctrl_c(rows: int, columns: int, depth: int, more: str, delay: float) -> None:
    script = SCRIPT.format(rows=rows, columns=columns, depth=depth, more=more)
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        time.sleep(delay)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 7, err
    assert float(out) - sent < 1.0
