"""Time to the lowest test error that any other library has after 100 rounds: speed at equal error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks import data
from benchmarks.competitors import Competitor, installed
from benchmarks.data import Data
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import time_fits

DEPTH = 6
ABSENT = ("RGB, 7 candidates", "AdaBoost")
#: task -> set, and one row of how many tests
SETS = {
    "reach-mnist17": ("mnist17", 5),
    "reach-letters": ("letters", 4),
    "reach-adult": ("adult", 4),
    "reach-higgs": ("higgs_part", 4),
}


def large(sizes: Sizes) -> Result:
    """Measure on many generated rows."""
    train = data.synthetic(sizes.reach_rows, sizes.large_columns, seed=0)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=1)
    return measure("generated rows", train, test, sizes)


def real(name: str, every: int, sizes: Sizes) -> Result:
    """Measure on a real set, of which one row of `every` tests."""
    return measure(name, *data.parted(data.real(name, sizes.real_rows), every), sizes)


def measure(name: str, train: Data, test: Data, sizes: Sizes) -> Result:
    """Give everybody the fewest rounds that reach the lowest error of the others, and time these fits."""
    field = [one for one in installed() if one.name not in ABSENT]
    usual = Settings(rounds=sizes.rounds, depth=DEPTH)
    goal = min(one.error(one.fit(*train, usual), *test, usual) for one in field if not one.ours)
    settings: dict[str, Settings] = {}
    missed = []
    for competitor in field:
        enough, lowest = first_to_reach(goal, competitor, train, test, sizes.reach_grid)
        if enough is None:
            note = f"not in {sizes.reach_grid[-1]} rounds (lowest {lowest:.4f})"
            missed.append(Row(competitor.name, math.nan, ours=competitor.ours, note=note))
        else:
            settings[competitor.name] = enough
    able = [one for one in field if one.name in settings]
    rows = time_fits(able, train, settings, sizes.repeats, test=test)
    return Result(
        title=f"Reach a test error of {goal:.4f} on {name}, {train[0].shape[0]:,} x {train[0].shape[1]}",
        unit="s",
        rows=[replace(row, note=f"{settings[row.competitor].rounds} rounds") for row in rows] + missed,
        note=(
            f"{goal:.4f} is the lowest error of the other libraries on {len(test[1]):,} test rows after "
            f"{sizes.rounds} rounds. Everybody gets the fewest rounds that reach it, of "
            f"{', '.join(map(str, sizes.reach_grid))}."
        ),
    )


def first_to_reach(
    goal: float, competitor: Competitor, train: Data, test: Data, grid: tuple[int, ...]
) -> tuple[Settings | None, float]:
    """Return the fewest rounds with an error no higher than the goal, or None, and the lowest error seen."""
    lowest = math.inf
    for rounds in grid:
        settings = Settings(rounds=rounds, depth=DEPTH)
        lowest = min(lowest, competitor.error(competitor.fit(*train, settings), *test, settings))
        if lowest <= goal:
            return settings, lowest
    return None, lowest


TASKS: dict[str, Callable[[Sizes], Result]] = {
    "reach-large": large,
    **{task: partial(real, *which) for task, which in SETS.items()},
}
