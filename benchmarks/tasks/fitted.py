"""What the tasks report of a fitted model."""

from collections.abc import Mapping
from typing import Any

from benchmarks.competitors import Competitor
from benchmarks.data import Data
from benchmarks.results import Row
from benchmarks.settings import Settings


def fitted_row(
    competitor: Competitor,
    runs: Mapping[str, list[float]],
    models: Mapping[str, Any],
    test: Data,
    settings: Settings,
) -> Row:
    """The best of its runs, with the error of its model on the test rows."""
    name = competitor.name
    return Row(
        competitor=name,
        figure=min(runs[name]),
        ours=competitor.ours,
        error=competitor.error(models[name], *test, settings),
        trees=competitor.trees(models[name]),
        runs=runs[name],
    )
