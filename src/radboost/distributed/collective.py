"""Collective operations (sum, maximum, all-gather) between the workers of a fit, without a central server.

With Dask the workers form a tree. Each combines its contribution with those of the workers below it and sends the
result to its parent in one call, which returns the result over all workers. Up to nine workers need one call each. Sums
of many integers are packed into few bytes on their way up and down.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from radboost.engine import Collective, add_packed, pack

if TYPE_CHECKING:
    Value = TypeVar("Value")

BRANCHES = 8  # children of each worker in the tree

# Calls the parent worker with the kind of an operation and a contribution; returns the result over all.
CallParent = Callable[[str, Any], Awaitable[Any]]


class WorkerLostError(RuntimeError):
    """A worker of the fit is lost or has failed, and the others cannot go on without its rows.

    Attributes
    ----------
    checkpoints : tuple of paths
        Files with the rounds so far, for `fit(..., resume_from=...)`: those of the callbacks `Checkpoint`. Set on the
        error that `fit` raises; empty without such a callback.
    """

    checkpoints: tuple[str, ...] = ()


@dataclass
class WorkerTraffic:
    """Collective operations of one worker so far."""

    n_exchanges: int = 0
    bytes_sent: int = 0  # to other workers; with Dask to the parent in the tree, so 0 for the first worker
    seconds_waiting: float = 0.0  # from the call of an operation to its result

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """Count the block as one operation."""
        begin = time.perf_counter()
        yield
        self.n_exchanges += 1
        self.seconds_waiting += time.perf_counter() - begin


class WorkerCollective(Collective):
    """The engine's collective over workers that each hold some of the rows, with gathers of objects and arrays.

    All workers run the same program: each method is called by all of them, in the same order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.traffic = WorkerTraffic()

    @property
    def collective(self) -> Collective:
        return self

    @property
    def alone(self) -> bool:
        """True if this worker has all rows."""
        raise NotImplementedError

    def gather(self, data: bytes) -> list[bytes]:
        """Bytes of all workers, by rank."""
        raise NotImplementedError

    def all_gather(self, value: Value) -> list[Value]:
        """Objects of all workers, by rank. They are pickled: workers trust each other."""
        return [value] if self.alone else [pickle.loads(data) for data in self.gather(pickle.dumps(value))]


def parent_of(rank: int) -> int:
    """Rank of the parent in the tree; rank 0, the root, has none."""
    return (rank - 1) // BRANCHES


def children_of(rank: int, n_workers: int) -> list[int]:
    """Ranks of the workers right below this one."""
    first = BRANCHES * rank + 1
    return list(range(first, min(first + BRANCHES, n_workers)))


def combine(kind: str, contributions: Sequence[Any]) -> Any:
    """Result over some workers: elementwise "sum" of packed integers or "maximum"; for "gather" bytes by rank."""
    if kind == "gather":
        return {rank: data for one in contributions for rank, data in one.items()}
    counts = [int.from_bytes(one[:8], "little") if kind == "sum" else len(one) for one in contributions]
    if len(set(counts)) > 1:
        raise RuntimeError(f"the workers contributed {counts} numbers to one collective operation")
    if kind == "maximum":
        return np.max(contributions, axis=0)
    sums: npt.NDArray[np.int64] = np.zeros(counts[0], dtype=np.int64)
    for one in contributions:
        add_packed(one, sums)
    return pack(sums)


@dataclass
class PendingOperation:
    """State of a collective operation on one worker until the result arrives; only then can the next one begin."""

    kind: str
    result: asyncio.Future[Any]
    contributions: dict[int, Any] = field(default_factory=dict)  # by rank: own, and those of the children
    forwarding: asyncio.Future[None] | None = None  # kept, so that the task is not collected while it runs


class TreeCollective(WorkerCollective):
    """Collective of one worker with its children and its parent in the tree.

    A fit calls the operations from a thread of its own. They run as coroutines in the event loop that calls
    `contribute` for the children.
    """

    loop: asyncio.AbstractEventLoop  # set before the fit begins

    def __init__(self, rank: int, n_workers: int, call_parent: CallParent) -> None:
        super().__init__()
        self._rank, self._n_workers, self._call_parent = rank, n_workers, call_parent
        self._expected = {rank, *children_of(rank, n_workers)}
        self._pending: PendingOperation | None = None
        self._failure: str | None = None

    @property
    def alone(self) -> bool:
        return self._n_workers == 1

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self.check_aborted()
        if not self.alone:
            total = self._over_all("sum", pack(values))
            values[:] = 0
            add_packed(total, values)

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        if not self.alone:
            values[:] = self._over_all("maximum", values.copy())  # the array is memory of the native core

    def gather(self, data: bytes) -> list[bytes]:
        by_rank = self._over_all("gather", {self._rank: data})
        return [by_rank[rank] for rank in range(self._n_workers)]

    def _over_all(self, kind: str, contribution: Any) -> Any:
        with self.traffic.exchange():
            return self.run_in_loop(self.contribute(kind, self._rank, contribution))

    def run_in_loop(self, coroutine: Coroutine[Any, Any, Value]) -> Value:
        """Result of a coroutine, for the thread of the fit."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def contribute(self, kind: str, rank: int, contribution: Any) -> Any:
        """Result of the operation over all workers, once all have contributed."""
        self.check_aborted()
        operation = self._pending
        if operation is None:
            operation = self._pending = PendingOperation(kind, asyncio.get_running_loop().create_future())
        if operation.kind != kind or rank in operation.contributions:
            raise RuntimeError(f"worker {rank} called an operation for {kind!r}, others for {operation.kind!r}")
        operation.contributions[rank] = contribution
        if operation.contributions.keys() == self._expected:  # not awaited: `abort` must not wait for the parent
            operation.forwarding = asyncio.ensure_future(self._forward(operation))
        return await asyncio.shield(operation.result)

    async def _forward(self, operation: PendingOperation) -> None:
        with suppress(asyncio.InvalidStateError):  # it was aborted in the meantime
            try:
                result = combine(operation.kind, list(operation.contributions.values()))
                if self._rank > 0:
                    sent = result.values() if operation.kind == "gather" else [result]
                    self.traffic.bytes_sent += sum(memoryview(data).nbytes for data in sent)
                    result = await self._call_parent(operation.kind, result)
            except Exception as error:
                operation.result.set_exception(error)
            else:
                self._pending = None  # before any worker begins the next one
                operation.result.set_result(result)

    def check_aborted(self) -> None:
        """Raise a `WorkerLostError` once the fit is to end."""
        if self._failure is not None:
            raise WorkerLostError(self._failure)

    def abort(self, reason: str) -> None:
        """End this operation and all later ones with a `WorkerLostError`."""
        self._failure = self._failure or reason
        if self._pending is not None and not self._pending.result.done():
            self._pending.result.set_exception(WorkerLostError(self._failure))
