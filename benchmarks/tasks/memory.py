"""Peak memory of a fit beyond its input, each competitor in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.competitors import ALL, Competitor, installed
from benchmarks.data import Data
from benchmarks.results import Result, Row
from benchmarks.settings import WARM_UP_ROWS, Settings, Sizes

MEGABYTE = 1e6


def run(sizes: Sizes) -> Result:
    """Measure megabytes of the large fit."""
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        store(Path(folder), train)
        rows = [
            Row(one.name, peak(one, Path(folder), Settings(_rounds(one, sizes), depth=6)), ours=one.ours)
            for one in installed()
        ]
    return Result(
        title=f"Peak memory beyond the input, fit {sizes.large_rows:,} x {sizes.large_columns}, {sizes.rounds} rounds",
        unit="MB",
        rows=rows,
        note="The input is loaded and the library has fitted a few rows before counting starts.",
    )


def _rounds(competitor: Competitor, sizes: Sizes) -> int:
    return sizes.slow_slope[1] if competitor.slow else sizes.rounds


def store(folder: Path, train: Data) -> None:
    """Write the rows where other processes read them."""
    for name, array in zip("Xy", train, strict=True):
        np.save(folder / f"{name}.npy", array)


def peak(competitor: Competitor, folder: Path, settings: Settings) -> float:
    """Measure megabytes that a fit takes beyond its input."""
    request = json.dumps(asdict(settings))
    command = [sys.executable, "-m", "benchmarks.tasks.memory", competitor.name, str(folder), request]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1]) / MEGABYTE


def resident(field: str) -> int:
    """VmRSS (now) or VmHWM (most so far) in bytes; getrusage would count the parent's peak too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}: the memory task needs Linux")


def _probe(name: str, folder: Path, settings: Settings) -> int:
    """Bytes that the peak of one fit lies above what was resident before it."""
    competitor = next(one for one in ALL if one.name == name)
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    competitor.fit(*data.first_rows((X, y), WARM_UP_ROWS), Settings(rounds=2, depth=settings.depth))
    # Linux then counts the peak anew: what the start of a library took is not the fit's
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    competitor.fit(X, y, settings)
    return resident("VmHWM") - before


if __name__ == "__main__":
    print(_probe(sys.argv[1], Path(sys.argv[2]), Settings(**json.loads(sys.argv[3]))))
