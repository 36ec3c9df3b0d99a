"""Best of several, in turns."""

import gc
import time
from collections.abc import Callable, Iterable

from benchmarks.competitors import Competitor

PAUSE = 0.2  # the threads of the competitor before have gone to sleep by then


def rest() -> None:
    """Let the one before come to its end."""
    gc.collect()
    time.sleep(PAUSE)


def seconds(work: Callable[[], object]) -> float:
    """The wall time of one call."""
    rest()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(
    competitors: Iterable[Competitor], repeats: int, work: Callable[[Competitor], float]
) -> dict[str, list[float]]:
    """Let the competitors take turns, so that a slow spell of the machine hits all of them alike."""
    field = list(competitors)
    times: dict[str, list[float]] = {competitor.name: [] for competitor in field}
    for repeat in range(repeats):
        for competitor in field:
            if repeat == 0 or not competitor.slow:
                times[competitor.name].append(work(competitor))
    return times
