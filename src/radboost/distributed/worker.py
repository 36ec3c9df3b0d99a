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

from radboost._progress import lines_sent_to
from radboost.boosting import Trace
from radboost.distributed.callbacks import CallbackEvent
from radboost.distributed.collective import TreeCollective, WorkerLostError, parent_of
from radboost.distributed.learning import FitRecorder
from radboost.rows.partitions import LoadedPartition, Partition


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

    usage: WorkerUsage
    model: Any = None  # of the first worker; None elsewhere
    warnings: tuple[tuple[str, type[Warning]], ...] = ()  # of the first worker


class AbortablePartition:
    """Partition that is not loaded any more once the fit is to end."""

    def __init__(self, part: Partition, workers: TreeCollective) -> None:
        self.n_rows, self.role = part.n_rows, part.role
        self._part, self._workers = part, workers

    def load(self) -> LoadedPartition:
        self._workers.check_aborted()
        return self._part.load()


class Worker:
    """The actor. The client and other workers call its coroutines, which run in Dask's event loop."""

    def __init__(self, rank: int, n_workers: int, task: bytes, parts: Sequence[Partition]) -> None:
        """Take the partitions; `task`: the pickled task, and the finished rounds of an earlier attempt."""
        self._rank, self._task = rank, task
        self._recorder, self._ended = FitRecorder(), asyncio.Event()
        self._workers = TreeCollective(rank, n_workers, self._call_parent)
        self._parts = [AbortablePartition(part, self._workers) for part in parts]
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()  # of the first worker; None ends them
        self._replies: asyncio.Queue[str | None] = asyncio.Queue()

    async def fit(self, addresses: Sequence[tuple[str, str]]) -> WorkerResult:
        """Run the fit in a separate thread, so that the event loop of the worker is not blocked.

        `addresses`: worker and key of each actor, by rank.
        """
        from distributed import get_worker

        self._dask_worker, self._addresses = get_worker(), addresses
        self._workers.loop = asyncio.get_running_loop()
        executor = ThreadPoolExecutor(1, thread_name_prefix="radboost-fit")
        try:
            return await self._workers.loop.run_in_executor(executor, self._fit)
        finally:
            executor.shutdown(wait=False)
            self._ended.set()
            await self._events.put(None)

    def _fit(self) -> WorkerResult:
        task, earlier = pickle.loads(self._task)
        parts, self._parts = self._parts, []
        n_parts, first = len(parts), self._rank == 0
        # Of the first alone: workers may be threads of one process, which share the filters of warnings.
        recording = warnings.catch_warnings(record=True, action="always") if first else nullcontext()
        with recording as caught, lines_sent_to(self._ask_client):
            model = task.run(
                parts,
                self._workers,
                first=first,
                n_threads=self._dask_worker.state.nthreads,
                earlier=earlier,
                recorder=self._recorder,
                receiver=self._ask_client if first and task.reports else None,
            )
        address, _ = self._addresses[self._rank]
        usage = WorkerUsage(address, n_parts, *self._recorder.sizes, **asdict(self._workers.traffic))
        shown = tuple((str(one.message), one.category) for one in caught or ())
        return WorkerResult(usage, model if first else None, shown)

    def _ask_client(self, event: CallbackEvent | str) -> str | None:
        """Reply of the callbacks in the client. Called in the thread of the fit."""
        from distributed.protocol.pickle import dumps  # which takes classes of a notebook along

        async def ask() -> str | None:
            await self._events.put(dumps(event))
            return await self._replies.get()

        stop_reason = self._workers.run_in_loop(ask())
        self._workers.check_aborted()
        return stop_reason

    async def next_event(self, *replies: str | None) -> bytes | None:
        """Next event of the first worker, pickled; waits for it. None: there are no more.

        A reply to the last event is given along: the reason to stop the fit, or None.
        """
        for reply in replies:
            await self._replies.put(reply)
        return await self._events.get()

    async def abort(self, reason: str, *, keep: bool) -> Trace | None:
        """End the fit of this worker with a `WorkerLostError`; `keep`: wait for its end, and return finished rounds."""
        self._workers.abort(reason)
        await self._replies.put(None)
        if not keep:
            return None
        await self._ended.wait()
        return self._recorder.rounds()

    async def contribute(self, kind: str, rank: int, contribution: Any) -> Any:
        """Take part in a collective operation; called by the children in the tree."""
        return await self._workers.contribute(kind, rank, contribution)

    async def _call_parent(self, kind: str, contribution: Any) -> Any:
        from distributed.protocol import to_serialize

        worker, key = self._addresses[parent_of(self._rank)]
        try:
            reply = await self._dask_worker.rpc(worker).actor_execute(
                function="contribute",
                actor=key,
                args=[kind, self._rank, to_serialize(contribution)],
                kwargs={},
            )
        except OSError as error:
            raise WorkerLostError(f"the worker {worker} does not answer ({error})") from None
        if reply["status"] != "OK":
            raise reply["exception"]
        return reply["result"]
