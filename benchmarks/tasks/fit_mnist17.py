"""Fit on the ones and sevens of MNIST, 15,170 x 400, depth 6: few rows, many columns, many of them constant."""

from dataclasses import replace

from benchmarks import data
from benchmarks.competitors import FAST
from benchmarks.results import FASTEST, Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.whole_fit import time_fits


def run(sizes: Sizes) -> Result:
    """Milliseconds for all of fit; the error is that of another fit, which does not see every fifth row."""
    X, y = data.real("mnist17", sizes.mnist17_rows)
    train, test = data.parted((X, y), every=5)
    settings = Settings(rounds=sizes.mnist17_rounds, depth=6)
    rows = time_fits(list(FAST.values()), (X, y), (X, y), dict.fromkeys(FAST, settings), sizes.repeats, scale=1e3)
    errors = {name: c.error(c.fit(*train, settings), *test, settings) for name, c in FAST.items()}
    return Result(
        task="fit-mnist17",
        title=f"Fit mnist17, {X.shape[0]:,} x {X.shape[1]}, {settings.rounds} rounds, depth 6",
        unit="ms",
        rows=[replace(row, error=errors[row.competitor]) for row in rows],
        targets=[Target(row.competitor, FASTEST, 0.5) for row in rows if row.ours],
        note="Errors on every fifth row, of fits to the other rows.",
    )
