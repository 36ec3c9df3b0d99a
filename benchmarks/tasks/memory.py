"""Peak memory of a fit beyond its input, each competitor in a process of its own; the task takes the large fit."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.competitors import COMPETITORS
from benchmarks.data import Data
from benchmarks.results import Result, Row, Target
from benchmarks.settings import WARM_UP_ROWS, Settings, Sizes

MEGABYTE = 1e6


def run(sizes: Sizes) -> Result:
    """Megabytes; the note of our rows holds what the project allows itself."""
    rows, columns, rounds = sizes.large_rows, sizes.large_columns, sizes.memory_rounds
    allowed = (2 * rows * columns + 64 * rows + rows * rounds / 8) / MEGABYTE
    settings = {
        name: Settings(rounds=sizes.slow_slope[1] if competitor.slow else rounds, depth=6)
        for name, competitor in COMPETITORS.items()
    }
    used = peaks(data.synthetic(rows, columns, seed=1), settings)
    table = []
    for name, competitor in COMPETITORS.items():
        ours = f"allowed {allowed:.0f} MB and the histograms"
        note = ours if competitor.ours else f"{settings[name].rounds} rounds"
        table.append(Row(name, used[name], ours=competitor.ours, note=note))
    return Result(
        task="memory",
        title=f"Peak memory beyond the input, fit {rows:,} x {columns}, depth 6, {rounds} rounds",
        unit="MB",
        rows=table,
        targets=[Target(row.competitor, "LightGBM", 0.5) for row in table if row.ours],
        note=(
            "RadBoost allows itself 2 bytes per cell, 64 bytes per row and one bit per row and tree: "
            f"{allowed:.0f} MB here, and the histograms. The input is loaded and the library has fitted a "
            "few rows before counting starts."
        ),
    )


def peaks(train: Data, settings: Mapping[str, Settings]) -> dict[str, float]:
    """Megabytes that a fit takes beyond its input, for each competitor with its settings."""
    used = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip("Xy", train, strict=True):
            np.save(Path(folder) / f"{name}.npy", array)
        for competitor, chosen in settings.items():
            request = json.dumps(asdict(chosen))
            command = [sys.executable, "-m", "benchmarks.tasks.memory", competitor, folder, request]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            used[competitor] = json.loads(answer.splitlines()[-1])["bytes"] / MEGABYTE
    return used


def _resident(field: str) -> int:
    """VmRSS (now) or VmHWM (most so far) in bytes; getrusage would count the parent's peak too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}: the memory task needs Linux")


def _probe(name: str, folder: str, settings: Settings) -> int:
    """Bytes that the peak of one fit lies above what was resident before it."""
    competitor = COMPETITORS[name]
    X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    competitor.fit(*data.first_rows((X, y), WARM_UP_ROWS), Settings(rounds=2, depth=settings.depth))
    # Linux then counts the peak anew: what the start of a library took is not the fit's
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    competitor.fit(X, y, settings)
    return _resident("VmHWM") - before


if __name__ == "__main__":
    print(json.dumps({"bytes": _probe(sys.argv[1], sys.argv[2], Settings(**json.loads(sys.argv[3])))}))
