"""Fits on workers of Dask: on this machine, or each in a network namespace of its own.

python -m benchmarks.cluster.workers ADDRESS N REQUEST     the client of the second kind
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from benchmarks.cluster.fitting import Outcome, Request, arrays_on_workers, fit_on_dask
from benchmarks.cluster.network import Place

PORT = 8786
LONGEST = 3600.0  # seconds


@contextmanager
def local_cluster(n_workers: int, threads: int = 1) -> Iterator[Any]:
    """The client of so many processes of this machine."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"memory_limit": None, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=threads, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def fit_on_workers(request: Request, n_workers: int) -> list[Outcome]:
    """The outcomes of fits on so many processes of this machine."""
    with local_cluster(n_workers, request.threads) as client:
        return _fits(client, request, n_workers)


def _fits(client: Any, request: Request, n_workers: int) -> list[Outcome]:
    X, y = arrays_on_workers(client, request.folder, n_workers)
    fit_on_dask(client, X, y, Request(request.folder, (1,)))  # loads the code
    return fit_on_dask(client, X, y, request)


def fit_in_places(request: Request, places: Sequence[Place]) -> list[Outcome]:
    """The same with a worker in every place but the first, which has the scheduler and the client."""
    head, *others = places
    address = f"tcp://{head.address}:{PORT}"
    with tempfile.TemporaryDirectory() as folder, _started(_commands(head, others, address, folder)):
        command = [*head.words, sys.executable, "-m", "benchmarks.cluster.workers", address]
        command += [str(len(others)), json.dumps(asdict(request))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        raise RuntimeError(f"the client failed:\n{done.stderr[-3000:]}")
    line = next(line for line in done.stdout.splitlines() if line.startswith("outcomes "))
    return [Outcome(**one) for one in json.loads(line.removeprefix("outcomes "))]


def _commands(head: Place, others: Sequence[Place], address: str, folder: str) -> list[list[str]]:
    python = [sys.executable, "-m"]
    scheduler = ["distributed.cli.dask_scheduler", "--host", head.address, "--port", str(PORT), "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0"]
    worker += ["--no-dashboard", "--local-directory", folder]
    return [
        [*head.words, *python, *scheduler],
        *([*place.words, *python, *worker, "--host", place.address] for place in others),
    ]


@contextmanager
def _started(commands: Sequence[Sequence[str]]) -> Iterator[None]:
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, **quiet) for command in commands]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()


def main(argv: Sequence[str]) -> None:
    """Fit on the workers of a cluster."""
    from distributed import Client

    address, n_workers, request = argv
    with Client(address, timeout=60) as client:
        client.wait_for_workers(int(n_workers), timeout=60)
        outcomes = _fits(client, Request.read(request), int(n_workers))
    print("outcomes " + json.dumps([asdict(one) for one in outcomes]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
