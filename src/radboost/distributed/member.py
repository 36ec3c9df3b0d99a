"""One worker of a Dask cluster: an actor that holds its rows and takes part in the fit."""

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

from radboost._progress import heard_by
from radboost.distributed.learning import Task, digest_of_model
from radboost.distributed.meeting import MeetingPlace, WorkerLostError, above, add_to
from radboost.distributed.parts import LazyPart
from radboost.distributed.talking import Traffic, Workers
from radboost.distributed.telling import Told
from radboost.distributed.watching import Doing, News, WorkerShare

NOTHING_MORE = b""  # to tell


@dataclass(frozen=True)
class Address:
    """Where an actor is."""

    worker: str
    key: str


@dataclass(frozen=True)
class Result:
    """What a worker has at the end of a fit."""

    digest: str
    share: WorkerShare
    model: Any = None  # of the first worker
    warnings: tuple[tuple[str, type[Warning]], ...] = ()


class DaskWorkers(Workers):
    """The workers of a cluster, as one of them meets the others. Called in the thread of its fit."""

    def __init__(self, rank: int, n_workers: int, place: MeetingPlace, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._rank, self._n_workers, self._place, self.loop = rank, n_workers, place, loop
        self._n_met = 0

    @property
    def alone(self) -> bool:
        return self._n_workers == 1

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        if self.alone:
            return
        found = self._meet("sum", values)
        values[:] = 0
        add_to(values, found)

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        values[:] = self._meet("maximum", values)

    def gather(self, data: bytes) -> list[bytes]:
        if self.alone:
            return [data]
        found = self._meet("gather", {self._rank: data})
        return [found[rank] for rank in range(self._n_workers)]

    def _meet(self, kind: str, brought: Any) -> Any:
        if self.alone:
            return brought
        # A copy: the numbers are a view into the native core's memory.
        own = brought.copy()
        number, self._n_met = self._n_met, self._n_met + 1
        meeting = self._place.bring(number, kind, self._rank, own)
        with self.traffic.exchange(size_of(own)):
            return asyncio.run_coroutine_threadsafe(meeting, self.loop).result()


def size_of(brought: Any) -> int:
    """The bytes of numbers, packed or not, or of what is gathered."""
    if isinstance(brought, dict):
        return sum(map(len, brought.values()))
    return len(brought) if isinstance(brought, bytes) else int(brought.nbytes)


@dataclass(frozen=True)
class DistantEars:
    """Callbacks in the client, as the first member tells them of rounds. Called in the thread of its fit."""

    member: Member
    loop: asyncio.AbstractEventLoop

    def hear(self, told: Told) -> str | None:
        return asyncio.run_coroutine_threadsafe(self.member.exchange(pickle.dumps(told)), self.loop).result()


class Member:
    """The actor: its methods are called by the client and by the other members, and run in Dask's event loop."""

    def __init__(self, rank: int, task: bytes, earlier: bytes, parts: Sequence[LazyPart]) -> None:
        self._told: asyncio.Queue[bytes] = asyncio.Queue()
        self._answers: asyncio.Queue[str | WorkerLostError | None] = asyncio.Queue()
        self._rank, self._task, self._earlier, self._parts = rank, task, earlier, list(parts)
        self._doing = Doing()
        self._ended = asyncio.Event()
        self._addresses: list[Address] = []
        self._place: MeetingPlace | None = None
        self._worker: Any = None
        self.traffic = Traffic()

    async def join(self, addresses: list[Address]) -> None:
        """Learns who the others are; before any of them begins."""
        from distributed import get_worker

        self._worker, self._addresses = get_worker(), addresses
        self._place = MeetingPlace(self._rank, len(addresses), self._ask_above)

    async def fit(self) -> Result:
        """Takes part in the fit, in a thread of its own: other work of the cluster goes on."""
        assert self._place is not None
        workers = DaskWorkers(self._rank, len(self._addresses), self._place, asyncio.get_running_loop())
        workers.traffic = self.traffic
        executor = ThreadPoolExecutor(1, thread_name_prefix="radboost-fit")
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, self._fit, workers)
        finally:
            executor.shutdown(wait=False)
            self._ended.set()
            await self._told.put(NOTHING_MORE)

    async def rounds(self) -> bytes:
        """What the fit of this member had made when it ended, pickled; it is waited for."""
        await self._ended.wait()
        return pickle.dumps(self._doing.rounds())

    async def news(self, n_rounds: int, n_said: int) -> News:
        """Where the fit stands, for a client that knows so many rounds and lines."""
        return self._doing.news(n_rounds, n_said)

    async def told(self) -> bytes:
        """What this member, the first, has to tell callbacks next, pickled; it is waited for."""
        return await self._told.get()

    async def answer(self, reason: str | None) -> None:
        """What callbacks have said to it: the reason to end the fit, if there is one."""
        await self._answers.put(reason)

    async def exchange(self, told: bytes) -> str | None:
        """Tells callbacks, and waits for their answer."""
        await self._told.put(told)
        answer = await self._answers.get()
        if isinstance(answer, WorkerLostError):
            raise answer
        return answer

    async def meet(self, number: int, kind: str, rank: int, brought: Any) -> Any:
        """Called by a member below this one."""
        assert self._place is not None
        return await self._place.bring(number, kind, rank, brought)

    async def give_up(self, reason: str) -> None:
        """Ends the fit of this member with an error."""
        self._doing.reason_to_end = reason
        if self._place is not None:
            self._place.give_up(reason)
        await self._answers.put(WorkerLostError(reason))

    def _fit(self, workers: DaskWorkers) -> Result:
        task: Task = pickle.loads(self._task)
        parts, self._parts = self._doing.counted(self._parts), []
        first = self._rank == 0
        options: dict[str, Any] = {
            "first": first,
            "n_threads": self._worker.state.nthreads,
            "earlier": pickle.loads(self._earlier),
            "keeper": self._doing,
            "ears": DistantEars(self, workers.loop) if first else None,
        }
        if not first:
            return Result(digest_of_model(task.run(parts, workers, **options)), self._share())
        with warnings.catch_warnings(record=True) as found, heard_by(self._doing.hear):
            warnings.simplefilter("always")
            model = task.run(parts, workers, **options)
        told = tuple((str(one.message), one.category) for one in found)
        return Result(digest_of_model(model), self._share(), model, told)

    def _share(self) -> WorkerShare:
        held = self._doing
        address = self._addresses[self._rank].worker
        sent = self.traffic
        return WorkerShare(
            address,
            held.n_parts,
            held.n_rows,
            held.bytes_of_bins,
            held.bytes_of_scores,
            sent.n_exchanges,
            sent.bytes_sent,
            sent.seconds_waiting,
        )

    async def _ask_above(self, number: int, kind: str, rank: int, brought: Any) -> Any:
        from distributed.protocol import to_serialize

        parent = above(self._rank)
        assert parent is not None
        address = self._addresses[parent]
        self.traffic.bytes_sent += size_of(brought)
        try:
            answer = await self._worker.rpc(address.worker).actor_execute(
                function="meet", actor=address.key, args=[number, kind, rank, to_serialize(brought)], kwargs={}
            )
        except OSError as error:
            raise WorkerLostError(f"the worker {address.worker} does not answer ({error})") from None
        if answer["status"] != "OK":
            raise answer["exception"]
        return answer["result"]
