"""Whole fits to the ones and sevens of MNIST, 15,170 x 400: few rows, many columns, many of them constant."""

from benchmarks import data
from benchmarks.competitors import installed
from benchmarks.results import Result
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import time_fits


def run(sizes: Sizes) -> Result:
    """Measure milliseconds of whole fits."""
    X, y = data.real("mnist17", sizes.real_rows)
    settings = Settings(rounds=sizes.rounds, depth=6)
    field = [one for one in installed() if not one.slow]
    return Result(
        title=f"Fit mnist17, {X.shape[0]:,} x {X.shape[1]}, {settings.rounds} rounds, depth 6",
        unit="ms",
        rows=time_fits(field, (X, y), {one.name: settings for one in field}, sizes.repeats, scale=1e3),
    )
