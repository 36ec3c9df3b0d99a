"""Predict the label of a single row through scikit-learn's interface: what a call costs."""

import time
from typing import Any

from benchmarks import data
from benchmarks.competitors import FAST, Competitor
from benchmarks.results import Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.fitted import fitted_row
from benchmarks.timing import race


def run(sizes: Sizes) -> Result:
    """Microseconds of one `predict` on a row of the test set, the mean over many calls."""
    train = data.synthetic(sizes.predict_train_rows, sizes.large_columns, seed=1)
    X, y = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    settings = Settings(rounds=sizes.predict_trees, depth=6)
    models: dict[str, Any] = {c.name: c.fit(*train, settings) for c in FAST.values()}

    def call(competitor: Competitor) -> float:
        predict = models[competitor.name].predict
        rows = [X[i : i + 1] for i in range(sizes.single_calls)]
        predict(rows[0])
        start = time.perf_counter()
        for row in rows:
            predict(row)
        return (time.perf_counter() - start) / len(rows) * 1e6

    runs = race(FAST.values(), sizes.repeats, call)
    return Result(
        task="predict-one",
        title=f"Predict one row, {sizes.predict_trees} trees, depth 6",
        unit="microseconds",
        rows=[fitted_row(competitor, runs, models, (X, y), settings) for competitor in FAST.values()],
        targets=[Target(name, "XGBoost", 0.3) for name, c in FAST.items() if c.ours],
    )
