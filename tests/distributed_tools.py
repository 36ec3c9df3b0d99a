"""Workers of a distributed fit as threads of one process, and ways to divide rows among them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from collective_tools import ThreadCollective, ThreadGroup, split_at_random
from fingerprints import fingerprint, with_categories
from radboost.boosting import Trace
from radboost.distributed.arguments import BESIDE, Arguments
from radboost.distributed.callbacks import Receiver
from radboost.distributed.learning import FitRecorder, FitTask
from radboost.estimators._checkpoints import open_checkpoint
from radboost.rows.partitions import SUFFIXES, TRAINING, LoadedPartition, Partition


class ReloadedPartition:
    """A part that is copied whenever it is asked for, and counts how often."""

    def __init__(self, part: LoadedPartition) -> None:
        self._part, self.n_rows, self.role, self.n_loads = part, part.n_rows, part.role, 0

    def load(self) -> LoadedPartition:
        self.n_loads += 1
        return deepcopy(self._part)


def take(given: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix or a frame; None of None."""
    return None if given is None else given.iloc[rows] if hasattr(given, "iloc") else given[rows]


def words(n_rows: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, categories of pandas' own, booleans and numbers, with missing values in all of them."""
    X, y = with_categories(10, n_rows, 3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["a"] = [None if np.isnan(x) else f"w{int(x) % 30}" for x in X[:, 0]]
    frame["d"] = pd.Categorical([f"c{int(x)}" for x in X[:, 3]], categories=["c9", "c2", "c1", "c0"])
    return frame, np.array(["lo", "middle", "hi"], dtype=object)[y]


class After:
    """Callback that does something after a round, and notes the rounds that it hears of."""

    def __init__(self, last: int, act: Callable[[], Any]) -> None:
        self.last, self.act, self.rounds = last, act, []
        self.lock = threading.Lock()  # cannot be pickled: callbacks stay where they are

    def on_round_end(self, context: Any) -> None:
        self.rounds.append(context.round)
        if context.round == self.last:
            self.act()


def cut(n_parts: int, seed: int = 0, role: str = TRAINING, **columns: Any) -> list[ReloadedPartition]:
    """Rows of this role, and what they have besides, in parts at random; the first has none."""
    rows = split_at_random(columns["X"].shape[0], n_parts, np.random.default_rng(seed), empty=0)
    parts = [LoadedPartition(role=role, **{name: take(given, own) for name, given in columns.items()}) for own in rows]
    return [ReloadedPartition(part) for part in parts]


@contextmanager
def local_cluster(n_workers: int, **options: Any) -> Iterator[Any]:
    """A client of workers that are processes; one that is killed is started again."""
    import dask

    from distributed import Client, LocalCluster

    # Dask would close a worker for good that is not back after 15 seconds, or is killed again just then.
    patience = {"distributed.comm.timeouts.connect": "60s", "distributed.deploy.lost-worker-timeout": "1h"}
    with (
        dask.config.set(patience),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **options) as local,
        Client(local) as client,
    ):
        client.wait_for_workers(n_workers, timeout=180)
        yield client


def lazily(*arrays: np.ndarray, n_parts: int = 6) -> list[list[Any]]:
    """Parts of each array as Dask's delayed values, which can be computed again anywhere."""
    from dask import delayed

    part_of = delayed(lambda given, part: given[part::n_parts], pure=False)
    return [[part_of(array, part) for part in range(n_parts)] for array in arrays]


def arguments_of(**given: Any) -> Arguments:
    """Arguments by the names that `fit` has for them."""
    rows = [
        LoadedPartition(role=role, **{name: given.pop(name + suffix, None) for name in ("X", *BESIDE)})
        for role, suffix in SUFFIXES.items()
    ]
    return Arguments(*rows, **given)


def run_task(
    task: FitTask,
    parts: Sequence[Sequence[Partition]],
    collective: Callable[[ThreadGroup, int], ThreadCollective] = ThreadCollective,
    options: Callable[[int], dict[str, Any]] = lambda rank: {},
) -> list[Any]:
    """The model of each worker, of which each is a thread with its own parts; `options` are more arguments by rank."""
    return ThreadGroup(len(parts)).run(
        lambda rank, workers: task.run(parts[rank], workers, first=rank == 0, **options(rank)), collective
    )


def fit_by_threads(
    estimator: Any,
    parts: Sequence[Partition],
    n_workers: int,
    earlier: Trace | None = None,
    receiver: Receiver | None = None,
    **given: Any,
) -> list[Any]:
    """The model of each worker; the parts are dealt out in turn, so that some workers may have none.

    `given`: arguments of `fit` besides the training rows.
    """
    training = next(part.load() for part in parts if part.role == TRAINING)
    task = FitTask.of(estimator, replace(arguments_of(**given), training=training))
    if "resume_from" in given:
        task, earlier = task.resuming(open_checkpoint(given["resume_from"], estimator))
    return run_task(
        task,
        [parts[rank::n_workers] for rank in range(n_workers)],
        options=lambda rank: {
            "n_threads": 1 + rank % 2,
            "earlier": deepcopy(earlier),
            "receiver": receiver if rank == 0 else None,
        },
    )


class AbortedError(Exception):
    """A fit that was ended from outside."""


class AbortingCollective(ThreadCollective):
    """Worker whose collective operations end after a number of them."""

    def __init__(self, group: ThreadGroup, rank: int, n_operations: int) -> None:
        super().__init__(group, rank)
        self._left = n_operations

    def _over_all(self, kind: str, contribution: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise AbortedError
        return super()._over_all(kind, contribution)


def abort_after(estimator: Any, parts: Sequence[Partition], n_workers: int, n_operations: int) -> list[Trace]:
    """Finished rounds of each worker when all are stopped at the same collective operation."""
    task = FitTask.of(estimator, arguments_of())

    def work(rank: int, workers: Any) -> Trace:
        recorder = FitRecorder()
        with suppress(AbortedError):
            task.run(parts[rank::n_workers], workers, first=rank == 0, recorder=recorder)
        return recorder.rounds()

    return ThreadGroup(n_workers).run(work, lambda group, rank: AbortingCollective(group, rank, n_operations))


def everything(model: Any) -> tuple[Any, ...]:
    """The whole of a fitted model, in a form that can be compared."""
    return (
        fingerprint(model),
        [] if getattr(model, "classes_", None) is None else model.classes_.tolist(),
        str(getattr(getattr(model, "classes_", None), "dtype", None)),
        model.categories_,
        getattr(model, "feature_names_in_", np.zeros(0)).tolist(),
        model.n_features_in_,
        repr(getattr(model, "calibration_", None)),
        repr(getattr(model, "chosen_", None)),
        model.stop_reason_,
        repr(model.get_params()),
    )
