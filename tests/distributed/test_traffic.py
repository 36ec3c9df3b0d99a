"""What workers of a Dask cluster count of their exchanges."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from radboost.distributed.collective import TreeCollective
from radboost.distributed.worker import DaskCollective, n_bytes_of


def test_workers_count_what_they_exchange() -> None:
    """Two workers meet in the event loop of a thread, as they do on a cluster."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    trees: list[TreeCollective] = []
    sent: list[int] = []

    async def ask(number: int, kind: str, rank: int, contribution: Any) -> Any:
        sent.append(n_bytes_of(contribution))
        return await trees[0].contribute(number, kind, rank, contribution)

    trees.extend(TreeCollective(rank, 2, ask) for rank in range(2))

    def work(rank: int) -> Any:
        workers = DaskCollective(rank, 2, trees[rank], loop)
        numbers, few, largest = np.full(5000, rank + 1), np.array([2**40, rank]), np.array([rank - 0.5])
        workers.sum(numbers)
        workers.sum(few)
        workers.maximum(largest)
        assert set(numbers) == {3}
        assert few.tolist() == [2**41, 1]
        assert largest[0] == 0.5
        assert workers.gather(b"abc" * rank) == [b"", b"abc"]
        return workers.traffic

    try:
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(work, range(2)))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    for traffic in found:
        assert traffic.n_exchanges == 4
        assert traffic.seconds_waiting > 0.0
    assert sent[0] < 5100  # packed: a byte each
    assert sent[1:] == [16, 8, 3]


def test_a_worker_that_is_alone_exchanges_nothing() -> None:
    workers = DaskCollective(0, 1, None, None)  # type: ignore[arg-type]
    numbers = np.arange(3)
    workers.sum(numbers)
    assert numbers.tolist() == [0, 1, 2]
    assert workers.gather(b"x") == [b"x"]
    assert workers.traffic.n_exchanges == 0
