"""Fit on 569 x 30 rows, depth 3: what a fit costs when there is little to do."""

from benchmarks import data
from benchmarks.competitors import COMPETITORS, Competitor
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.timing import race, seconds


def run(sizes: Sizes) -> Result:
    """Milliseconds for the whole fit, errors on the training rows."""
    X, y = data.breast_cancer()
    settings = Settings(rounds=sizes.small_rounds, depth=3)

    def fit(competitor: Competitor) -> float:
        return seconds(lambda: competitor.fit(X, y, settings))

    field = COMPETITORS.values()
    for competitor in field:
        fit(competitor)  # the first call loads code
    runs = race(field, sizes.repeats, fit)
    rows = []
    for competitor in field:
        model = competitor.fit(X, y, settings)
        milliseconds = [1e3 * run for run in runs[competitor.name]]
        rows.append(
            Row(
                competitor=competitor.name,
                figure=min(milliseconds),
                ours=competitor.ours,
                error=competitor.error(model, X, y, settings),
                trees=competitor.trees(model),
                runs=milliseconds,
            )
        )
    peers = [row.competitor for row in rows if not row.ours]
    return Result(
        task="fit-small",
        title=f"Fit {X.shape[0]} x {X.shape[1]}, {settings.rounds} rounds, depth 3",
        unit="ms",
        rows=rows,
        targets=[Target(ours.competitor, peer, 1.0) for ours in rows if ours.ours for peer in peers],
        note="Errors on the training rows.",
    )
