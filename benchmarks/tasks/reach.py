"""Time to the lowest test error that any other library has after 100 rounds: speed at equal error."""

import math
from collections.abc import Callable
from dataclasses import replace

from benchmarks import data
from benchmarks.competitors import FAST, Competitor
from benchmarks.competitors.rgb import RGB
from benchmarks.data import Data
from benchmarks.results import FASTEST, Result, Row, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.whole_fit import time_fits

DEPTH = 6


def large(sizes: Sizes) -> Result:
    """Made-up rows, of which there are many."""
    train = data.synthetic(sizes.reach_large_rows, sizes.large_columns, seed=0)
    test = data.synthetic(sizes.large_test_rows, sizes.large_columns, seed=1)
    return _run("reach-large", f"{sizes.reach_large_rows:,} x {sizes.large_columns}", train, test, sizes)


def mnist17(sizes: Sizes) -> Result:
    """Few rows, many columns."""
    return _run("reach-mnist17", "mnist17", *data.parted(data.real("mnist17", sizes.mnist17_rows), every=5), sizes)


def letters(sizes: Sizes) -> Result:
    """26 classes."""
    return _run("reach-letters-best", "letters", *data.parted(data.real("letters", sizes.letters_rows), every=4), sizes)


def adult(sizes: Sizes) -> Result:
    """Some ten thousand rows, text columns as codes."""
    return _run("reach-adult", "adult", *data.parted(data.real("adult", sizes.middle_rows), every=4), sizes)


def higgs(sizes: Sizes) -> Result:
    """Some ten thousand rows, hard to tell apart."""
    return _run("reach-higgs", "higgs_part", *data.parted(data.real("higgs_part", sizes.middle_rows), every=4), sizes)


def _run(task: str, name: str, train: Data, test: Data, sizes: Sizes) -> Result:
    field: list[Competitor] = [*FAST.values(), RGB()]
    wanted = Settings(rounds=sizes.reach_peer_rounds, depth=DEPTH)
    goal = min(c.error(c.fit(*train, wanted), *test, wanted) for c in field if not c.ours)
    settings: dict[str, Settings] = {}
    missed = []
    for competitor in field:
        found, lowest = first_to_reach(goal, competitor, train, test, sizes.reach_grid)
        if found is None:
            note = f"not in {sizes.reach_grid[-1]} rounds (lowest {lowest:.4f})"
            missed.append(Row(competitor.name, math.nan, ours=competitor.ours, note=note))
        else:
            settings[competitor.name] = found
    able = [competitor for competitor in field if competitor.name in settings]
    rows = [
        replace(row, note=f"{settings[row.competitor].rounds} rounds")
        for row in time_fits(able, train, test, settings, sizes.repeats)
    ]
    return Result(
        task=task,
        title=f"Reach a test error of {goal:.4f} on {name}, {len(train[1]):,} rows",
        unit="s",
        rows=rows + missed,
        targets=[Target(row.competitor, FASTEST, 1.0) for row in rows if row.ours],
        note=(
            f"{goal:.4f} is the lowest error of the other libraries on {len(test[1]):,} test rows after "
            f"{sizes.reach_peer_rounds} rounds. Everybody gets the fewest rounds that reach it, of "
            f"{', '.join(map(str, sizes.reach_grid))}."
        ),
    )


def first_to_reach(
    goal: float, competitor: Competitor, train: Data, test: Data, grid: tuple[int, ...]
) -> tuple[Settings | None, float]:
    """The fewest rounds of the grid with an error no higher than the goal, if there are any; the lowest error seen."""
    lowest = math.inf
    for rounds in grid:
        settings = Settings(rounds=rounds, depth=DEPTH)
        lowest = min(lowest, competitor.error(competitor.fit(*train, settings), *test, settings))
        if lowest <= goal:
            return settings, lowest
    return None, lowest


TASKS: dict[str, Callable[[Sizes], Result]] = {
    "reach-large": large,
    "reach-mnist17": mnist17,
    "reach-letters-best": letters,
    "reach-adult": adult,
    "reach-higgs": higgs,
}
