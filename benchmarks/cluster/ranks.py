"""What each rank of MPI runs: fits of its rows, timed between barriers. `fit_on_ranks` starts them.

python -m benchmarks.cluster.ranks REQUEST     by mpiexec; REQUEST is a `Request` as JSON
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cluster.fitting import Outcome, Request, estimator, looked_at
from benchmarks.cluster.watching import watched

LONGEST = 3600.0  # seconds before a job is given up


class NoMPIError(RuntimeError):
    """There is no mpiexec."""


def mpiexec() -> str:
    """The path of mpiexec: beside Python, as wheels bring it, or the system's."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("mpiexec", path=beside)
    if found is None:
        raise NoMPIError("there is no mpiexec: pip install 'radboost[mpi]'")
    return found


def fit_on_ranks(
    request: Request,
    n_ranks: int,
    *,
    before: Sequence[Sequence[str]] = (),
    environment: Mapping[str, str] | None = None,
) -> list[Outcome]:
    """The outcomes of the fits; `before` are words to put before the command of each rank, such as ip netns exec."""
    work = [sys.executable, "-m", "benchmarks.cluster.ranks", json.dumps(asdict(request))]
    if before:
        command = [mpiexec()]
        for rank, words in enumerate(before):
            command += [":"] * (rank > 0) + ["-n", "1", *words, *work]
    else:
        command = [mpiexec(), "-n", str(n_ranks), *work]
    variables = {**os.environ, "OMP_NUM_THREADS": str(request.threads), **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False, env=variables)
    if done.returncode:
        raise RuntimeError(f"{n_ranks} ranks failed:\n{done.stderr[-3000:]}")
    line = next(line for line in done.stdout.splitlines() if line.startswith("outcomes "))
    return [Outcome(**one) for one in json.loads(line.removeprefix("outcomes "))]


def work(request: Request) -> list[dict[str, Any]]:
    """The outcomes on this rank."""
    from mpi4py import MPI

    from radboost.distributed import mpi

    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    X, y = (np.load(Path(request.folder) / f"{name}.npy", mmap_mode="r") for name in "Xy")
    own = slice(rank * len(y) // size, (rank + 1) * len(y) // size)
    X, y = np.array(X[own]), np.array(y[own])
    outcomes = []
    mpi.fit(estimator(1, 2, request.threads, request.criterion), X[:500], y[:500])  # loads the code
    for rounds in request.rounds:
        model = estimator(rounds, request.depth, request.threads, request.criterion)
        comm.Barrier()
        start = time.perf_counter()
        with watched(request.delay, request.pings):
            mpi.fit(model, X, y)
        comm.Barrier()
        outcomes.append(asdict(looked_at(model, time.perf_counter() - start)))
    return outcomes


def main(argv: Sequence[str]) -> None:
    """Work, and let the first rank tell."""
    from mpi4py import MPI

    outcomes = work(Request.read(argv[0]))
    if MPI.COMM_WORLD.Get_rank() == 0:
        print("outcomes " + json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
