"""A small table with a column of every kind, for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HEADER = "id,size,colour,bought,when,empty,same,answer"


def lines(n_rows: int = 90, seed: int = 1) -> list[str]:
    """Rows as lines of CSV, without the one of names; the answer follows from size and colour."""
    rng = np.random.default_rng(seed)
    found = []
    for row in range(n_rows):
        size, colour = round(float(rng.normal()), 3), ("red", "green", "blue")[rng.integers(3)]
        answer = "yes" if (size > 0) != (colour == "red") else "no"
        shown = "?" if row % 17 == 5 else str(size)
        bought = "true" if rng.integers(2) else "false"
        found.append(f"k{row:03d},{shown}, {colour},{bought},2024-01-{1 + row % 28:02d},,7,{answer}")
    return found


def write_csv(path: Path, rows: list[str] | None = None, header: str = HEADER) -> str:
    """A file of these rows; returns its name."""
    path.write_text("\n".join([header, *(lines() if rows is None else rows)]) + "\n")
    return str(path)
