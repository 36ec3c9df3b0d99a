"""The small measurements that the constants of the model come from: minutes on a laptop, at most two workers busy."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.cluster.fitting import Outcome, Request, fit_locally, stored
from benchmarks.cluster.model import Constants, Shape, fit_costs, fit_serial, fit_transport
from benchmarks.cluster.ranks import fit_on_ranks
from benchmarks.cluster.workers import fit_on_workers
from benchmarks.data import Data
from benchmarks.growth.sweeps import many_classes
from benchmarks.timing import rest

SHAPES = (
    Shape(100_000),
    Shape(200_000),
    Shape(400_000),
    Shape(200_000, columns=14),
    Shape(200_000, columns=56),
    Shape(50_000, columns=112),
    Shape(200_000, depth=3),
    Shape(200_000, depth=8),
    Shape(100_000, classes=8),
    Shape(100_000, classes=16),
)
THREADED = Shape(1_000_000)
ROUNDS = (5, 35)
PING_SIZES = (8, 200_000, 2_000_000)
PING_WORKERS = {"Dask": (2, 3), "MPI": (2,)}
DEPTHS = (3, 6)


def rows_of(shape: Shape) -> Data:
    """Generated rows: those of the large benchmark, or of several classes."""
    if shape.classes > 2:
        return many_classes(int(shape.rows), shape.columns, shape.classes)
    return data.synthetic(int(shape.rows), shape.columns, seed=1)


def seconds_per_round(shape: Shape, threads: int, repeats: int) -> float:
    """Of one process: the slope between few and more rounds, the best of each."""
    train = rows_of(shape)
    best: dict[int, float] = {}
    for _ in range(repeats):
        for rounds in ROUNDS:
            rest()
            outcome = fit_locally(*train, rounds, shape.depth, threads)[1]
            best[rounds] = min(best.get(rounds, np.inf), outcome.seconds)
    return (best[ROUNDS[1]] - best[ROUNDS[0]]) / (ROUNDS[1] - ROUNDS[0])


def measure(repeats: int) -> dict[str, Any]:
    """Everything, for a file."""
    alone = [(asdict(shape), seconds_per_round(shape, 1, repeats)) for shape in SHAPES]
    threads = [seconds_per_round(THREADED, n, repeats) for n in (1, 2)]
    train = data.synthetic(20_000, 28, seed=1)
    pings: dict[str, list[tuple[int, int, float]]] = {}
    with stored(train) as folder:
        request = Request(folder, (1,) * repeats, depth=2, pings=PING_SIZES)
        for name, counts in PING_WORKERS.items():
            on = fit_on_workers if name == "Dask" else fit_on_ranks
            pings[name] = [ping for n in counts for ping in _pings(on(request, n), n)]
        counted = [fit_on_ranks(Request(folder, (10,), depth=depth), 2)[0] for depth in DEPTHS]
    with stored(many_classes(20_000, 28, 3)) as folder:
        several = fit_on_ranks(Request(folder, (10,), depth=DEPTHS[1]), 2)[0]
    with stored(data.synthetic(200_000, 28, seed=1)) as folder:
        prepared = fit_on_ranks(Request(folder, (1,) * repeats), 2)
        sent = fit_on_workers(Request(folder, (10,)), 2)[0].workers[1]
    return {
        "alone": alone,
        "threads": threads,
        "pings": pings,
        "exchanges": [(depth, _per_round(one, "exchanges")) for depth, one in zip(DEPTHS, counted, strict=True)],
        "several": _per_round(several, "exchanges"),
        "packing": sent["packed"] / sent["sent"],
        "sent": [(depth, _per_round(one, "sent"), one.histograms) for depth, one in zip(DEPTHS, counted, strict=True)],
        "preparing": min(one.workers[0]["preparing"] for one in prepared) / (100_000 * 28),
    }


def _pings(outcomes: list[Outcome], n_workers: int) -> list[tuple[int, int, float]]:
    """The best of several, each a median, of the slowest worker."""
    of_runs = [
        [max(seen["pings"][k][1] for seen in outcome.workers) for k in range(len(PING_SIZES))] for outcome in outcomes
    ]
    return [(n_workers, size, min(run[k] for run in of_runs)) for k, size in enumerate(PING_SIZES)]


def _per_round(outcome: Outcome, what: str) -> float:
    return float(outcome.workers[0][what]) / outcome.rounds


def constants(measured: dict[str, Any]) -> Constants:
    """What the model needs."""
    costs = fit_costs([(Shape(**shape), seconds) for shape, seconds in measured["alone"]])
    one, two = measured["threads"]
    (shallow, few), (deep, many) = measured["exchanges"]
    per_level = (many - few) / (deep - shallow)
    return Constants(
        costs=costs,
        serial=fit_serial(costs, [(THREADED, 2, one, two)]),
        exchanges=(few - per_level * shallow, per_level, measured["several"] - many),
        transports={name: fit_transport(found, tree=name == "Dask") for name, found in measured["pings"].items()},
        packing=measured["packing"],
        preparing=measured["preparing"],
    )
