"""Label of a single row through scikit-learn's interface: what a call costs."""

import time
from typing import Any

from benchmarks import data
from benchmarks.competitors import Competitor, installed
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import race


def run(sizes: Sizes) -> Result:
    """Measure microseconds of one `predict`, the mean over many calls."""
    train = data.synthetic(sizes.train_rows, sizes.large_columns, seed=1)
    X, _ = data.synthetic(sizes.single_calls, sizes.large_columns, seed=2)
    settings = Settings(rounds=sizes.rounds, depth=6)
    field = [one for one in installed() if not one.slow]
    models: dict[str, Any] = {one.name: one.fit(*train, settings) for one in field}

    def call(competitor: Competitor) -> float:
        predict = models[competitor.name].predict
        rows = [X[i : i + 1] for i in range(len(X))]
        predict(rows[0])
        start = time.perf_counter()
        for row in rows:
            predict(row)
        return (time.perf_counter() - start) / len(rows) * 1e6

    best = race(field, sizes.repeats, call)
    return Result(
        title=f"Predict one row, {sizes.rounds} trees, depth 6",
        unit="µs",
        rows=[Row(one.name, best[one.name], ours=one.ours, trees=one.trees(models[one.name])) for one in field],
    )
