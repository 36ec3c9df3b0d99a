"""Seconds per tree on 1,000,000 x 28 generated float32 rows, depth 6."""

from __future__ import annotations

import math
from typing import Any

from benchmarks import data
from benchmarks.competitors import Competitor, installed
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import race, seconds


def run(sizes: Sizes) -> Result:
    """Divide the difference of a long and a short fit by the rounds between: work done once cancels."""
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=2)
    models: dict[tuple[str, int], Any] = {}
    field = installed()

    def settings(competitor: Competitor, end: int) -> Settings:
        return Settings(rounds=(sizes.slow_slope if competitor.slow else sizes.slope)[end], depth=6)

    def fit(competitor: Competitor, end: int) -> float:
        models.pop((competitor.name, end), None)  # its memory would count against the next fit

        def work() -> None:
            models[competitor.name, end] = competitor.fit(*train, settings(competitor, end))

        return seconds(work)

    short, long = (race(field, sizes.repeats, lambda one, end=end: fit(one, end)) for end in (0, 1))  # type: ignore[misc]

    def row(competitor: Competitor) -> Row:
        few, many = (competitor.rounds(models[competitor.name, end]) for end in (0, 1))
        least, most = short[competitor.name], long[competitor.name]
        return Row(
            competitor=competitor.name,
            figure=(most - least) / (many - few) if many > few and most > least else math.nan,
            ours=competitor.ours,
            error=competitor.error(models[competitor.name, 1], *test, settings(competitor, 1)),
            trees=competitor.trees(models[competitor.name, 1]),
            note=f"rounds {few}: {least:.2f} s, {many}: {most:.2f} s",
        )

    return Result(
        title=f"Fit {sizes.large_rows:,} x {sizes.large_columns}, depth 6",
        unit="s per tree",
        rows=[row(competitor) for competitor in field],
    )
