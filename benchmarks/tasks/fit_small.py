"""Whole fits to 569 x 30 rows, depth 3: what a fit costs when there is little to do."""

from benchmarks import data
from benchmarks.competitors import installed
from benchmarks.results import Result
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import time_fits


def run(sizes: Sizes) -> Result:
    """Measure milliseconds of whole fits."""
    X, y = data.breast_cancer()
    settings = Settings(rounds=sizes.rounds, depth=3)
    field = installed()
    return Result(
        title=f"Fit {X.shape[0]} x {X.shape[1]}, {settings.rounds} rounds, depth 3",
        unit="ms",
        rows=time_fits(field, (X, y), {one.name: settings for one in field}, sizes.repeats, scale=1e3),
    )
