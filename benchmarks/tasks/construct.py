"""The binned form of 1,000,000 x 28 float32 rows, without learning anything from it."""

from benchmarks import data
from benchmarks.competitors import COMPETITORS, Competitor
from benchmarks.results import Result, Row, Target
from benchmarks.settings import WARM_UP_ROWS, Settings, Sizes
from benchmarks.timing import race, seconds

OURS = "RadBoost default"
FIELD = (OURS, "XGBoost", "LightGBM")


def run(sizes: Sizes) -> Result:
    """Milliseconds from a matrix in memory to bins."""
    X, y = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    settings = Settings(rounds=1, depth=6)
    field = [COMPETITORS[name] for name in FIELD]

    def construct(competitor: Competitor) -> float:
        return seconds(lambda: competitor.construct(X, y, settings))

    for competitor in field:
        competitor.construct(*data.first_rows((X, y), WARM_UP_ROWS), settings)
    runs = race(field, sizes.repeats, construct)
    return Result(
        task="construct",
        title=f"Construct the binned data, {sizes.large_rows:,} x {sizes.large_columns} float32",
        unit="ms",
        rows=[
            Row(c.name, 1e3 * min(runs[c.name]), ours=c.ours, runs=[1e3 * run for run in runs[c.name]]) for c in field
        ],
        targets=[Target(OURS, "LightGBM", 0.4)],
        note="LightGBM's `Dataset.construct`, XGBoost's `QuantileDMatrix`; all with 255 bins. Nothing is learnt.",
    )
