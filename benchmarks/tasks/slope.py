"""Seconds per tree, shared by the tasks that fit many rounds."""

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.competitors import COMPETITORS, Competitor
from benchmarks.data import Data
from benchmarks.results import Row
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import race, seconds


class _Slope:
    """Fits of few and of many rounds, with the last model of each kept for its rounds and its error."""

    def __init__(self, train: Data, sizes: Sizes, depth: int, field: Sequence[Competitor]) -> None:
        self.train, self.sizes, self.depth = train, sizes, depth
        self.models: dict[tuple[str, int], Any] = {}
        self.runs = [race(list(field), sizes.repeats, fit) for fit in (self.fit_few, self.fit_many)]

    def settings(self, competitor: Competitor, end: int) -> Settings:
        ends = self.sizes.slow_slope if competitor.slow else self.sizes.slope
        return Settings(rounds=ends[end], depth=self.depth)

    def fit(self, competitor: Competitor, end: int) -> float:
        key, settings = (competitor.name, end), self.settings(competitor, end)
        self.models.pop(key, None)  # its memory would count against the next fit

        def work() -> None:
            self.models[key] = competitor.fit(*self.train, settings)

        return seconds(work)

    def fit_few(self, competitor: Competitor) -> float:
        return self.fit(competitor, 0)

    def fit_many(self, competitor: Competitor) -> float:
        return self.fit(competitor, 1)

    def row(self, competitor: Competitor, test: Data) -> Row:
        name = competitor.name
        few, many = (competitor.rounds(self.models[name, end]) for end in (0, 1))
        least, most = (min(self.runs[end][name]) for end in (0, 1))
        model = self.models[name, 1]
        return Row(
            competitor=name,
            figure=(most - least) / (many - few) if many > few and most > least else math.nan,
            ours=competitor.ours,
            error=competitor.error(model, *test, self.settings(competitor, 1)),
            trees=competitor.trees(model),
            note=f"rounds {few}: {least:.2f} s, {many}: {most:.2f} s",
            runs=self.runs[0][name] + self.runs[1][name],
        )


def seconds_per_tree(
    train: Data, test: Data, sizes: Sizes, depth: int, field: Sequence[Competitor] = tuple(COMPETITORS.values())
) -> list[Row]:
    """(Long fit - short fit) / rounds between, the best of each: what is done once falls out."""
    slope = _Slope(train, sizes, depth, field)
    return [slope.row(competitor, test) for competitor in field]
