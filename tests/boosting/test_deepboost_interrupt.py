"""Ctrl-C stops a fit within a second and leaves the estimator as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

SCRIPT = """
import sys, time
import numpy as np
import radboost
from radboost import DeepBoostClassifier

rng = np.random.default_rng(0)
small, labels = rng.normal(size=(60, 3)), np.arange(60) % 2
model = DeepBoostClassifier(3, n_jobs=2).fit(small, labels)
before = model.decision_function(small)
kept = {name: value for name, value in vars(model).items() if name.endswith("_")}
best = radboost.TreeOptions(thresholds="best", max_features=None)
for rows, columns, depth, more in [
    (400, 5, 4, {}),
    (300_000, 10, 8, {"tree_options": best}),
    (300_000, 10, 8, {"subsample": 0.5}),
    (2_000, 5, 3, {"step": "line_search"}),
    (1_500, 5, 3, {"family": "kernel"}),
]:
    X = rng.normal(size=(rows, columns))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    parameters = model.get_params()
    model.set_params(n_rounds=1_000_000, complexity_penalty=0.0, max_depth=depth, **more)
    print("ready", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        stopped = time.time()
    model.set_params(**parameters)
    assert np.array_equal(model.decision_function(small), before)
    assert all(vars(model)[name] is value for name, value in kept.items())
    assert model.n_features_in_ == 3
    again = DeepBoostClassifier(3, n_jobs=2).fit(small, labels)
    assert np.array_equal(again.decision_function(small), before)
    print(stopped, flush=True)
"""
# Seconds from the begin of a fit to the signal: on few rows, early and late on many, in line searches, among kernels.
DELAYS = (0.4, 0.3, 1.5, 0.4, 0.4)


def test_ctrl_c() -> None:
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    guard = threading.Timer(100.0, child.kill)
    guard.start()
    try:
        assert child.stdout is not None
        for delay in DELAYS:
            assert child.stdout.readline().strip() == "ready"
            time.sleep(delay)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            assert float(child.stdout.readline()) - sent < 1.0
        _, err = child.communicate()
    finally:
        guard.cancel()
        child.kill()
    assert child.returncode == 0, err
