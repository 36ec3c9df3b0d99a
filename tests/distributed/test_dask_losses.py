"""Workers that are killed, clusters that fail for good, workers that come late and workers that are slow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import radboost.distributed as cluster_fits
from distributed_tools import After, everything, lazily, local_cluster
from fingerprints import table
from radboost import Checkpoint, DeepBoostClassifier
from radboost.distributed import cluster
from radboost.distributed.callbacks import CallbackRunner
from radboost.rows.partitions import LoadedPartition

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:The model")]

X, Y = table(1, 600, 5, 3, missing=0.05)
DEEP = DeepBoostClassifier(40, complexity_penalty=0.01, calibration=None)


@contextmanager
def without_nannies(n_workers: int) -> Iterator[Any]:
    """A client of workers that are started one by one: nobody starts a worker again that is killed."""
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as local, distributed.Client(local) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address, "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard"]
        started = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(n_workers)]
        try:
            client.wait_for_workers(n_workers, timeout=180)
            yield client
        finally:
            for process in started:
                process.kill()
                process.wait()


def send(client: Any, worker: str, signum: int = signal.SIGKILL) -> int:
    """Sends a signal to the process of a worker; returns its id."""
    pid = client.run(os.getpid, workers=[worker])[worker]
    os.kill(pid, signum)
    return pid


@pytest.fixture
def holders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses of the workers that hold partitions, by rank: Dask may give some workers none."""
    assign, found = cluster._assign, []

    def assigning(*given: Any) -> Any:
        assigned = assign(*given)
        found[:] = assigned
        return assigned

    monkeypatch.setattr(cluster, "_assign", assigning)
    return found


@pytest.mark.parametrize("noticed", [True, False])
def test_a_worker_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, noticed: bool) -> None:
    """A call of it takes Dask half a minute to fail. Where nobody notices, the patience ends."""
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 600.0 if noticed else 0.5)
    looks = iter([False, False, False, noticed])
    attempt, silent = cluster.Attempt(None, None, {"a": []}, CallbackRunner(DEEP, [])), Future()
    monkeypatch.setattr(attempt, "_is_lost", lambda rank: next(looks, noticed))
    monkeypatch.setattr(attempt, "_call", lambda *given, **more: silent)
    attempt._abort(cluster_fits.WorkerLostError("Lost workers: b."))
    assert not silent.done()
    assert next(looks, None) is None


def test_an_actor_that_is_lost_before_it_was_seen_running() -> None:
    """Its future has an error of Dask's, which is no error of the fit."""
    actor = Future()
    actor.set_exception(RuntimeError("Worker holding Actor was lost"))
    actor.status = "error"
    known = {"a": 1}
    attempt = cluster.Attempt(SimpleNamespace(nthreads=lambda: known), None, {"a": []}, CallbackRunner(DEEP, []))
    with pytest.raises(RuntimeError, match="Worker holding Actor was lost"):
        attempt._results([actor])
    known.clear()
    with pytest.raises(cluster_fits.WorkerLostError, match="Lost workers: a"):
        attempt._results([actor])


def test_a_worker_that_is_lost_while_rows_are_sent() -> None:
    def scatter(*given: Any, **more: Any) -> None:
        raise OSError("closed")

    client = SimpleNamespace(nthreads=lambda: {"a": 1}, scatter=scatter)
    with pytest.raises(cluster_fits.WorkerLostError, match=r"while rows were sent to it \(closed\)"):
        cluster._assign(client, [LoadedPartition(X, Y)])


def die_in(place: str, n_calls: int) -> None:
    """Runs on a worker: it dies in this call of a method, by its name in `radboost.distributed`."""
    module, owner, method = place.split(".")
    cls = getattr(import_module(f"radboost.distributed.{module}"), owner)
    called, left = getattr(cls, method), [n_calls]

    def dying(*given: Any, **more: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return called(*given, **more)

    setattr(cls, method, dying)


# For each attempt the method in which a worker dies, which call of it, and which one of those that hold partitions.
# Deaths before and after an attempt's first round take turns: three losses without a round between them end a fit.
DEATHS = [
    ("callbacks.ForwardingCallback.on_round_end", 2, 0),
    ("worker.Worker.__init__", 1, -1),
    ("callbacks.ForwardingCallback.on_round_end", 2, -1),
    ("worker.Worker.fit", 1, 0),
    ("callbacks.ForwardingCallback._forward", 3, 0),
    ("worker.AbortablePartition.load", 1, -1),
    None,  # while callbacks run
    ("learning.FitRecorder.on_rows_binned", 1, 0),
    ("callbacks.ForwardingCallback.on_fit_end", 1, -1),
    ("worker.WorkerResult.__init__", 1, 0),
]


def test_twelve_kills_in_one_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holders: list[str]) -> None:
    """The model is that of one machine, and callbacks hear of each round once."""
    estimator = clone(DEEP).set_params(n_rounds=10)
    more: dict[str, Any] = {"X_val": X[::3], "y_val": Y[::3]}
    expected = clone(estimator).fit(X, Y, **more)
    wait, submit, deaths = cluster._wait_for_parts, cluster.Attempt._submit, list(DEATHS)
    lost: list[str] = []
    deadly = tmp_path / "deadly"
    deadly.touch()

    def load(part: int) -> np.ndarray:
        with suppress(FileNotFoundError):
            deadly.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return X[part::6]

    def waiting(client: Any, futures: Any) -> None:
        wait(client, futures)
        if not lost:  # in the first attempt, after all partitions have been computed
            lost.append(min(client.who_has(futures[:1])[futures[0].key]))
            send(client, lost[0])
            while all(future.status == "finished" for future in futures):
                time.sleep(0.01)

    def submitting(attempt: cluster.Attempt) -> None:
        death = deaths.pop(0) if deaths else None
        if death is not None:
            place, n_calls, rank = death
            attempt._client.run(die_in, place, n_calls, workers=[attempt._workers[rank]])
        submit(attempt)

    monkeypatch.setattr(cluster, "_wait_for_parts", waiting)
    monkeypatch.setattr(cluster.Attempt, "_submit", submitting)
    with local_cluster(3) as client:
        kill = After(7, lambda: send(client, holders[0]))
        rows, (labels,) = [dask.delayed(load, pure=False)(part) for part in range(6)], lazily(Y)
        with pytest.warns(RuntimeWarning, match="goes on after round") as found:
            model = cluster_fits.fit(clone(estimator), rows, labels, **more, callbacks=[kill], client=client)
    assert everything(model) == everything(expected)
    assert kill.rounds == list(range(10))
    assert not deadly.exists()
    assert not deaths
    assert len(found) >= len(DEATHS)


