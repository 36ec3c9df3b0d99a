"""Several workers in one process: threads that each own a part of the rows, with the collective of Dask's workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from radboost.distributed.collective import TreeCollective, WorkerLostError, parent_of

PATIENCE = 120.0  # seconds before a thread that waits for the others gives up


class ThreadCollective(TreeCollective):
    """One worker of a group, which calls its parent in the event loop of the group."""

    def __init__(self, group: ThreadGroup, rank: int) -> None:
        def call_parent(kind: str, contribution: Any) -> Any:
            return group.workers[parent_of(rank)].contribute(kind, rank, contribution)

        super().__init__(rank, group.n_workers, call_parent)
        self.loop, self._met = group.loop, group.met if rank == 0 else []

    def _over_all(self, kind: str, contribution: Any) -> Any:
        n_numbers = int.from_bytes(contribution[:8], "little") if kind == "sum" else len(contribution)
        self._met.append((kind, n_numbers))
        return super()._over_all(kind, contribution)

    def run_in_loop(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)


class ThreadGroup:
    """`n_workers` threads, and the operations of the first of them."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self.met: list[tuple[str, int]] = []  # the kind of each operation, and the length of the contribution
        self.workers: list[ThreadCollective] = []
        self.loop = asyncio.new_event_loop()

    def run(self, work: Callable[[int, Any], Any], collective: Callable[..., Any] = ThreadCollective) -> list[Any]:
        """The results of `work(rank, collective)` in one thread per worker; the first error of a worker is raised."""
        self.workers = [collective(self, rank) for rank in range(self.n_workers)]
        errors: list[BaseException] = []

        def start(rank: int) -> Any:
            try:
                return work(rank, self.workers[rank])
            except BaseException as error:
                # A `WorkerLostError` is what the other workers see of an error, not an error of their own.
                errors.insert(len(errors) if isinstance(error, WorkerLostError) else 0, error)
                for worker in self.workers:
                    self.loop.call_soon_threadsafe(worker.abort, "another worker has failed")

        with ThreadPoolExecutor(self.n_workers + 1) as pool:
            pool.submit(self.loop.run_forever)
            results = list(pool.map(start, range(self.n_workers)))
            self.loop.call_soon_threadsafe(self.loop.stop)
        self.loop.close()
        if errors:
            raise errors[0]
        return results


def split_at_random(
    n_rows: int, n_workers: int, rng: np.random.Generator, empty: int | None = None
) -> list[np.ndarray]:
    """The rows of each worker, ascending; the worker `empty` has none."""
    workers: Sequence[int] = [rank for rank in range(n_workers) if rank != empty]
    owner = rng.choice(workers, n_rows)
    return [np.flatnonzero(owner == rank) for rank in range(n_workers)]
