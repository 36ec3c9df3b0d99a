"""Gradient boosting on 1,000,000 x 28 generated rows, trees of 64 leaves: one candidate a round, and seven."""

from benchmarks import data
from benchmarks.competitors import installed
from benchmarks.results import Result
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import time_fits

NAMES = ("RGB, 1 candidate", "RGB, 7 candidates", "XGBoost", "LightGBM", "LightGBM quantized", "HistGradientBoosting")


def run(sizes: Sizes) -> Result:
    """Measure seconds of whole fits, binning included."""
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    settings = Settings(rounds=sizes.rounds, depth=6, leaf_wise=True)
    field = installed(*NAMES)
    return Result(
        title=f"Gradient boosting {sizes.large_rows:,} x {sizes.large_columns}, {settings.rounds} rounds, 64 leaves",
        unit="s",
        rows=time_fits(field, train, {one.name: settings for one in field}, sizes.repeats, test=test),
        note="All grow leaf by leaf, at any depth. The seven candidates of a round are prefixes of one tree.",
    )
