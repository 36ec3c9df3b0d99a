"""Clusters that fail for good, workers that come late and workers that are slow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import radboost.distributed as cluster_fits
from distributed_tools import everything, lazily
from fingerprints import table
from radboost import Checkpoint, DeepBoostClassifier, RGBClassifier
from radboost.distributed import cluster

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:The model")]

X, Y = table(1, 600, 5, 3, missing=0.05)
DEEP = DeepBoostClassifier(40, complexity_penalty=0.01, calibration=None)


def started(n_workers: int) -> Any:
    return distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)


@contextmanager
def without_nannies(folder: Path, n_workers: int) -> Iterator[tuple[Any, list[int]]]:
    """A scheduler and workers that are started one by one: nobody starts a worker again that is killed."""
    address = folder / "scheduler.json"
    scheduler = ["dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    worker = ["dask_worker", "--scheduler-file", str(address), "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    started = []
    try:
        for name, *rest in [scheduler, *[worker] * n_workers]:
            command = [sys.executable, "-m", f"distributed.cli.{name}", *rest]
            started += [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
            while not address.exists():
                assert started[0].poll() is None, "the scheduler did not start"
                time.sleep(0.05)
        with distributed.Client(scheduler_file=str(address), timeout=120) as client:
            client.wait_for_workers(n_workers, timeout=120)
            yield client, [process.pid for process in started[1:]]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


class After:
    """Does something after a round."""

    def __init__(self, last: int, act: Any) -> None:
        self.last, self.act, self.rounds = last, act, []

    def on_round_end(self, context: Any) -> None:
        self.rounds.append(context.round)
        if context.round == self.last:
            self.act()


@pytest.mark.parametrize(
    ("workers", "errors", "said"),
    [
        (["a"], [], "The worker a is gone."),
        (["a", "b"], [], "The workers a and b are gone."),
        (["a", "b", "c"], [OSError("x")], "The workers a, b and c are gone."),
        ([], [OSError("closed")], "A worker is gone (closed)."),
    ],
)
def test_what_is_said_of_lost_workers(workers: list[str], errors: list[Exception], said: str) -> None:
    """They may be noticed before any of their tasks has an error."""
    assert cluster._lost_workers_message(workers, errors) == said


@pytest.mark.parametrize("noticed", [True, False])
def test_a_worker_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, noticed: bool) -> None:
    """A call of it takes Dask half a minute to fail. Where nobody notices, the patience ends."""
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 0.5)
    looks = iter([False, False, noticed])
    monitor = cluster.WorkerMonitor(None, ["a"], [], lambda: None)
    monkeypatch.setattr(monitor, "is_lost", lambda rank: next(looks, noticed))
    silent, calls = Future(), []
    monkeypatch.setattr(silent, "result", lambda timeout: calls.append(timeout) or Future.result(silent, timeout))
    assert monitor.reply(0, silent) is None
    assert (len(calls) == 2) == noticed
    assert monitor.reply(0, None) is None


def test_all_workers_are_killed_and_another_cluster_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 3.0)
    path = tmp_path / "fit.checkpoint"
    expected = clone(DEEP).fit(X, Y)
    with without_nannies(tmp_path, 2) as (client, workers):
        kill = After(7, lambda: [os.kill(worker, signal.SIGKILL) for worker in workers])
        given = clone(DEEP)
        with pytest.raises(cluster_fits.WorkerLostError, match=r"None has come within 3 seconds") as found:
            cluster_fits.fit(given, *lazily(X, Y), callbacks=[kill, Checkpoint(path)], client=client)
    assert found.value.checkpoints == (str(path),)
    assert f"The 8 rounds so far are in {str(path)!r}" in str(found.value)
    assert not hasattr(given, "ensemble_")
    with started(3) as local, distributed.Client(local) as client:
        heard = After(-1, None)
        model = cluster_fits.fit(given, *lazily(X, Y), callbacks=[heard], resume_from=path, client=client)
    assert everything(model) == everything(expected)
    assert heard.rounds == list(range(8, 40))


def test_the_last_worker_dies_of_the_rows_it_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask would wait for another worker forever."""
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 3.0)
    path, deadly = tmp_path / "fit.checkpoint", tmp_path / "deadly"

    def load(part: int) -> np.ndarray:
        if deadly.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return X[part::4]

    with without_nannies(tmp_path, 2) as (client, workers):

        def kill() -> None:
            deadly.touch()
            os.kill(workers[0], signal.SIGKILL)

        rows, (labels,) = [dask.delayed(load, pure=False)(part) for part in range(4)], lazily(Y, n_parts=4)
        with (
            pytest.warns(RuntimeWarning, match="goes on after round 6"),
            pytest.raises(cluster_fits.WorkerLostError, match=r"None has come within 3 seconds.*The 6 rounds so far"),
        ):
            cluster_fits.fit(clone(DEEP), rows, labels, callbacks=[After(5, kill), Checkpoint(path)], client=client)
    assert path.exists()


def test_a_worker_that_comes_late_and_one_that_is_slow() -> None:
    """A worker that joins a running fit changes nothing, and takes part after a loss; nobody waits for a slow one."""
    expected = clone(DEEP).fit(X, Y)
    with started(2) as local, distributed.Client(local) as client:
        client.wait_for_workers(2, timeout=120)
        pids = list(client.run(os.getpid).values())
        slow, lost = pids

        def pause() -> None:
            os.kill(slow, signal.SIGSTOP)
            threading.Timer(2.0, os.kill, (slow, signal.SIGCONT)).start()

        def grow() -> None:
            local.scale(3)
            client.wait_for_workers(3, timeout=120)

        acts = [After(5, pause), After(10, grow), After(20, lambda: os.kill(lost, signal.SIGKILL))]
        with pytest.warns(RuntimeWarning, match="goes on after round 21"):
            model = cluster_fits.fit(clone(DEEP), *lazily(X, Y), callbacks=acts, client=client)
    assert everything(model) == everything(expected)
    assert acts[0].rounds == list(range(40))


def test_a_partition_that_takes_long_to_load() -> None:
    """Others wait for it, and do not take its worker for lost."""

    def slowly(part: int) -> np.ndarray:
        time.sleep(3.0 * (part == 1))
        return X[part::4]

    expected = RGBClassifier(3, calibration=None).fit(X, Y)
    with started(2) as local, distributed.Client(local) as client:
        client.wait_for_workers(2, timeout=120)
        rows = [dask.delayed(slowly, pure=False)(part) for part in range(4)]
        (labels,) = lazily(Y, n_parts=4)
        model = cluster_fits.fit(RGBClassifier(3, calibration=None), rows, labels, client=client)
    assert everything(model) == everything(expected)
