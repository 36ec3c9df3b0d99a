"""Fits on real ranks of MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distributed_tools import everything
from fingerprints import table
from radboost import RGBClassifier
from radboost.distributed import mpi

pytest.importorskip("mpi4py")
SCRIPT = Path(__file__).parent / "ranks.py"
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec: pip install mpich")


def run(n_ranks: int, what: str, *more: str) -> subprocess.CompletedProcess[str]:
    assert MPIEXEC is not None
    command = [MPIEXEC, "-n", str(n_ranks), sys.executable, str(SCRIPT), what, *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "n_ranks"),
    [*(("equal_models", n) for n in (1, 2, 3)), *(("what_else_fit_takes", n) for n in (1, 3)), ("long_letters", 3)],
)
def test_ranks(what: str, n_ranks: int, tmp_path: Path) -> None:
    done = run(n_ranks, what, str(tmp_path / "fit.checkpoint"))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_rank_that_fails_ends_all() -> None:
    done = run(2, "failing")
    assert done.returncode != 0
    assert "NaN" in done.stderr
    assert "nobody" not in done.stdout


def test_no_communicator_is_refused() -> None:
    X, y = table(1, 40, 4)
    with pytest.raises(TypeError, match="comm must be a communicator"):
        mpi.fit(RGBClassifier(2), X, y, comm="world")


def test_one_rank() -> None:
    X, y = table(1, 80, 4)
    model = mpi.fit(RGBClassifier(2, calibration=None), X, y)
    assert everything(model) == everything(RGBClassifier(2, calibration=None).fit(X, y))
    assert np.array_equal(model.predict(X), RGBClassifier(2, calibration=None).fit(X, y).predict(X))
