"""Gradient boosting on 1,000,000 x 28 synthetic rows, 100 rounds, 64 leaves: one candidate a round, and seven."""

from benchmarks import data
from benchmarks.competitors.leaf_wise import LEAF_WISE
from benchmarks.competitors.rgb import RGB, RGBSevenCandidates
from benchmarks.results import Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.whole_fit import time_fits


def run(sizes: Sizes) -> Result:
    """Seconds of a whole fit, binning included."""
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    field = [RGB(), RGBSevenCandidates(), *LEAF_WISE]
    settings = Settings(rounds=sizes.rgb_rounds, depth=6)
    rows = time_fits(field, train, test, {competitor.name: settings for competitor in field}, sizes.repeats)
    return Result(
        task="rgb-large",
        title=f"Gradient boosting {sizes.large_rows:,} x {sizes.large_columns}, {settings.rounds} rounds, 64 leaves",
        unit="s",
        rows=rows,
        targets=[
            Target(RGB.name, "XGBoost", 0.7),
            Target(RGB.name, "LightGBM", 0.5),
            Target(RGBSevenCandidates.name, RGB.name, 2.5),
        ],
        note="All grow leaf by leaf, at any depth. The seven candidates of a round are prefixes of one tree.",
    )
