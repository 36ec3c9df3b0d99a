"""Fits on several workers: what the benchmark counts, and the model of time and bytes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.cluster.fitting import Outcome, Request, estimator, fit_locally, slope
from benchmarks.cluster.watching import Watch, WatchedTask, smaller_children
from collective_tools import ThreadGroup
from distributed_tools import ThreadWorkers
from fingerprints import table
from radboost.distributed.learning import Task
from radboost.distributed.reading import Part


def tree(left: list[int]) -> Any:
    """A tree by the left child of each node; -1 for leaves."""
    return SimpleNamespace(n_nodes=len(left), left=np.array(left), feature=np.where(np.array(left) > 0, 0, -1))


@pytest.mark.parametrize(
    ("left", "depth", "expected"),
    [
        ([-1], 3, 1),  # the root is searched
        ([1, -1, -1], 1, 1),  # its children are not
        ([1, -1, -1], 2, 2),
        ([1, 3, 5, -1, -1, -1, -1], 2, 2),
        ([1, 3, 5, -1, -1, -1, -1], 3, 4),  # full: 2^(3 - 1)
        ([1, 3, -1, 5, -1, -1, -1], 3, 3),
    ],
)
def test_histograms_that_a_tree_needs(left: list[int], depth: int, expected: int) -> None:
    model = SimpleNamespace(max_depth=depth, ensemble_=SimpleNamespace(hypotheses=[tree(left)]))
    assert smaller_children(model) == expected


def test_the_slope_leaves_out_what_is_done_once() -> None:
    few, many = ([Outcome(3.0 + 0.5 * rounds + noise, rounds) for noise in (0.2, 0.0)] for rounds in (2, 10))
    assert slope(few, many) == pytest.approx((0.5, 3.0))


def test_a_request_survives_its_letter() -> None:
    import json
    from dataclasses import asdict

    request = Request("rows", (2, 4), delay=0.1, pings=(8,))
    assert Request.read(json.dumps(asdict(request))) == request


def test_what_workers_send_is_counted() -> None:
    group = ThreadGroup(2)

    def work(rank: int, _: Any) -> Watch:
        watch = Watch(ThreadWorkers(group, rank))
        watch.sum(np.ones(5, dtype=np.int64))
        watch.rounds_begin()
        numbers = np.full(3, rank + 1)
        watch.sum(numbers)
        assert numbers.tolist() == [3, 3, 3]
        largest = np.array([float(rank)])
        watch.maximum(largest)
        assert largest[0] == 1.0
        assert watch.gather(b"abc"[: rank + 1]) == [b"a", b"ab"]
        watch.end()
        return watch

    for rank, watch in enumerate(group.run(work)):
        assert (watch.seen.exchanges, watch.seen.sent) == (3, 24 + 8 + rank + 1)


def test_a_watched_fit_has_the_same_model() -> None:
    X, y = table(1, 120, 4)
    model, outcome = fit_locally(X, y, 3, 3, 1)
    group = ThreadGroup(2)
    task = WatchedTask(**vars(Task.of(estimator(3, 3, 1), weighted=False)), pings=(80,))

    def work(rank: int, _: Any) -> Any:
        return task.run([Part(X[rank::2], y[rank::2])], ThreadWorkers(group, rank), first=rank == 0)

    for watched in group.run(work):
        assert [tree.key() for tree in watched.ensemble_.hypotheses] == [
            tree.key() for tree in model.ensemble_.hypotheses
        ]
        for seen in watched.watched_:
            assert seen["exchanges"] > 0
            assert seen["sent"] > outcome.histograms * 4 * 8
            assert [size for size, _ in seen["pings"]] == [80]
