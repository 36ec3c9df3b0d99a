"""Collective operations (sum, maximum, all-gather) over a tree of workers, without a central server.

Each worker combines its contribution with those of the workers below it and sends the result to its parent in one call.
That call returns the result over all workers. Up to nine workers need one call each. Sums of many integers are packed
into few bytes on their way up and down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.engine import add_packed, pack

BRANCHES = 8  # children of each worker in the tree
PACKED_FROM = 1024  # integers; shorter sums are sent unpacked, because the call itself takes the time
NUMBERS_PER_BYTE = 512  # most integers in one packed byte: a run of zeros

# Calls the parent worker with (number of the operation, its kind, rank, contribution); returns the result over all.
CallParent = Callable[[int, str, int, Any], Awaitable[Any]]


class WorkerLostError(RuntimeError):
    """A worker of the fit is lost or has failed, and the others cannot go on without its rows.

    Attributes
    ----------
    checkpoints : tuple of paths
        Files with the rounds so far, for `fit(..., resume_from=...)`: those of the callbacks `Checkpoint`. Set on the
        error that `fit` raises; empty without such a callback.
    """

    checkpoints: tuple[str, ...] = ()


def parent_of(rank: int) -> int | None:
    """Rank of the parent in the tree; None for rank 0, the root."""
    return None if rank == 0 else (rank - 1) // BRANCHES


def children_of(rank: int, n_workers: int) -> list[int]:
    """Ranks of the workers right below this one."""
    first = BRANCHES * rank + 1
    return list(range(first, min(first + BRANCHES, n_workers)))


def combine(kind: str, contributions: Mapping[int, Any]) -> Any:
    """Result over some workers, by rank: elementwise "sum" or "maximum"; for "gather" a dict of bytes by rank."""
    parts = [contributions[rank] for rank in sorted(contributions)]
    if kind == "gather":
        return {rank: data for part in parts for rank, data in part.items()}
    counts = [count_numbers(part) for part in parts]
    if len(set(counts)) > 1:
        raise RuntimeError(f"the workers contributed {counts} numbers to one collective operation")
    if kind == "maximum":
        return np.max(parts, axis=0)
    sums: npt.NDArray[np.int64] = np.zeros(counts[0], dtype=np.int64)
    for part in parts:
        add_contribution(sums, part)
    return sums


def pack_long_sums(kind: str, contribution: Any) -> Any:
    """Contribution in the form that is sent: sums of at least `PACKED_FROM` integers packed, others unchanged."""
    return pack(contribution) if kind == "sum" and len(contribution) >= PACKED_FROM else contribution


def count_numbers(contribution: Any) -> int:
    """Length of an array, packed or not."""
    if not isinstance(contribution, bytes):
        return len(contribution)
    count = int.from_bytes(contribution[:8], "little")
    if len(contribution) < 8 or count > NUMBERS_PER_BYTE * (len(contribution) - 8):
        raise ValueError(f"{len(contribution)} bytes are too few for the {count} packed numbers that they announce")
    return count


def add_contribution(sums: npt.NDArray[np.int64], contribution: Any) -> None:
    """Add integers, packed or not, to `sums` in place."""
    if isinstance(contribution, bytes):
        add_packed(contribution, sums)
    else:
        sums += contribution


@dataclass
class PendingOperation:
    """State of one collective operation on one worker until the result arrives."""

    kind: str
    result: asyncio.Future[Any]
    contributions: dict[int, Any] = field(default_factory=dict)  # by rank: own, and those of the children
    forwarding: asyncio.Future[None] | None = None  # kept, so that the task is not collected while it runs


class TreeCollective:
    """Collective operations of one worker with its children and its parent. All calls from one event loop's thread."""

    def __init__(self, rank: int, n_workers: int, call_parent: CallParent) -> None:
        self._rank, self._call_parent = rank, call_parent
        self._expected = {rank, *children_of(rank, n_workers)}
        self._is_root = parent_of(rank) is None
        self._pending: dict[int, PendingOperation] = {}
        self._failure: str | None = None

    async def contribute(self, number: int, kind: str, rank: int, contribution: Any) -> Any:
        """Result of operation `number` over all workers, once all have contributed; long sums are packed."""
        if self._failure is not None:
            raise WorkerLostError(self._failure)
        operation = self._pending.get(number)
        if operation is None:
            operation = self._pending[number] = PendingOperation(kind, asyncio.get_running_loop().create_future())
        if operation.kind != kind or rank in operation.contributions:
            raise RuntimeError(f"worker {rank} called operation {number} for {kind!r}, others for {operation.kind!r}")
        operation.contributions[rank] = contribution
        if operation.contributions.keys() == self._expected:  # not awaited: `abort` must not wait for the parent
            operation.forwarding = asyncio.ensure_future(self._forward(number, operation))
        return await asyncio.shield(operation.result)

    async def _forward(self, number: int, operation: PendingOperation) -> None:
        try:
            result = pack_long_sums(operation.kind, combine(operation.kind, operation.contributions))
            if not self._is_root:
                result = await self._call_parent(number, operation.kind, self._rank, result)
        except Exception as error:
            if not operation.result.done():
                operation.result.set_exception(error)
        else:
            if not operation.result.done():
                operation.result.set_result(result)
        finally:
            self._pending.pop(number, None)

    def abort(self, reason: str) -> None:
        """End all pending and later operations with a `WorkerLostError`."""
        self._failure = self._failure or reason
        for operation in list(self._pending.values()):
            if not operation.result.done():
                operation.result.set_exception(WorkerLostError(self._failure))
