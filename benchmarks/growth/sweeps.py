"""Fits whose size grows in one direction, all else equal."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import data
from benchmarks.competitors import COMPETITORS
from benchmarks.data import Data
from benchmarks.settings import WARM_UP_ROWS, Settings
from benchmarks.tasks.memory import peaks
from benchmarks.timing import seconds

SERIES = ("RadBoost default", "RadBoost gini")
LONG_SECONDS = 3.0  # what takes longer is measured once


@dataclass(frozen=True)
class Point:
    """One fit: what was varied, and seconds (or megabytes)."""

    series: str
    x: float
    y: float


@dataclass(frozen=True)
class Sweep:
    """What is varied, over which values, with what else."""

    name: str
    title: str
    axis: str
    values: tuple[int, ...]
    make: Callable[[int], tuple[Data, Settings]]
    unit: str = "s"


def many_classes(rows: int, columns: int, classes: int) -> Data:
    """Normal columns; the class is the angle of two of them, and noise."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    angle = np.arctan2(X[:, 0] + 0.3 * X[:, 2], X[:, 1]) / (2 * np.pi) + 0.5
    return X, np.minimum((angle * classes).astype(np.int64), classes - 1)


def _large(rows: int, columns: int = 28) -> Data:
    return data.synthetic(rows, columns, seed=1)


def _all_threads() -> tuple[int, ...]:
    cores = os.cpu_count() or 1
    return tuple(sorted({1, cores, *(2**k for k in range(cores.bit_length()) if 2**k <= cores)}))


ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep(
            "rows", "28 columns, depth 6, 20 rounds", "rows", ROWS, lambda n: (_large(n), Settings(rounds=20, depth=6))
        ),
        Sweep(
            "columns",
            "20,000 rows, depth 6, 20 rounds",
            "columns",
            (8, 16, 32, 64, 128, 256, 512, 1024),
            lambda d: (_large(20_000, d), Settings(rounds=20, depth=6)),
        ),
        Sweep(
            "depth",
            "200,000 rows, 28 columns, 20 rounds",
            "depth",
            (1, 2, 3, 4, 6, 8, 10, 12),
            lambda k: (_large(200_000), Settings(rounds=20, depth=k)),
        ),
        Sweep(
            "classes",
            "50,000 rows, 16 columns, depth 6, 20 rounds",
            "classes",
            (2, 3, 4, 8, 16, 32, 64),
            lambda c: (many_classes(50_000, 16, c), Settings(rounds=20, depth=6)),
        ),
        Sweep(
            "rounds",
            "50,000 rows, 28 columns, depth 6",
            "rounds",
            (10, 20, 40, 80, 160, 320),
            lambda t: (_large(50_000), Settings(rounds=t, depth=6)),
        ),
        Sweep(
            "threads",
            "1,000,000 rows, 28 columns, depth 6, 20 rounds",
            "threads",
            _all_threads(),
            lambda n: (_large(1_000_000), Settings(rounds=20, depth=6, threads=n)),
        ),
        Sweep(
            "memory",
            "28 columns, depth 6, 20 rounds",
            "rows",
            ROWS,
            lambda n: (_large(n), Settings(rounds=20, depth=6)),
            unit="MB beyond the input",
        ),
    )
}


def run(sweep: Sweep, most: int | None = None) -> list[dict[str, object]]:
    """All points up to the value `most`; times are the best of three, long ones are measured once."""
    points = []
    for value in sweep.values:
        if most is not None and value > most:
            break
        train, settings = sweep.make(value)
        if sweep.unit != "s":
            used = peaks(train, dict.fromkeys(SERIES, settings))
            points += [Point(name, value, used[name]) for name in SERIES]
            continue
        for name in SERIES:
            points.append(Point(name, value, _best_time(name, train, settings)))
    return [asdict(point) for point in points]


def _best_time(name: str, train: Data, settings: Settings) -> float:
    competitor = COMPETITORS[name]
    competitor.fit(*data.first_rows(train, WARM_UP_ROWS), settings)
    times = [seconds(lambda: competitor.fit(*train, settings))]
    while len(times) < 3 and times[0] < LONG_SECONDS:
        times.append(seconds(lambda: competitor.fit(*train, settings)))
    return min(times)
