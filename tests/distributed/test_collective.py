"""What workers bring to a meeting goes up a tree and comes down to all."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from radboost.distributed.collective import (
    BRANCHES,
    TreeCollective,
    WorkerLostError,
    children_of,
    combine,
    parent_of,
)
from radboost.engine import add_packed, pack


def collectives(n_workers: int) -> list[TreeCollective]:
    trees: list[TreeCollective] = []

    def asking(rank: int) -> Any:
        return lambda kind, given: trees[parent_of(rank)].contribute(kind, rank, given)

    trees.extend(TreeCollective(rank, n_workers, asking(rank)) for rank in range(n_workers))
    return trees


def packed(*numbers: int) -> bytes:
    return pack(np.array(numbers))


def unpacked(data: bytes) -> list[int]:
    sums = np.zeros(int.from_bytes(data[:8], "little"), dtype=np.int64)
    add_packed(data, sums)
    return sums.tolist()


@pytest.mark.parametrize("n_workers", [1, 2, 7, 9, 10, 30, 100])
def test_everybody_has_the_worker_above_it(n_workers: int) -> None:
    for rank in range(n_workers):
        assert len(children_of(rank, n_workers)) <= BRANCHES
        assert all(parent_of(one) == rank for one in children_of(rank, n_workers))
    assert sorted(one for rank in range(n_workers) for one in children_of(rank, n_workers)) == list(range(1, n_workers))


@pytest.mark.parametrize("n_workers", [2, 9, 30])
def test_everybody_learns_what_all_have_brought(n_workers: int) -> None:
    async def work(tree: TreeCollective, rank: int) -> list[Any]:
        found = []
        for number in range(3):
            await asyncio.sleep(0.001 * ((rank * 7 + number) % 5))
            found.append(await tree.contribute("sum", rank, packed(rank, 2**60 - rank)))
            found.append(await tree.contribute("maximum", rank, np.array([rank / 4.0, -rank])))
            found.append(await tree.contribute("gather", rank, {rank: b"x" * rank}))
        return found

    async def everybody() -> list[list[Any]]:
        return await asyncio.gather(*(work(tree, rank) for rank, tree in enumerate(collectives(n_workers))))

    ranks = np.arange(n_workers)
    sums = [int(ranks.sum()), sum(2**60 - rank for rank in range(n_workers))]
    for found in asyncio.run(everybody()):
        for tree in range(0, 9, 3):
            assert unpacked(found[tree]) == [(total + 2**63) % 2**64 - 2**63 for total in sums]
            assert found[tree + 1].tolist() == [(n_workers - 1) / 4.0, 0.0]
            assert found[tree + 2] == {rank: b"x" * rank for rank in range(n_workers)}


def test_a_worker_that_gives_up_ends_the_meeting_of_all() -> None:
    async def everybody() -> list[Any]:
        trees = collectives(12)
        waiting = [
            asyncio.ensure_future(tree.contribute("sum", rank, packed(1)))
            for rank, tree in enumerate(trees)
            if rank != 11
        ]
        await asyncio.sleep(0.01)
        for tree in trees:
            tree.abort("worker 11 is gone")
        found = await asyncio.gather(*waiting, return_exceptions=True)
        with pytest.raises(WorkerLostError):
            await trees[4].contribute("sum", 4, packed(1))
        return found

    for error in asyncio.run(everybody()):
        assert isinstance(error, WorkerLostError)
        assert str(error) == "worker 11 is gone"


def test_workers_that_come_for_different_things() -> None:
    async def both() -> list[Any]:
        tree = collectives(2)[0]
        first = asyncio.ensure_future(tree.contribute("sum", 0, packed(1)))
        await asyncio.sleep(0)
        found = await asyncio.gather(tree.contribute("maximum", 1, np.ones(1)), return_exceptions=True)
        first.cancel()
        return found

    (error,) = asyncio.run(both())
    assert "for 'maximum', others for 'sum'" in str(error)
    with pytest.raises(RuntimeError, match=r"\[1, 2\] numbers"):
        combine("sum", [packed(1), packed(1, 1)])


def test_sums_of_many_numbers_take_few_bytes() -> None:
    numbers = [np.random.default_rng(rank).integers(-5, 6, 4000) for rank in range(12)]
    total = combine("sum", [pack(own) for own in numbers])
    assert len(total) < 4100  # a byte each
    assert unpacked(total) == np.sum(numbers, axis=0).tolist()
