"""Fit on 1,000,000 x 28 synthetic float32 rows, depth 6."""

from benchmarks import data
from benchmarks.results import Result, Target
from benchmarks.settings import Sizes
from benchmarks.tasks.slope import seconds_per_tree

FULL_SEARCH = {"XGBoost": 0.45, "LightGBM": 0.35, "LightGBM quantised": 0.5, "HistGradientBoosting": 0.35}


def run(sizes: Sizes) -> Result:
    """Seconds per tree for everybody; RadBoost's full search and its default have promises to keep."""
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    full_search = ("RadBoost edge", "RadBoost gini")
    return Result(
        task="fit-large",
        title=f"Fit {sizes.large_rows:,} x {sizes.large_columns}, depth 6",
        unit="s per tree",
        rows=seconds_per_tree(train, test, sizes, depth=6),
        targets=[
            *(Target(ours, peer, ratio) for ours in full_search for peer, ratio in FULL_SEARCH.items()),
            Target("RadBoost default", "XGBoost", 0.3),
        ],
    )
