"""Rounds on this machine with more workers, slower networks and slower messages, to hold against the model.

Nothing measured here goes into the constants of the model.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.cluster.fitting import Outcome, Request, fit_locally, stored
from benchmarks.cluster.model import Cluster, Constants, Shape, predict
from benchmarks.cluster.network import NoNamespacesError, over_tcp, shaped
from benchmarks.cluster.ranks import fit_on_ranks
from benchmarks.cluster.small import rows_of
from benchmarks.cluster.workers import fit_in_places, fit_on_workers

ROUNDS = (5, 25)
CORES = os.cpu_count() or 1
WORKERS = (1, 2, 4, 8)
GIGABITS = (0.1, 0.2, 0.5, 1.0)
DELAYS = (0.002, 0.01, 0.03)
SHAPE = Shape(1_000_000)
SMALLER = Shape(200_000)


@dataclass(frozen=True)
class Check:
    """One measurement, and what it is held against."""

    kind: str
    shape: Shape
    cluster: Cluster


def all_checks() -> list[Check]:
    """More workers, slower networks, slower messages, other shapes."""
    checks = [Check("workers", SHAPE, Cluster(n, 1, name, cores=CORES)) for name in ("MPI", "Dask") for n in WORKERS]
    for name in ("MPI", "Dask"):
        for workers in (2, 3):
            checks += [Check("bandwidth", SMALLER, Cluster(workers, 1, name, g, cores=CORES)) for g in GIGABITS]
        checks += [Check("latency", SMALLER, Cluster(2, 1, name, delay=delay, cores=CORES)) for delay in DELAYS]
    others = (Shape(1_000_000, depth=3), Shape(200_000, columns=112), Shape(200_000, classes=26))
    return checks + [Check("shape", shape, Cluster(2, 1, "MPI", cores=CORES)) for shape in others]


def measure(check: Check, folder: str, repeats: int) -> dict[str, Any] | None:
    """Seconds and bytes per round, the best of several; None where this machine has no such network."""
    cluster, shape = check.cluster, check.shape
    request = Request(folder, ROUNDS * repeats, shape.depth, cluster.threads, delay=cluster.delay)
    try:
        outcomes = _fitted(check, request)
    except NoNamespacesError as error:
        print(f"left out: {error}", flush=True)
        return None
    few, many = (min(_rounds(one) for one in outcomes if one.rounds == n) for n in ROUNDS)
    last = outcomes[-1]
    return {
        "kind": check.kind,
        "shape": asdict(shape),
        "cluster": asdict(cluster),
        "seconds": (many - few) / (ROUNDS[1] - ROUNDS[0]),
        "sent": last.workers[0]["sent"] / last.rounds if last.workers else 0.0,
        "exchanges": last.workers[0]["exchanges"] / last.rounds if last.workers else 0.0,
        "histograms": last.histograms,
    }


def _fitted(check: Check, request: Request) -> list[Outcome]:
    cluster, n = check.cluster, check.cluster.workers
    on_mpi = cluster.transport == "MPI"
    if n == 1:
        train = rows_of(check.shape)
        return [fit_locally(*train, rounds, request.depth, request.threads)[1] for rounds in request.rounds]
    if math.isinf(cluster.gigabits):
        return fit_on_ranks(request, n) if on_mpi else fit_on_workers(request, n)
    with shaped(n + (not on_mpi), cluster.gigabits * 1e3) as places:
        if on_mpi:
            return fit_on_ranks(request, n, before=[place.words for place in places], environment=over_tcp(places))
        return fit_in_places(request, places)


def _rounds(outcome: Outcome) -> float:
    """The seconds of the rounds; of one process the whole fit, whose beginning falls out of the slope."""
    return max((seen["rounds"] for seen in outcome.workers), default=outcome.seconds)


def run(chosen: Sequence[Check], repeats: int, keep: Callable[[dict[str, Any]], None]) -> None:
    """Measure each, and keep it at once."""
    shapes = list(dict.fromkeys(check.shape for check in chosen))
    for shape in shapes:
        with stored(rows_of(shape)) as folder:
            for check in chosen:
                if check.shape == shape and (found := measure(check, folder, repeats)) is not None:
                    keep(found)


def read(fields: dict[str, Any]) -> Check:
    """The check of a measurement that was kept."""
    return Check(fields["kind"], Shape(**fields["shape"]), Cluster(**fields["cluster"]))


def predicted(constants: Constants, fields: dict[str, Any]) -> float:
    """Seconds per round by the model."""
    check = read(fields)
    return predict(constants, check.shape, check.cluster).seconds
