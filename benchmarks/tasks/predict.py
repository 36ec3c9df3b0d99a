"""Score 500,000 rows with 100 trees of depth 6."""

from typing import Any

from benchmarks import data
from benchmarks.competitors import COMPETITORS, Competitor
from benchmarks.results import Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.fitted import fitted_row
from benchmarks.timing import race, seconds


def run(sizes: Sizes) -> Result:
    """Seconds for one call on all rows; a slow competitor learns from fewer rows: its trees are as deep."""
    X, y = data.synthetic(sizes.predict_rows, sizes.large_columns, seed=2)
    train_X, train_y = data.synthetic(sizes.predict_train_rows, sizes.large_columns, seed=1)
    settings = Settings(rounds=sizes.predict_trees, depth=6)
    models: dict[str, Any] = {}
    for competitor in COMPETITORS.values():
        rows = sizes.predict_slow_train_rows if competitor.slow else sizes.predict_train_rows
        models[competitor.name] = competitor.fit(train_X[:rows], train_y[:rows], settings)

    def score(competitor: Competitor) -> float:
        return seconds(lambda: competitor.scores(models[competitor.name], X, settings))

    runs = race(COMPETITORS.values(), sizes.repeats, score)
    return Result(
        task="predict",
        title=f"Predict {sizes.predict_rows:,} rows, {sizes.predict_trees} trees, depth 6",
        unit="s",
        rows=[fitted_row(competitor, runs, models, (X, y), settings) for competitor in COMPETITORS.values()],
        targets=[
            Target(name, peer, ratio)
            for name, c in COMPETITORS.items()
            if c.ours
            for peer, ratio in (("XGBoost", 0.5), ("LightGBM", 0.12))
        ],
    )
