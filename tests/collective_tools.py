"""Several workers in one process: threads that each own a part of the rows and meet at a barrier."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from radboost.distributed.collective import WorkerCollective

PATIENCE = 120.0  # seconds before a thread that waits for the others gives up


class ThreadGroup:
    """`n_workers` threads and what each of them has put down for the others."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self.met: list[tuple[str, int]] = []  # the kind of each meeting, and how much the first worker brought
        self._barrier = threading.Barrier(n_workers)
        # Two meetings take turns, so that one wait is enough: nobody is at the next but one before all have read this.
        self._parts: list[list[Any]] = [[None] * n_workers, [None] * n_workers]
        self._n_meetings = [0] * n_workers

    def exchange(self, rank: int, kind: str, part: Any) -> list[Any]:
        """What all workers have brought to this meeting, which must be of one kind and one length."""
        parts = self._parts[self._n_meetings[rank] % 2]
        self._n_meetings[rank] += 1
        parts[rank] = (kind, len(part), part)
        self._barrier.wait(PATIENCE)
        if rank == 0:
            self.met.append((kind, len(part)))
        met = {(kind, length if kind != "gather" else 0) for kind, length, _ in parts}
        if len(met) > 1:
            raise RuntimeError(f"the workers met for different things: {[p[:2] for p in parts]}")
        return [part for _, _, part in parts]

    def run(self, work: Callable[[int, ThreadCollective], Any]) -> list[Any]:
        """The results of `work(rank, collective)` in one thread per worker; the first error of a worker is raised."""
        results: list[Any] = [None] * self.n_workers
        errors: list[BaseException] = []

        def start(rank: int) -> None:
            try:
                results[rank] = work(rank, ThreadCollective(self, rank))
            except BaseException as error:
                # A broken barrier is what the other workers see of an error, not an error of their own.
                errors.insert(len(errors) if isinstance(error, threading.BrokenBarrierError) else 0, error)
                self._barrier.abort()

        threads = [threading.Thread(target=start, args=(rank,)) for rank in range(self.n_workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results


class ThreadCollective(WorkerCollective):
    """One worker of a group."""

    def __init__(self, group: ThreadGroup, rank: int) -> None:
        super().__init__()
        self._group = group
        self._rank = rank

    @property
    def alone(self) -> bool:
        return self._group.n_workers == 1

    def exchange(self, kind: str, part: Any) -> list[Any]:
        return self._group.exchange(self._rank, kind, part)

    def sum(self, values: np.ndarray) -> None:
        values[:] = np.sum(self.exchange("sum", values.copy()), axis=0)

    def maximum(self, values: np.ndarray) -> None:
        values[:] = np.max(self.exchange("maximum", values.copy()), axis=0)

    def gather(self, data: bytes) -> list[bytes]:
        return self.exchange("gather", data)


def split_at_random(
    n_rows: int, n_workers: int, rng: np.random.Generator, empty: int | None = None
) -> list[np.ndarray]:
    """The rows of each worker, ascending; the worker `empty` has none."""
    workers: Sequence[int] = [rank for rank in range(n_workers) if rank != empty]
    owner = rng.choice(workers, n_rows)
    return [np.flatnonzero(owner == rank) for rank in range(n_workers)]
