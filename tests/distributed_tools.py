"""Workers of a distributed fit as threads of one process, and ways to divide rows among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from collective_tools import ThreadCollective, ThreadGroup
from fingerprints import fingerprint
from radboost.boosting import Trace
from radboost.distributed.arguments import ROWS_ALONE, Arguments
from radboost.distributed.callbacks import CallbackRunner
from radboost.distributed.learning import FitTask, RoundRecorder
from radboost.estimators._checkpoints import open_checkpoint
from radboost.rows.partitions import LoadedPartition, Partition


class ReloadedPartition:
    """A part that is copied whenever it is asked for, and counts how often."""

    def __init__(self, part: LoadedPartition) -> None:
        self._part, self.n_rows, self.role, self.n_loads = part, part.n_rows, part.role, 0

    def load(self) -> LoadedPartition:
        self.n_loads += 1
        return deepcopy(self._part)


def take(given: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix or a frame."""
    return given.iloc[rows] if hasattr(given, "iloc") else given[rows]


def divide(X: Any, y: Any, weights: Any, n_parts: int, seed: int = 0) -> list[ReloadedPartition]:
    """Rows in parts at random, which are loaded when they are asked for; the second has none."""
    rng = np.random.default_rng(seed)
    owner = rng.choice([part for part in range(n_parts) if part != 1 or n_parts == 1], X.shape[0])
    rows = [np.flatnonzero(owner == part) for part in range(n_parts)]
    parts = [
        LoadedPartition(take(X, own), take(y, own), None if weights is None else take(weights, own)) for own in rows
    ]
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


def cut(role: str, n_parts: int, seed: int = 0, **columns: Any) -> list[Partition]:
    """Rows of this role, and what they have besides, in parts at random; the first has none."""
    n_rows = columns["X"].shape[0]
    owner = np.random.default_rng(seed).choice(range(1, n_parts), n_rows)
    rows = [np.flatnonzero(owner == part) for part in range(n_parts)]
    parts = [LoadedPartition(role=role, **{name: take(given, own) for name, given in columns.items()}) for own in rows]
    return [ReloadedPartition(part) for part in parts]


def with_columns_of(parts: Sequence[Partition], arguments: Arguments = ROWS_ALONE) -> Arguments:
    """Arguments with those that the training parts have."""
    loaded = (part.load() for part in parts if part.role == "training")
    names = {name for part in loaded for name in ("sample_weight", "sources") if getattr(part, name) is not None}
    return replace(arguments, **dict.fromkeys(names, "given"))


def run_task(
    task: FitTask,
    parts: Sequence[Sequence[Partition]],
    collective: Callable[[ThreadGroup, int], ThreadCollective] = ThreadCollective,
    options: Callable[[int], dict[str, Any]] = lambda rank: {},
) -> list[Any]:
    """The model of each worker, of which each is a thread with its own parts; `options` are more arguments by rank."""
    group = ThreadGroup(len(parts))
    return group.run(lambda rank, _: task.run(parts[rank], collective(group, rank), first=rank == 0, **options(rank)))


def fit_by_threads(
    estimator: Any,
    parts: Sequence[Partition],
    n_workers: int,
    earlier: Trace | None = None,
    arguments: Arguments = ROWS_ALONE,
    runner: CallbackRunner | None = None,
) -> list[Any]:
    """The model of each worker; the parts are dealt out in turn, so that some workers may have none."""
    arguments = with_columns_of(parts, arguments)
    task = FitTask.of(estimator, arguments)
    if arguments.resume_from is not None:
        found = open_checkpoint(arguments.resume_from, estimator)
        task, earlier = task.resuming(found), found.trace
    return run_task(
        task,
        [parts[rank::n_workers] for rank in range(n_workers)],
        options=lambda rank: {
            "n_threads": 1 + rank % 2,
            "earlier": deepcopy(earlier),
            "receiver": runner if rank == 0 else None,
        },
    )


class AbortedError(Exception):
    """A fit that was ended from outside."""


class AbortingCollective(ThreadCollective):
    """Worker whose collective operations end after a number of them."""

    def __init__(self, group: ThreadGroup, rank: int, n_operations: int) -> None:
        super().__init__(group, rank)
        self._left = n_operations

    def exchange(self, kind: str, part: Any) -> list[Any]:
        self._left -= 1
        if self._left < 0:
            raise AbortedError
        return super().exchange(kind, part)


def abort_after(estimator: Any, parts: Sequence[Partition], n_workers: int, n_operations: int) -> list[Trace | None]:
    """Finished rounds of each worker when all are stopped at the same collective operation."""
    task = FitTask.of(estimator, with_columns_of(parts))
    group = ThreadGroup(n_workers)

    def work(rank: int, _: Any) -> Trace | None:
        recorder, workers = RoundRecorder(), AbortingCollective(group, rank, n_operations)
        with suppress(AbortedError):
            task.run(parts[rank::n_workers], workers, first=rank == 0, n_threads=1, recorder=recorder)
        return recorder.rounds()

    return group.run(work)


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
