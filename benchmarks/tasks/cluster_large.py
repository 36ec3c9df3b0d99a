"""Two workers of one thread beside one process of two threads, and beside other libraries on Dask."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from benchmarks import data
from benchmarks.cluster.competitors import FIELD, ClusterCompetitor
from benchmarks.cluster.competitors.base import Stage, stage
from benchmarks.cluster.fitting import BINS, Outcome, slope
from benchmarks.cluster.ranks import NoMPIError
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import rest

WORKERS = 2
DEPTH = 6
LOCAL, MPI, DASK = (name for name in FIELD if FIELD[name].ours)
MOST_BYTES = 1.2  # times the theory
MANY_ROWS = 10_000_000  # from here on Dask, whose exchanges take milliseconds, has to be near one process too


def run(sizes: Sizes) -> Result:
    """Seconds per round: the slope between few and many rounds; notes have the whole fit and the bytes."""
    rows = sizes.cluster_rows
    train = data.synthetic(rows, sizes.large_columns, seed=1)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    with stage(train, WORKERS) as there:
        runs, models = race(FIELD.values(), there, sizes)
    table = [
        row(competitor, runs[name], competitor.error(models.get(name), test), sizes.large_columns)
        for name, competitor in FIELD.items()
        if runs[name][0]
    ]
    there_too = {one.competitor for one in table}
    peers = [name for name in FIELD if not FIELD[name].ours]
    promised = [Target(ours, peer, 1.0) for ours in (MPI, DASK) for peer in peers]
    promised.append(Target(MPI if rows < MANY_ROWS else DASK, LOCAL, 1.5))
    targets = [target for target in promised if {target.ours, target.peer} <= there_too]
    versions = ", ".join(f"{name} {version(name)}" for name in ("dask", "xgboost", "lightgbm"))
    return Result(
        task="cluster",
        title=f"Fit {rows:,} x {sizes.large_columns}, depth {DEPTH}, two workers of one thread",
        unit="s per round",
        rows=table,
        targets=targets,
        note=f"{versions}. {same_models(runs)}",
    )


Runs = dict[str, tuple[list[Outcome], list[Outcome]]]


def race(field: Iterable[ClusterCompetitor], there: Stage, sizes: Sizes) -> tuple[Runs, dict[str, Any]]:
    """Fits of few and of many rounds; the competitors take turns. Without MPI its place stays empty."""
    competitors = list(field)
    runs: Runs = {competitor.name: ([], []) for competitor in competitors}
    models: dict[str, Any] = {}
    for competitor in competitors:  # loads the code of a library, on the workers too
        with suppress(NoMPIError):
            competitor.fit(there, Settings(1, DEPTH))
    for _ in range(sizes.cluster_repeats):
        for competitor in competitors:
            for end in (0, 1):
                rest()
                try:
                    outcome, models[competitor.name] = competitor.fit(there, Settings(sizes.cluster_slope[end], DEPTH))
                except NoMPIError:
                    continue
                runs[competitor.name][end].append(outcome)
    return runs, models


def row(
    competitor: ClusterCompetitor, runs: tuple[list[Outcome], list[Outcome]], error: float | None, columns: int
) -> Row:
    """A line of the table."""
    per_round, once = slope(*runs)
    longest = min(run.seconds for run in runs[1])
    note = f"{runs[1][0].rounds} rounds with reading and binning {longest:.2f} s, of which once {once:.2f} s"
    if runs[1][0].workers:
        note += "; " + traffic(runs[1][0], columns)
    return Row(
        competitor.name,
        per_round if per_round > 0 else math.nan,
        ours=competitor.ours,
        error=error,
        trees=runs[1][0].rounds,
        note=note,
        runs=[run.seconds for of_end in runs for run in of_end],
    )


def traffic(outcome: Outcome, columns: int) -> str:
    """What a worker sends for a tree, against smaller children x columns x bins x 8 bytes."""
    sent = outcome.workers[0]["sent"] / outcome.rounds
    theory = outcome.histograms * columns * BINS * 8
    exchanges = outcome.workers[0]["exchanges"] / outcome.rounds
    verdict = "met" if sent <= MOST_BYTES * theory else "MISSED"
    return (
        f"{exchanges:.1f} exchanges and {sent / 1e6:.2f} MB a tree, {sent / theory:.2f} of the theory "
        f"({theory / 1e6:.2f} MB; at most {MOST_BYTES:g}: {verdict})"
    )


def same_models(runs: Runs) -> str:
    """Whether all of ours ended with one model."""
    digests = {run.digest for _, many in runs.values() for run in many if run.digest}
    return (
        "All models of RadBoost are the same, bit for bit."
        if len(digests) == 1
        else f"RadBoost ended with {len(digests)} different models, which must not happen."
    )
