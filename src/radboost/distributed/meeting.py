"""How workers meet: what each brings goes up a tree of workers, and what it comes to goes down again.

A worker calls the one above it with what it and those below it have brought, and the answer to this call is what all
have brought together. So two workers, and up to nine, need one call and one answer; each sends its numbers once.
Sums of many numbers are packed into few bytes on their way up and down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.engine import add_packed, pack

BRANCHES = 8  # workers below each
PACKED_FROM = 1024  # numbers that are packed on their way: with fewer the call itself is what takes time
NUMBERS_PER_BYTE = 512  # packed numbers, at most: zeros

# Calls the worker above: its answer to (number, kind, rank, brought) is what all have brought.
Ask = Callable[[int, str, int, Any], Awaitable[Any]]


class WorkerLostError(RuntimeError):
    """Another worker is gone, or has failed: this one cannot go on alone.

    Attributes
    ----------
    checkpoints : tuple of paths
        Of the error of `fit`: where the rounds that were made are kept, for `fit(..., resume_from=...)`; those of the
        callbacks `Checkpoint`, if there were any.
    """

    checkpoints: tuple[str, ...] = ()


def above(rank: int) -> int | None:
    """The worker above this one; the first has none."""
    return None if rank == 0 else (rank - 1) // BRANCHES


def below(rank: int, n_workers: int) -> list[int]:
    """The workers right below this one."""
    first = BRANCHES * rank + 1
    return list(range(first, min(first + BRANCHES, n_workers)))


def combine(kind: str, brought: Mapping[int, Any]) -> Any:
    """What some workers bring together: sums, largest numbers, or the bytes of each by its rank."""
    parts = [brought[rank] for rank in sorted(brought)]
    if kind == "gather":
        return {rank: data for part in parts for rank, data in part.items()}
    counts = [count_of(part) for part in parts]
    if len(set(counts)) > 1:
        raise RuntimeError(f"the workers brought {counts} numbers to one meeting")
    if kind == "maximum":
        return np.max(parts, axis=0)
    sums: npt.NDArray[np.int64] = np.zeros(counts[0], dtype=np.int64)
    for part in parts:
        add_to(sums, part)
    return sums


def packed(kind: str, brought: Any) -> Any:
    """What is sent to another worker: sums of many numbers as bytes, everything else as it is."""
    return pack(brought) if kind == "sum" and len(brought) >= PACKED_FROM else brought


def count_of(brought: Any) -> int:
    """How many numbers a worker has brought, packed or not."""
    if not isinstance(brought, bytes):
        return len(brought)
    count = int.from_bytes(brought[:8], "little")
    if len(brought) < 8 or count > NUMBERS_PER_BYTE * (len(brought) - 8):
        raise ValueError(f"{len(brought)} bytes are too few for the packed numbers that they announce")
    return count


def add_to(sums: npt.NDArray[np.int64], brought: Any) -> None:
    """Adds what a worker has brought, packed or not."""
    if isinstance(brought, bytes):
        add_packed(brought, sums)
    else:
        sums += brought


@dataclass
class Meeting:
    """One exchange, as one worker sees it."""

    kind: str
    outcome: asyncio.Future[Any]
    brought: dict[int, Any] = field(default_factory=dict)
    closing: asyncio.Future[None] | None = None


class MeetingPlace:
    """Where a worker and those right below it bring what they have. Used in the thread of one event loop."""

    def __init__(self, rank: int, n_workers: int, ask: Ask) -> None:
        self._rank, self._ask = rank, ask
        self._expected = {rank, *below(rank, n_workers)}
        self._top = above(rank) is None
        self._meetings: dict[int, Meeting] = {}
        self._failure: str | None = None

    async def bring(self, number: int, kind: str, rank: int, brought: Any) -> Any:
        """What all workers have brought to the meeting of this number; many sums are packed."""
        if self._failure is not None:
            raise WorkerLostError(self._failure)
        meeting = self._meetings.get(number)
        if meeting is None:
            meeting = self._meetings[number] = Meeting(kind, asyncio.get_running_loop().create_future())
        if meeting.kind != kind or rank in meeting.brought:
            raise RuntimeError(f"worker {rank} came to meeting {number} for {kind!r}, others for {meeting.kind!r}")
        meeting.brought[rank] = brought
        if meeting.brought.keys() == self._expected:  # not awaited: who gives up does not wait for those above
            meeting.closing = asyncio.ensure_future(self._close(number, meeting))
        return await asyncio.shield(meeting.outcome)

    async def _close(self, number: int, meeting: Meeting) -> None:
        try:
            outcome = combine(meeting.kind, meeting.brought)
            outcome = packed(meeting.kind, outcome)
            if not self._top:
                outcome = await self._ask(number, meeting.kind, self._rank, outcome)
        except Exception as error:
            if not meeting.outcome.done():
                meeting.outcome.set_exception(error)
        else:
            if not meeting.outcome.done():
                meeting.outcome.set_result(outcome)
        finally:
            self._meetings.pop(number, None)

    def give_up(self, reason: str) -> None:
        """Ends this meeting and all later ones with an error."""
        self._failure = self._failure or reason
        for meeting in list(self._meetings.values()):
            if not meeting.outcome.done():
                meeting.outcome.set_exception(WorkerLostError(self._failure))
