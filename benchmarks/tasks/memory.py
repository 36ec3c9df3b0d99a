"""Peak memory of the large fit beyond its input, each competitor in a process of its own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.competitors import COMPETITORS
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes

MEGABYTE = 1e6


def run(sizes: Sizes) -> Result:
    """Megabytes; the note of our rows holds what the project allows itself."""
    rows, columns, rounds = sizes.large_rows, sizes.large_columns, sizes.memory_rounds
    allowed = (2 * rows * columns + 64 * rows + rows * rounds / 8) / MEGABYTE
    table = []
    with tempfile.TemporaryDirectory() as folder:
        X, y = data.synthetic(rows, columns, seed=1)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        for name, competitor in COMPETITORS.items():
            few = sizes.slow_slope[1] if competitor.slow else rounds
            command = [sys.executable, "-m", "benchmarks.tasks.memory", name, folder, str(few)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            used = json.loads(answer.splitlines()[-1])["bytes"] / MEGABYTE
            note = f"allowed {allowed:.0f} MB and the histograms" if competitor.ours else f"{few} rounds"
            table.append(Row(name, used, ours=competitor.ours, note=note))
    return Result(
        task="memory",
        title=f"Peak memory beyond the input, fit {rows:,} x {columns}, depth 6, {rounds} rounds",
        unit="MB",
        rows=table,
        note=(
            "RadBoost allows itself 2 bytes per cell, 64 bytes per row and one bit per row and tree: "
            f"{allowed:.0f} MB here, and the histograms. The input is loaded and the library has fitted a "
            "few rows before counting starts."
        ),
    )


def _resident(field: str) -> int:
    """VmRSS (now) or VmHWM (most so far) in bytes; getrusage would count the parent's peak too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}: the memory task needs Linux")


def _probe(name: str, folder: str, rounds: int) -> int:
    """Bytes that the peak of one fit lies above what was resident before it."""
    competitor = COMPETITORS[name]
    X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    competitor.fit(X[:1000], y[:1000], Settings(rounds=2, depth=6))
    before = _resident("VmRSS")
    competitor.fit(X, y, Settings(rounds=rounds, depth=6))
    return _resident("VmHWM") - before


if __name__ == "__main__":
    print(json.dumps({"bytes": _probe(sys.argv[1], sys.argv[2], int(sys.argv[3]))}))
