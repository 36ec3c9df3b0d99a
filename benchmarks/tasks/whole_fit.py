"""Time of whole fits, shared by the tasks that make them."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.competitors import Competitor
from benchmarks.data import Data, first_rows
from benchmarks.results import Row
from benchmarks.settings import WARM_UP_ROWS, Settings
from benchmarks.timing import race, seconds


def time_fits(
    field: Sequence[Competitor],
    train: Data,
    test: Data,
    settings: Mapping[str, Settings],
    repeats: int,
    scale: float = 1.0,
) -> list[Row]:
    """The best time of each competitor with its settings, times `scale`; errors on the test rows."""
    models: dict[str, Any] = {}

    def fit(competitor: Competitor) -> float:
        models.pop(competitor.name, None)  # its memory would count against the next fit

        def work() -> None:
            models[competitor.name] = competitor.fit(*train, settings[competitor.name])

        return seconds(work)

    for competitor in field:
        competitor.fit(*first_rows(train, WARM_UP_ROWS), settings[competitor.name])
    runs = race(field, repeats, fit)
    return [
        Row(
            competitor=competitor.name,
            figure=scale * min(runs[competitor.name]),
            ours=competitor.ours,
            error=competitor.error(models[competitor.name], *test, settings[competitor.name]),
            trees=competitor.trees(models[competitor.name]),
            runs=[scale * run for run in runs[competitor.name]],
        )
        for competitor in field
    ]
