"""Workers of a distributed fit as threads of one process, and ways to divide rows among them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np

from collective_tools import ThreadGroup
from fingerprints import fingerprint
from radboost.boosting import Trace
from radboost.distributed.arguments import Arguments
from radboost.distributed.callbacks import CallbackRunner
from radboost.distributed.learning import FitTask, RoundRecorder
from radboost.distributed.metadata import WorkerCollective
from radboost.distributed.partitions import LoadedPartition, Partition
from radboost.estimators._checkpoints import open_checkpoint


class ThreadWorkerCollective(WorkerCollective):
    """One worker of a `ThreadGroup`."""

    def __init__(self, group: ThreadGroup, rank: int) -> None:
        super().__init__()
        self._group, self._rank = group, rank

    @property
    def alone(self) -> bool:
        return self._group.n_workers == 1

    def sum(self, values: np.ndarray) -> None:
        values[:] = np.sum(self._group.exchange(self._rank, "sum", values.copy()), axis=0)

    def maximum(self, values: np.ndarray) -> None:
        values[:] = np.max(self._group.exchange(self._rank, "maximum", values.copy()), axis=0)

    def gather(self, data: bytes) -> list[bytes]:
        return self._group.exchange(self._rank, "gather", data)


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


def cut(role: str, n_parts: int, seed: int = 0, **columns: Any) -> list[Partition]:
    """Rows of this role, and what they have besides, in parts at random; the first has none."""
    n_rows = columns["X"].shape[0]
    owner = np.random.default_rng(seed).choice(range(1, n_parts), n_rows)
    rows = [np.flatnonzero(owner == part) for part in range(n_parts)]
    parts = [
        LoadedPartition(role=role, **{"y": None, **{name: take(given, own) for name, given in columns.items()}})
        for own in rows
    ]
    return [ReloadedPartition(part) for part in parts]


def fit_by_threads(
    estimator: Any,
    parts: Sequence[Partition],
    n_workers: int,
    earlier: Trace | None = None,
    arguments: Arguments | None = None,
    runner: CallbackRunner | None = None,
) -> list[Any]:
    """The model of each worker; the parts are dealt out in turn, so that some workers may have none."""
    weighted, sourced = (
        any(getattr(part.load(), name) is not None for part in parts if part.role == "training")
        for name in ("sample_weight", "sources")
    )
    task = FitTask.of(estimator, weighted=weighted, sourced=sourced, arguments=arguments)
    if arguments is not None and arguments.resume_from is not None:
        found = open_checkpoint(arguments.resume_from, estimator)
        task, earlier = task.resuming(found), found.trace
    group = ThreadGroup(n_workers)
    return group.run(
        lambda rank, _: task.run(
            parts[rank::n_workers],
            ThreadWorkerCollective(group, rank),
            first=rank == 0,
            n_threads=1 + rank % 2,
            earlier=deepcopy(earlier),
            receiver=runner if rank == 0 else None,
        )
    )


class AbortedError(Exception):
    """A fit that was ended from outside."""


class AbortingCollective(ThreadWorkerCollective):
    """A worker whose meetings end after so many."""

    def __init__(self, group: ThreadGroup, rank: int, n_meetings: int) -> None:
        super().__init__(group, rank)
        self._left = n_meetings

    def sum(self, values: np.ndarray) -> None:
        self._count()
        super().sum(values)

    def maximum(self, values: np.ndarray) -> None:
        self._count()
        super().maximum(values)

    def gather(self, data: bytes) -> list[bytes]:
        self._count()
        return super().gather(data)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise AbortedError


def abort_after(estimator: Any, parts: Sequence[Partition], n_workers: int, n_meetings: int) -> list[Trace | None]:
    """The finished rounds that each worker has when all are stopped at the same meeting."""
    task = FitTask.of(estimator, weighted=any(part.load().sample_weight is not None for part in parts))
    group = ThreadGroup(n_workers)

    def work(rank: int, _: Any) -> Trace | None:
        recorder = RoundRecorder()
        with suppress(AbortedError):
            task.run(
                parts[rank::n_workers],
                AbortingCollective(group, rank, n_meetings),
                first=rank == 0,
                n_threads=1,
                recorder=recorder,
            )
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
