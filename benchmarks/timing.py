"""Times of work that competitors do in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.competitors import Competitor
from benchmarks.data import Data, first_rows
from benchmarks.results import Row
from benchmarks.settings import WARM_UP_ROWS, Settings

PAUSE = 0.2  # seconds, until the threads of the competitor before sleep


def rest() -> None:
    """Wait until nothing of the work before goes on."""
    gc.collect()
    time.sleep(PAUSE)


def seconds(work: Callable[[], object]) -> float:
    """Measure the wall time of one call."""
    rest()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(competitors: Iterable[Competitor], repeats: int, work: Callable[[Competitor], float]) -> dict[str, float]:
    """Measure the best time of each, by name, in turns: a slow spell of the machine hits all of them alike."""
    field = list(competitors)
    best: dict[str, float] = {}
    for repeat in range(repeats):
        for competitor in field:
            if repeat == 0 or not competitor.slow:
                best[competitor.name] = min(best.get(competitor.name, float("inf")), work(competitor))
    return best


def seconds_per_round(
    fits: Mapping[str, Callable[[int], object]], ends: tuple[int, int], repeats: int
) -> dict[str, float]:
    """Divide the difference of long and short fits, each the best of those in turns, by the rounds between.

    `fits` are functions of the number of rounds, by name. Work done once cancels.
    """
    best: dict[tuple[str, int], float] = {}
    for _ in range(repeats):
        for name, fit in fits.items():
            for rounds in ends:
                taken = seconds(lambda n=rounds, f=fit: f(n))  # type: ignore[misc]
                best[name, rounds] = min(best.get((name, rounds), float("inf")), taken)
    few, many = ends
    return {name: (best[name, many] - best[name, few]) / (many - few) for name in fits}


def time_fits(
    field: Sequence[Competitor],
    train: Data,
    settings: Mapping[str, Settings],
    repeats: int,
    *,
    test: Data | None = None,
    scale: float = 1.0,
) -> list[Row]:
    """Measure the best time of whole fits, times `scale`; without test rows there is no error."""
    models: dict[str, Any] = {}

    def fit(competitor: Competitor) -> float:
        models.pop(competitor.name, None)  # its memory would count against the next fit

        def work() -> None:
            models[competitor.name] = competitor.fit(*train, settings[competitor.name])

        return seconds(work)

    for competitor in field:
        competitor.fit(*first_rows(train, WARM_UP_ROWS), settings[competitor.name])
    best = race(field, repeats, fit)
    return [
        Row(
            competitor=one.name,
            figure=scale * best[one.name],
            ours=one.ours,
            error=None if test is None else one.error(models[one.name], *test, settings[one.name]),
            trees=one.trees(models[one.name]),
        )
        for one in field
    ]
