"""Actor on a worker of a Dask cluster: holds the worker's rows and takes part in the fit."""

from __future__ import annotations

import asyncio
import pickle
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._progress import lines_sent_to
from radboost.distributed.callbacks import CallbackEvent
from radboost.distributed.collective import TreeCollective, WorkerLostError, add_contribution, parent_of
from radboost.distributed.learning import FitTask, digest_of_model
from radboost.distributed.metadata import WorkerCollective, WorkerTraffic
from radboost.distributed.progress import ProgressReport, WorkerState, WorkerUsage
from radboost.rows.partitions import Partition

NO_MORE_EVENTS = b""  # ends the queue of callback events


@dataclass(frozen=True)
class ActorAddress:
    """Worker and key of an actor, by which others call it."""

    worker: str
    key: str


@dataclass(frozen=True)
class WorkerResult:
    """Outcome of a fit on one worker."""

    digest: str
    usage: WorkerUsage
    model: Any = None  # of the first worker; None elsewhere
    warnings: tuple[tuple[str, type[Warning]], ...] = ()  # of the first worker


class DaskCollective(WorkerCollective):
    """Collective of one worker of a Dask cluster. Called in the thread of its fit."""

    def __init__(self, rank: int, n_workers: int, tree: TreeCollective, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._rank, self._n_workers, self._tree, self._loop = rank, n_workers, tree, loop
        self._n_operations = 0

    @property
    def alone(self) -> bool:
        return self._n_workers == 1

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        if self.alone:
            return
        result = self._run("sum", values)
        values[:] = 0
        add_contribution(values, result)

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        values[:] = self._run("maximum", values)

    def gather(self, data: bytes) -> list[bytes]:
        if self.alone:
            return [data]
        by_rank = self._run("gather", {self._rank: data})
        return [by_rank[rank] for rank in range(self._n_workers)]

    def _run(self, kind: str, contribution: Any) -> Any:
        if self.alone:
            return contribution
        # A copy: the array is a view into memory of the native core.
        copied = contribution.copy()
        number, self._n_operations = self._n_operations, self._n_operations + 1
        operation = self._tree.contribute(number, kind, self._rank, copied)
        with self.traffic.exchange():
            return asyncio.run_coroutine_threadsafe(operation, self._loop).result()


def n_bytes_of(contribution: Any) -> int:
    """Size in bytes of integers, packed or not, or of gathered data."""
    if isinstance(contribution, dict):
        return sum(map(len, contribution.values()))
    return len(contribution) if isinstance(contribution, bytes) else int(contribution.nbytes)


class Worker:
    """The actor. The client and other workers call its coroutines, which run in Dask's event loop.

    The first worker is also the `CallbackReceiver` of its fit.
    """

    def __init__(self, rank: int, task: bytes, earlier: bytes, parts: Sequence[Partition]) -> None:
        self._events: asyncio.Queue[bytes] = asyncio.Queue()
        self._replies: asyncio.Queue[str | WorkerLostError | None] = asyncio.Queue()
        self._rank, self._task, self._earlier, self._parts = rank, task, earlier, list(parts)
        self._state = WorkerState()
        self._ended = asyncio.Event()
        self._addresses: list[ActorAddress] = []
        self._tree: TreeCollective | None = None
        self._worker: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.traffic = WorkerTraffic()

    async def connect(self, addresses: list[ActorAddress]) -> None:
        """Take the addresses of all actors, by rank; called before any of them begins."""
        from distributed import get_worker

        self._worker, self._addresses = get_worker(), addresses
        self._tree = TreeCollective(self._rank, len(addresses), self._call_parent)

    async def fit(self) -> WorkerResult:
        """Run the fit in a separate thread, so that the event loop of the worker is not blocked."""
        assert self._tree is not None
        self._loop = asyncio.get_running_loop()
        workers = DaskCollective(self._rank, len(self._addresses), self._tree, self._loop)
        workers.traffic = self.traffic
        executor = ThreadPoolExecutor(1, thread_name_prefix="radboost-fit")
        try:
            return await self._loop.run_in_executor(executor, self._fit, workers)
        finally:
            executor.shutdown(wait=False)
            self._ended.set()
            await self._events.put(NO_MORE_EVENTS)

    async def finished_rounds(self) -> bytes:
        """Finished rounds of this worker, pickled, once its fit has ended."""
        await self._ended.wait()
        return pickle.dumps(self._state.rounds())

    async def progress(self, n_rounds: int, n_messages: int) -> ProgressReport:
        """Progress since the client received `n_rounds` rounds and `n_messages` messages."""
        return self._state.report(n_rounds, n_messages)

    async def next_event(self) -> bytes:
        """Next `CallbackEvent` of the first worker, pickled; waits for it."""
        return await self._events.get()

    async def reply(self, reason: str | None) -> None:
        """Deliver the callbacks' reply to the last event: the reason to stop the fit, or None."""
        await self._replies.put(reason)

    def handle(self, event: CallbackEvent) -> str | None:
        """Reply of the callbacks in the client. Called in the thread of the fit."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self._ask_client(pickle.dumps(event)), self._loop).result()

    async def _ask_client(self, event: bytes) -> str | None:
        await self._events.put(event)
        reply = await self._replies.get()
        if isinstance(reply, WorkerLostError):
            raise reply
        return reply

    async def contribute(self, number: int, kind: str, rank: int, contribution: Any) -> Any:
        """Take part in a collective operation; called by the children in the tree."""
        assert self._tree is not None
        return await self._tree.contribute(number, kind, rank, contribution)

    async def abort(self, reason: str) -> None:
        """End the fit of this worker with a `WorkerLostError`."""
        self._state.abort_reason = reason
        if self._tree is not None:
            self._tree.abort(reason)
        await self._replies.put(WorkerLostError(reason))

    def _fit(self, workers: DaskCollective) -> WorkerResult:
        task: FitTask = pickle.loads(self._task)
        parts, self._parts = self._state.count_loads(self._parts), []
        first = self._rank == 0
        options: dict[str, Any] = {
            "first": first,
            "n_threads": self._worker.state.nthreads,
            "earlier": pickle.loads(self._earlier),
            "recorder": self._state,
            "receiver": self if first else None,
        }
        if not first:
            return WorkerResult(digest_of_model(task.run(parts, workers, **options)), self._usage())
        with warnings.catch_warnings(record=True) as caught, lines_sent_to(self._state.add_message):
            warnings.simplefilter("always")
            model = task.run(parts, workers, **options)
        shown = tuple((str(one.message), one.category) for one in caught)
        return WorkerResult(digest_of_model(model), self._usage(), model, shown)

    def _usage(self) -> WorkerUsage:
        state, traffic = self._state, self.traffic
        return WorkerUsage(
            self._addresses[self._rank].worker,
            state.n_parts,
            state.n_rows,
            state.bytes_of_bins,
            state.bytes_of_scores,
            traffic.n_exchanges,
            traffic.bytes_sent,
            traffic.seconds_waiting,
        )

    async def _call_parent(self, number: int, kind: str, rank: int, contribution: Any) -> Any:
        from distributed.protocol import to_serialize

        parent = parent_of(self._rank)
        assert parent is not None
        address = self._addresses[parent]
        self.traffic.bytes_sent += n_bytes_of(contribution)
        try:
            reply = await self._worker.rpc(address.worker).actor_execute(
                function="contribute",
                actor=address.key,
                args=[number, kind, rank, to_serialize(contribution)],
                kwargs={},
            )
        except OSError as error:
            raise WorkerLostError(f"the worker {address.worker} does not answer ({error})") from None
        if reply["status"] != "OK":
            raise reply["exception"]
        return reply["result"]
