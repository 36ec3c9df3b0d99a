"""Workers in Python behind the native core."""

import numpy as np
import pytest

from collective_tools import ThreadGroup
from radboost import _native

MASK = (1 << 64) - 1


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_sums_of_128_bits(n_workers: int) -> None:
    rng = np.random.default_rng(0)
    values = [
        [int(rng.integers(-(2**62), 2**62)) << int(rng.integers(0, 50)) for _ in range(7)] for _ in range(n_workers)
    ]

    def work(rank: int, collective: _native.Collective) -> list[int]:
        own = values[rank]
        sums = _native.sums_of_128_bits(collective, [v >> 64 for v in own], [v & MASK for v in own])
        return [(high << 64) + low for high, low in sums]

    expected = [sum(column) for column in zip(*values, strict=True)]
    assert ThreadGroup(n_workers).run(work) == [expected] * n_workers


def test_the_error_of_one_worker_ends_all() -> None:
    def work(rank: int, collective: _native.Collective) -> None:
        if rank == 1:
            raise ZeroDivisionError("this worker failed")
        _native.sums_of_128_bits(collective, [0], [1])

    with pytest.raises(ZeroDivisionError, match="this worker failed"):
        ThreadGroup(3).run(work)


def test_a_method_that_is_missing_is_named() -> None:
    class Incomplete(_native.Collective):
        alone = False

    with pytest.raises(AttributeError, match="sum"):
        _native.sums_of_128_bits(Incomplete(), [0], [1])
