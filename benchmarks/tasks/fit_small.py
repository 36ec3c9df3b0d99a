"""Fit on 569 x 30 rows, depth 3: what a fit costs when there is little to do."""

from benchmarks import data
from benchmarks.competitors import COMPETITORS
from benchmarks.results import FASTEST, Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.whole_fit import time_fits


def run(sizes: Sizes) -> Result:
    """Milliseconds for the whole fit, errors on the training rows."""
    X, y = data.breast_cancer()
    settings = Settings(rounds=sizes.small_rounds, depth=3)
    field = list(COMPETITORS.values())
    rows = time_fits(field, (X, y), (X, y), dict.fromkeys(COMPETITORS, settings), sizes.repeats, scale=1e3)
    return Result(
        task="fit-small",
        title=f"Fit {X.shape[0]} x {X.shape[1]}, {settings.rounds} rounds, depth 3",
        unit="ms",
        rows=rows,
        targets=[Target(ours.competitor, FASTEST, 0.5) for ours in rows if ours.ours],
        note="Errors on the training rows.",
    )
