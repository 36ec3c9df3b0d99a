"""Binned form of 1,000,000 x 28 float32 rows, without learning anything from it."""

from benchmarks import data
from benchmarks.competitors import installed
from benchmarks.results import Result, Row
from benchmarks.settings import WARM_UP_ROWS, Settings, Sizes
from benchmarks.timing import race, seconds

NAMES = ("RadBoost default", "XGBoost", "LightGBM")


def run(sizes: Sizes) -> Result:
    """Measure milliseconds from a matrix in memory to bins."""
    X, y = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    settings = Settings(rounds=1, depth=6)
    field = installed(*NAMES)
    for competitor in field:
        competitor.construct(*data.first_rows((X, y), WARM_UP_ROWS), settings)
    best = race(field, sizes.repeats, lambda one: 1e3 * seconds(lambda: one.construct(X, y, settings)))
    return Result(
        title=f"Bin {sizes.large_rows:,} x {sizes.large_columns} float32",
        unit="ms",
        rows=[Row(one.name, best[one.name], ours=one.ours) for one in field],
        note="LightGBM's `Dataset.construct`, XGBoost's `QuantileDMatrix`; all with 255 bins.",
    )
