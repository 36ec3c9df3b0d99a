"""Fits on several workers: what the benchmark counts, and the model of time and bytes."""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.cluster import network
from benchmarks.cluster.fitting import Outcome, Request, estimator, fit_locally, slope, stored
from benchmarks.cluster.model import (
    Cluster,
    Constants,
    Shape,
    Transport,
    break_even,
    fit_costs,
    fit_memory,
    fit_serial,
    fit_transport,
    levels,
    predict,
)
from benchmarks.cluster.watching import Watch, WatchedTask, smaller_children
from benchmarks.cluster.workers import fit_in_places
from benchmarks.settings import Sizes
from collective_tools import ThreadGroup
from distributed_tools import ThreadWorkerCollective, divide
from fingerprints import table
from radboost.distributed.learning import FitTask


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
    request = Request("rows", (2, 4), delay=0.1, pings=(8,))
    assert Request.read(json.dumps(asdict(request))) == request


def test_what_workers_send_is_counted() -> None:
    group = ThreadGroup(2)

    def work(rank: int, _: Any) -> Watch:
        watch = Watch(ThreadWorkerCollective(group, rank))
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
    group, parts = ThreadGroup(2), divide(X, y, None, 5)
    task = WatchedTask(**vars(FitTask.of(estimator(3, 3, 1), weighted=False)), pings=(80,))

    def work(rank: int, _: Any) -> Any:
        return task.run(parts[rank::2], ThreadWorkerCollective(group, rank), first=rank == 0)

    for watched in group.run(work):
        assert [tree.key() for tree in watched.ensemble_.hypotheses] == [
            tree.key() for tree in model.ensemble_.hypotheses
        ]
        for seen in watched.watched_:
            assert seen["exchanges"] > 0
            assert seen["sent"] > outcome.histograms * 4 * 8
            assert [size for size, _ in seen["pings"]] == [80]


COSTS = (2e-9, 3e-10, 4e-9, 8e-9, 1e-9, 5e-5)
DASK, MPI = Transport(2e-3, 5e-4, 3e-9), Transport(5e-6, 0.0, 4e-10, tree=False)
CONSTANTS = Constants(COSTS, 0.1, (3.0, 1.0, 2.0), {"Dask": DASK, "MPI": MPI})


@pytest.mark.parametrize(
    ("n_workers", "expected"),
    [(1, []), (2, [1]), (3, [2]), (9, [8]), (10, [8, 1]), (17, [8, 8]), (64, [8, 8]), (73, [8, 8]), (74, [8, 8, 1])],
)
def test_the_tree_of_workers(n_workers: int, expected: list[int]) -> None:
    assert levels(n_workers) == expected