def test_without_callbacks_the_rounds_are_those_of_the_workers_that_are_left() -> None:
    """Only they know them, also where their own fit has ended well."""
    with local_cluster(2) as client:
        client.run(die_in, "worker.WorkerResult.__init__", 1, workers=[max(client.nthreads())])
        with pytest.warns(RuntimeWarning, match="goes on after round 40"):
            model = cluster_fits.fit(clone(DEEP), *lazily(X, Y), client=client)
    assert everything(model) == everything(clone(DEEP).fit(X, Y))


def test_rows_that_are_lost_for_good_end_the_fit(holders: list[str]) -> None:
    with local_cluster(2) as client:
        workers = list(client.nthreads())
        rows, labels = ([client.scatter(given[k::2], workers=[workers[k]]) for k in range(2)] for given in (X, Y))
        given, kill = clone(DEEP), After(5, lambda: send(client, holders[0]))
        with pytest.raises(cluster_fits.WorkerLostError, match="cannot be computed again"):
            cluster_fits.fit(given, rows, labels, callbacks=[kill], client=client)
    assert not hasattr(given, "ensemble_")


def test_all_workers_are_killed_and_another_cluster_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 3.0)
    path = tmp_path / "fit.checkpoint"
    expected = clone(DEEP).fit(X, Y)
    with without_nannies(2) as client:
        kill = After(7, lambda: [send(client, worker) for worker in client.nthreads()])
        given = clone(DEEP)
        with pytest.raises(cluster_fits.WorkerLostError, match=r"None has come within 3 seconds") as found:
            cluster_fits.fit(given, *lazily(X, Y), callbacks=[kill, Checkpoint(path)], client=client)
    assert found.value.checkpoints == (str(path),)
    assert f"The 8 rounds so far are in {str(path)!r}" in str(found.value)
    assert not hasattr(given, "ensemble_")
    with local_cluster(3) as client:
        heard = After(-1, None)
        model = cluster_fits.fit(given, *lazily(X, Y), callbacks=[heard], resume_from=path, client=client)
    assert everything(model) == everything(expected)
    assert heard.rounds == list(range(8, 40))


def test_the_last_worker_dies_of_the_rows_it_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holders: list[str]
) -> None:
    """Dask would wait for another worker forever."""
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 3.0)
    path, deadly = tmp_path / "fit.checkpoint", tmp_path / "deadly"

    def load(part: int) -> np.ndarray:
        if deadly.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return X[part::4]

    with without_nannies(2) as client:

        def kill() -> None:
            deadly.touch()
            send(client, holders[0])

        rows, (labels,) = [dask.delayed(load, pure=False)(part) for part in range(4)], lazily(Y, n_parts=4)
        with (
            pytest.warns(RuntimeWarning, match="goes on after round 6"),
            pytest.raises(cluster_fits.WorkerLostError, match=r"None has come within 3 seconds.*The 6 rounds so far"),
        ):
            cluster_fits.fit(clone(DEEP), rows, labels, callbacks=[After(5, kill), Checkpoint(path)], client=client)
    assert path.exists()


def test_all_workers_die_of_the_rows_they_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 3.0)
    with without_nannies(1) as client:
        rows = [dask.delayed(lambda: os.kill(os.getpid(), signal.SIGKILL))()]
        with pytest.raises(cluster_fits.WorkerLostError, match=r"No worker is left .*None has come within 3 seconds"):
            cluster_fits.fit(clone(DEEP), rows, *lazily(Y, n_parts=1), client=client)


def test_workers_that_come_late_or_are_slow(monkeypatch: pytest.MonkeyPatch, holders: list[str]) -> None:
    """A worker that joins a running fit changes nothing, and takes part after a loss; slow ones are waited for."""
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 1.0)  # less than a partition takes

    def load(part: int) -> np.ndarray:
        time.sleep(3.0 * (part == 1))
        return X[part::6]

    with local_cluster(2) as client:

        def pause() -> None:
            slow = send(client, holders[0], signal.SIGSTOP)
            threading.Timer(2.0, os.kill, (slow, signal.SIGCONT)).start()

        def grow() -> None:
            client.cluster.scale(3)
            client.wait_for_workers(3, timeout=120)

        acts = [After(5, pause), After(10, grow), After(20, lambda: send(client, holders[-1]))]
        rows, (labels,) = [dask.delayed(load, pure=False)(part) for part in range(6)], lazily(Y)
        with pytest.warns(RuntimeWarning, match="goes on after round 21"):
            model = cluster_fits.fit(clone(DEEP), rows, labels, callbacks=acts, client=client)
    assert everything(model) == everything(clone(DEEP).fit(X, Y))
    assert acts[0].rounds == list(range(40))
