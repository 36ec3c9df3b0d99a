"""Time to the test error that LightGBM has on letters after 20 of its rounds."""

import math
from dataclasses import replace

from benchmarks import data
from benchmarks.competitors import COMPETITORS, Competitor
from benchmarks.competitors.radboost import WHOLE_STEPS, RadBoostDefault
from benchmarks.data import Data
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.whole_fit import time_fits

PEER = "LightGBM"
DEPTH = 6


def run(sizes: Sizes) -> Result:
    """Seconds of a fit with as many rounds as it takes; RadBoost makes whole steps by line search."""
    train, test = data.parted(data.real("letters", sizes.letters_rows), every=4)
    settings = {PEER: Settings(rounds=sizes.letters_rounds, depth=DEPTH)}
    peer = COMPETITORS[PEER]
    goal = peer.error(peer.fit(*train, settings[PEER]), *test, settings[PEER])
    field: list[Competitor] = [peer]
    missed = []
    for ours in WHOLE_STEPS:
        rounds = _rounds_to(goal, ours, train, test, sizes.reach_rounds)
        if rounds is None:
            missed.append(Row(ours.name, math.nan, ours=True, note=f"not in {sizes.reach_rounds} rounds"))
        else:
            field.append(ours)
            settings[ours.name] = Settings(rounds=rounds, depth=DEPTH)
    rows = [
        replace(row, note=f"{settings[row.competitor].rounds} rounds")
        for row in time_fits(field, train, test, settings, sizes.repeats)
    ]
    return Result(
        task="reach-letters",
        title=f"Reach a test error of {goal:.4f} on letters, {len(train[1]):,} rows",
        unit="s",
        rows=rows + missed,
        targets=[Target(ours.name, PEER, 0.5) for ours in WHOLE_STEPS],
        note=(
            f"{goal:.4f} is {PEER}'s error on the {len(test[1]):,} test rows after {sizes.letters_rounds} rounds. "
            'RadBoost with `learning_rate=1, step="line_search", loss="exponential"`; its rounds were counted in a '
            "longer fit before."
        ),
    )


def _rounds_to(goal: float, ours: RadBoostDefault, train: Data, test: Data, most: int) -> int | None:
    """After how many rounds the test error is no higher than the goal; None if it never is."""
    model = ours.fit(*train, Settings(rounds=most, depth=DEPTH))
    reached = (i for i, error in enumerate(ours.staged_errors(model, *test), start=1) if error <= goal)
    return next(reached, None)
