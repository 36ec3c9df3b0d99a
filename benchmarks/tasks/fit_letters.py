"""Fit on the 26 classes of letters, 20,000 x 16, depth 6: one tree a round for all classes, or 26."""

from dataclasses import replace

from benchmarks import data
from benchmarks.competitors import FAST
from benchmarks.results import FASTEST, Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.memory import peaks
from benchmarks.tasks.whole_fit import time_fits


def run(sizes: Sizes) -> Result:
    """Milliseconds per round of a whole fit, and its peak memory; errors on the training rows."""
    X, y = data.real("letters", sizes.letters_rows)
    settings = Settings(rounds=sizes.letters_rounds, depth=6)
    rows = time_fits(
        list(FAST.values()),
        (X, y),
        (X, y),
        dict.fromkeys(FAST, settings),
        sizes.repeats,
        scale=1e3 / settings.rounds,
    )
    memory = peaks((X, y), dict.fromkeys(FAST, settings))
    return Result(
        task="fit-letters",
        title=f"Fit letters, {X.shape[0]:,} x {X.shape[1]}, {y.max() + 1} classes, {settings.rounds} rounds, depth 6",
        unit="ms per round",
        rows=[replace(row, note=f"peak {memory[row.competitor]:.0f} MB") for row in rows],
        targets=[Target(ours.competitor, FASTEST, 0.1) for ours in rows if ours.ours],
        note="Errors on the training rows. Peak memory is what the fit takes beyond its input.",
    )
