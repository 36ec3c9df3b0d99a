"""Fit on MNIST, 60,000 x 784, ten classes, depth 5."""

from dataclasses import replace

from benchmarks import data
from benchmarks.competitors import FAST
from benchmarks.results import Result, Target
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.memory import peaks
from benchmarks.tasks.whole_fit import time_fits

TRAINING_ROWS = 60_000


def run(sizes: Sizes) -> Result:
    """Seconds for the whole fit, and its peak memory; errors on the 10,000 test images."""
    X, y = data.real("mnist")
    train = X[:TRAINING_ROWS][: sizes.mnist_train_rows], y[:TRAINING_ROWS][: sizes.mnist_train_rows]
    test = X[TRAINING_ROWS:], y[TRAINING_ROWS:]
    settings = Settings(rounds=sizes.mnist_rounds, depth=5)
    rows = time_fits(list(FAST.values()), train, test, dict.fromkeys(FAST, settings), sizes.mnist_repeats)
    memory = peaks(train, dict.fromkeys(FAST, settings))
    return Result(
        task="fit-mnist",
        title=f"Fit MNIST, {len(train[1]):,} x {X.shape[1]}, ten classes, {settings.rounds} rounds, depth 5",
        unit="s",
        rows=[replace(row, note=f"peak {memory[row.competitor]:.0f} MB") for row in rows],
        targets=[Target(row.competitor, "LightGBM", 1.0) for row in rows if row.ours],
        note=f"The best of {sizes.mnist_repeats}. Peak memory is what the fit takes beyond its input.",
    )
