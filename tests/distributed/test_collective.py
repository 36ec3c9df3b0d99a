"""What workers bring to a meeting goes up a tree and comes down to all."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from collective_tools import ThreadGroup
from radboost.distributed.collective import BRANCHES, WorkerLostError, children_of, combine, parent_of
from radboost.engine import pack


@pytest.mark.parametrize("n_workers", [1, 2, 7, 9, 10, 30, 100])
def test_everybody_has_the_worker_above_it(n_workers: int) -> None:
    for rank in range(n_workers):
        assert len(children_of(rank, n_workers)) <= BRANCHES
        assert all(parent_of(one) == rank for one in children_of(rank, n_workers))
    assert sorted(one for rank in range(n_workers) for one in children_of(rank, n_workers)) == list(range(1, n_workers))


@pytest.mark.parametrize("n_workers", [1, 2, 9, 30])
def test_everybody_learns_what_all_have_brought(n_workers: int) -> None:
    def work(rank: int, workers: Any) -> Any:
        found = []
        for number in range(3):
            time.sleep(0.001 * ((rank * 7 + number) % 5))
            sums, largest = np.array([rank, 2**60 - rank]), np.array([rank / 4.0, -rank])
            workers.sum(sums)
            workers.maximum(largest)
            found.append((sums.tolist(), largest.tolist(), workers.gather(b"x" * rank)))
        return found

    ranks = np.arange(n_workers)
    sums = [int(ranks.sum()), sum(2**60 - rank for rank in range(n_workers))]
    wrapped = [(total + 2**63) % 2**64 - 2**63 for total in sums]
    expected = wrapped, [(n_workers - 1) / 4.0, 0.0], [b"x" * rank for rank in range(n_workers)]
    assert ThreadGroup(n_workers).run(work) == [[expected] * 3] * n_workers


def test_a_worker_that_gives_up_ends_the_meeting_of_all() -> None:
    found: dict[int, str] = {}

    def work(rank: int, workers: Any) -> None:
        if rank == 11:
            time.sleep(0.05)
            raise WorkerLostError("worker 11 is gone")
        for _ in range(2):  # those that wait, and those that come later
            with pytest.raises(WorkerLostError) as error:
                workers.sum(np.ones(1, dtype=np.int64))
            found[rank] = str(error.value)

    with pytest.raises(WorkerLostError, match="worker 11 is gone"):
        ThreadGroup(12).run(work)
    assert found == dict.fromkeys(range(11), "another worker has failed")


def test_workers_that_come_for_different_things() -> None:
    def work(rank: int, workers: Any) -> None:
        time.sleep(0.02 * rank)
        (workers.maximum if rank else workers.sum)(np.ones(1, dtype=float if rank else np.int64))

    with pytest.raises(RuntimeError, match="for 'maximum', others for 'sum'"):
        ThreadGroup(2).run(work)
    with pytest.raises(RuntimeError, match=r"\[1, 2\] numbers"):
        ThreadGroup(2).run(lambda rank, workers: workers.sum(np.ones(1 + rank, dtype=np.int64)))


def test_sums_of_many_numbers_take_few_bytes() -> None:
    numbers = [np.random.default_rng(rank).integers(-5, 6, 4000) for rank in range(12)]
    assert len(combine("sum", [pack(own) for own in numbers])) < 4100  # a byte each
    total = np.sum(numbers, axis=0).tolist()

    def work(rank: int, workers: Any) -> list[int]:
        workers.sum(numbers[rank])
        return numbers[rank].tolist()

    assert ThreadGroup(12).run(work) == [total] * 12
