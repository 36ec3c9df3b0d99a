"""Scores of 500,000 rows by 100 trees of depth 6."""

from typing import Any

from benchmarks import data
from benchmarks.competitors import installed
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import race, seconds


def run(sizes: Sizes) -> Result:
    """Measure seconds of one call on all rows; a slow competitor learns from fewer rows: its trees are as deep."""
    X, y = data.synthetic(sizes.predict_rows, sizes.large_columns, seed=2)
    train_X, train_y = data.synthetic(sizes.train_rows, sizes.large_columns, seed=1)
    settings = Settings(rounds=sizes.rounds, depth=6)
    models: dict[str, Any] = {}
    field = installed()
    for one in field:
        rows = sizes.slow_train_rows if one.slow else sizes.train_rows
        models[one.name] = one.fit(train_X[:rows], train_y[:rows], settings)
    best = race(field, sizes.repeats, lambda one: seconds(lambda: one.scores(models[one.name], X, settings)))
    return Result(
        title=f"Predict {sizes.predict_rows:,} rows, {sizes.rounds} trees, depth 6",
        unit="s",
        rows=[
            Row(
                one.name,
                best[one.name],
                ours=one.ours,
                error=one.error(models[one.name], X, y, settings),
                trees=one.trees(models[one.name]),
            )
            for one in field
        ],
    )