def slow_tree(n_workers: int, size: float, bandwidth: float) -> float:
    """An exchange message by message: a link carries one at a time; answers go down when the sum is there."""
    children = {rank: [one for one in range(1, n_workers) if (one - 1) // 8 == rank] for rank in range(n_workers)}

    def up(rank: int) -> float:
        return max(map(up, children[rank]), default=0.0) + len(children[rank]) * size / bandwidth

    def down(rank: int) -> float:
        return len(children[rank]) * size / bandwidth + max(map(down, children[rank]), default=0.0)

    return up(0) + down(0)


@pytest.mark.parametrize("n_workers", [2, 3, 9, 64, 73])
def test_bandwidth_in_a_tree_is_that_of_its_busiest_links(n_workers: int) -> None:
    transport = Transport(0.0)
    assert transport.seconds(n_workers, 1e6, 1e8) == pytest.approx(slow_tree(n_workers, 1e6, 1e8))


def test_bytes_do_not_depend_on_rows_or_workers() -> None:
    assert Shape(1e6).sent == Shape(1e9).sent == 32 * 28 * 255 * 8
    assert Shape(1, classes=26).sent == 13 * Shape(1).sent
    found = [predict(CONSTANTS, Shape(1e6), Cluster(n)).sent for n in (2, 64)]
    assert found == [Shape(1).sent] * 2


def test_constants_are_found_again() -> None:
    shapes = [
        Shape(n, d, k, c)
        for n, d, k, c in ((1e5, 28, 6, 2), (4e5, 28, 6, 2), (2e5, 14, 3, 2), (2e5, 56, 8, 2), (1e5, 112, 2, 8))
    ] + [Shape(5e4, 7, 4, 16), Shape(1e3, 3, 1, 2)]
    measured = [(shape, sum(CONSTANTS.compute(shape))) for shape in shapes]
    assert fit_costs(measured) == pytest.approx(COSTS, rel=1e-6)
    by_threads = [(shape, 4, *(sum(CONSTANTS.compute(shape, 1, n)) for n in (1, 4))) for shape in shapes[:3]]
    assert fit_serial(COSTS, by_threads) == pytest.approx(CONSTANTS.serial)
    for transport, counts in ((DASK, (2, 3)), (MPI, (2,))):
        pings = [(n, size, transport.seconds(n, size)) for n in counts for size in (8, 10**5, 10**6)]
        assert asdict(fit_transport(pings, tree=transport.tree)) == pytest.approx(asdict(transport))


def test_memory_of_a_row_is_found_again() -> None:
    constants = replace(CONSTANTS, per_row=40.0, process=2e8)
    peaks = [(n, constants.memory(Shape(2 * n, 10), 2) - 2 * Shape(1, 10).sent) for n in (1e6, 3e6)]
    assert fit_memory(peaks, 10) == pytest.approx((40.0, 2e8))


def test_a_prediction_is_the_sum_of_its_parts() -> None:
    shape = Shape(1e6)
    alone = predict(CONSTANTS, shape, Cluster(1))
    assert alone.exchange == 0.0
    two = predict(CONSTANTS, shape, Cluster(2, gigabits=1.0, delay=0.01))
    messages = CONSTANTS.n_exchanges(shape) * (DASK.latency + 0.01)
    assert two.network == pytest.approx(2 * shape.sent * 8 / 1e9)
    assert two.exchange == pytest.approx(messages + two.network + 2 * shape.sent * DASK.per_byte)
    assert predict(CONSTANTS, shape, Cluster(8, cores=2)).compute == pytest.approx(
        4 * predict(CONSTANTS, shape, Cluster(8)).compute
    )
    even = break_even(CONSTANTS, shape, Cluster(2))
    at = predict(CONSTANTS, shape, Cluster(2, gigabits=even))
    assert at.network == pytest.approx(at.compute)
    assert math.isinf(Cluster(2).gigabits)


def test_the_page_and_its_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = pytest.importorskip("benchmarks.cluster.page")
    shapes = [Shape(1e5), Shape(4e5), Shape(2e5, 14, 3), Shape(2e5, 56, 8), Shape(1e5, classes=8), Shape(5e4, 7, 4, 16)]
    small = {
        "alone": [(asdict(shape), sum(CONSTANTS.compute(shape))) for shape in shapes],
        "threads": [sum(CONSTANTS.compute(Shape(1e6), 1, n)) for n in (1, 2)],
        "pings": {
            "Dask": [(n, size, DASK.seconds(n, size)) for n in (2, 3) for size in (8, 10**6)],
            "MPI": [(2, size, MPI.seconds(2, size)) for size in (8, 10**6)],
        },
        "exchanges": [(3, 6.0), (6, 9.0)],
        "several": 11.0,
        "packing": 1.0,
        "sent": [(3, 2e5, 4.0), (6, 2e6, 32.0)],
        "preparing": 1e-8,
    }
    checks = []
    for kind, cluster in (
        ("workers", Cluster(2, cores=2)),
        ("workers", Cluster(4, cores=2)),
        ("bandwidth", Cluster(2, transport="MPI", gigabits=0.1)),
        ("latency", Cluster(2, delay=0.01)),
    ):
        seconds = 2 * predict(CONSTANTS, Shape(1e6), cluster).seconds
        fields = {"kind": kind, "shape": asdict(Shape(1e6)), "cluster": asdict(cluster)}
        checks.append(fields | {"seconds": seconds, "sent": 1e6, "exchanges": 9.0, "histograms": 32.0})
    parts = page.parts({"small": small, "checks": checks})
    assert list(parts) == ["constants", "far", "checks"]
    assert all(line.endswith("| -50% |") for line in parts["checks"][2:])
    assert len(parts["far"]) == 2 + 3 * 2 * 3
    page.draw({"small": small, "checks": checks}, tmp_path)
    assert len(list(tmp_path.glob("scaling-*.png"))) == 4


@pytest.mark.slow
def test_the_race() -> None:
    for library in ("catboost", "lightgbm", "xgboost", "distributed"):
        pytest.importorskip(library)
    task = pytest.importorskip("benchmarks.tasks.cluster_large")
    result = task.run(replace(Sizes.quick(), cluster_rows=2_000, large_test_rows=500, cluster_slope=(2, 4)))
    assert "the same, bit for bit" in result.note
    assert {"RadBoost, one process", "RadBoost, Dask", "XGBoost, Dask", "LightGBM, Dask"} <= {
        row.competitor for row in result.rows
    }
    for row in result.rows:
        assert row.ours == row.competitor.startswith("RadBoost")
        assert row.error is None or row.error < 0.5
        assert (" of the theory" in row.note) == (row.competitor in ("RadBoost, MPI", "RadBoost, Dask"))


@pytest.mark.slow
def test_workers_in_networks_of_their_own() -> None:
    pytest.importorskip("distributed")
    X, y = table(1, 300, 4)
    expected = fit_locally(X, y, 3, 3, 1)[1]
    with stored((X, y)) as folder:
        try:
            with network.shaped(3, 500.0) as places:
                (outcome,) = fit_in_places(Request(folder, (3,), depth=3), places)
        except network.NoNamespacesError as error:
            pytest.skip(str(error))
    assert outcome.digest == expected.digest
    assert len(outcome.workers) == 2
    left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert not [place for place in places if place.name in left]
