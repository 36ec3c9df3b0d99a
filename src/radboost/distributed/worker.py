"""Actor on a worker of a Dask cluster: holds the worker's rows and takes part in the fit."""

from __future__ import annotations

import asyncio
import pickle
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._progress import lines_sent_to
from radboost.boosting import FitContext
from radboost.distributed.callbacks import CallbackEvent
from radboost.distributed.collective import TreeCollective, WorkerLostError, add_contribution, parent_of
from radboost.distributed.learning import FitTask, RoundRecorder, digest_of_model
from radboost.distributed.metadata import WorkerCollective, WorkerTraffic
from radboost.rows.partitions import LoadedPartition, Partition

NO_MORE_EVENTS = b""  # ends the queue of callback events


@dataclass(frozen=True)
class ActorAddress:
    """Worker and key of an actor, by which others call it."""

    worker: str
    key: str


@dataclass(frozen=True)
class WorkerUsage:
    """Rows, memory and traffic of one worker in a fit: an entry of `workers_`.

    Attributes
    ----------
    address : str
    n_partitions, n_rows : int
        Partitions of the worker, and rows with a positive weight in them.
    bytes_of_bins, bytes_of_scores : int
        Bins of the rows, one byte for each value by row and one by column; and 8 bytes for each score.
    n_exchanges, bytes_sent : int
        Collective operations with the other workers, and bytes sent to the parent in their tree (0 for the first
        worker; replies are not counted).
    seconds_waiting : float
        Time in these operations.
    """

    address: str
    n_partitions: int
    n_rows: int
    bytes_of_bins: int
    bytes_of_scores: int
    n_exchanges: int
    bytes_sent: int
    seconds_waiting: float


@dataclass(frozen=True)
class WorkerResult:
    """Outcome of a fit on one worker."""

    digest: str
    usage: WorkerUsage
    model: Any = None  # of the first worker; None elsewhere
    warnings: tuple[tuple[str, type[Warning]], ...] = ()  # of the first worker


class AbortableRecorder(RoundRecorder):
    """Callback that ends the fit of a worker where the client asks for it."""

    abort_reason: str | None = None

    def on_fit_begin(self, context: FitContext) -> None:
        super().on_fit_begin(context)
        self.check_aborted()

    def on_round_end(self, context: FitContext) -> None:
        """Needed by a worker that has all rows: no collective operation would end its fit."""
        self.check_aborted()

    def check_aborted(self) -> None:
        """End the fit if the client has asked for it."""
        if self.abort_reason is not None:
            raise WorkerLostError(self.abort_reason)


class AbortablePartition:
    """Partition that is not loaded any more once the fit is to end."""

    def __init__(self, part: Partition, recorder: AbortableRecorder) -> None:
        self.n_rows, self.role = part.n_rows, part.role
        self._part, self._recorder = part, recorder

    def load(self) -> LoadedPartition:
        self._recorder.check_aborted()
        return self._part.load()


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
    """The actor. The client and other workers call its coroutines, which run in Dask's event loop."""

    def __init__(self, rank: int, task: bytes, earlier: bytes, parts: Sequence[Partition]) -> None:
        self._events: asyncio.Queue[bytes] = asyncio.Queue()
        self._replies: asyncio.Queue[str | WorkerLostError | None] = asyncio.Queue()
        self._rank, self._task, self._earlier = rank, task, earlier
        self._recorder = AbortableRecorder()
        self._parts = [AbortablePartition(part, self._recorder) for part in parts]
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
        return _pickled(self._recorder.rounds())

    async def next_event(self, *replies: str | None) -> bytes:
        """Next event of the first worker, pickled; waits for it.

        A reply to the last event is given along: the reason to stop the fit, or None.
        """
        for reply in replies:
            await self._replies.put(reply)
        return await self._events.get()

    def _handle(self, event: CallbackEvent | str) -> str | None:
        """Reply of the callbacks in the client. Called in the thread of the fit."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self._ask_client(_pickled(event)), self._loop).result()

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
        self._recorder.abort_reason = reason
        if self._tree is not None:
            self._tree.abort(reason)
        await self._replies.put(WorkerLostError(reason))

    def _fit(self, workers: DaskCollective) -> WorkerResult:
        task: FitTask = pickle.loads(self._task)
        parts, self._parts = self._parts, []
        n_parts, first = len(parts), self._rank == 0
        # Of the first alone: workers may be threads of one process, which share the filters of warnings.
        recording = warnings.catch_warnings(record=True, action="always") if first else nullcontext()
        with recording as caught, lines_sent_to(self._handle):
            model = task.run(
                parts,
                workers,
                first=first,
                n_threads=self._worker.state.nthreads,
                earlier=pickle.loads(self._earlier),
                recorder=self._recorder,
                receiver=self._handle if first and task.reports else None,
            )
        address = self._addresses[self._rank].worker
        usage = WorkerUsage(address, n_parts, *self._recorder.sizes, **asdict(self.traffic))
        shown = tuple((str(one.message), one.category) for one in caught or ())
        return WorkerResult(digest_of_model(model), usage, model if first else None, shown)

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


def _pickled(value: Any) -> bytes:
    from distributed.protocol.pickle import dumps  # which takes classes of a notebook along

    return bytes(dumps(value))
