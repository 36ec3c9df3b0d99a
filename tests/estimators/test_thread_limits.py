"""A system that starts no more threads: the error says so, and the process goes on with fewer."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytest.importorskip("resource")

FIT = """
import resource
import numpy as np
from radboost import DeepBoostClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 70))
y = X[:, 0] > 0
alone = DeepBoostClassifier(2, n_jobs=1).fit(X, y).decision_function(X)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 60 * 2**20,) * 2)  # room for a few stacks of 8 MiB
try:
    DeepBoostClassifier(2, n_jobs=64).fit(X, y)
except RuntimeError as error:
    print(error)
assert np.array_equal(DeepBoostClassifier(2, n_jobs=2).fit(X, y).decision_function(X), alone)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of a process is read from /proc")
def test_threads_that_cannot_be_started() -> None:
    run = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = re.fullmatch(
        r"n_jobs asks for at least (\d+) threads, and the system starts no more than (\d+) \(.+\)\. Set n_jobs to at "
        r"most (\d+), or allow this process more threads or more memory for their stacks\.\n",
        run.stdout,
    )
    assert said is not None, run.stdout
    wanted, started, allowed = map(int, said.groups())
    assert 1 < started == allowed < wanted <= 64
