"""Fit on the ones and sevens of MNIST, depth 6: few rows, many columns, many of them constant."""

from benchmarks import data
from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks.slope import seconds_per_tree


def run(sizes: Sizes) -> Result:
    """Seconds per tree; every fifth row is kept for the error."""
    X, y = data.mnist17(sizes.mnist_rows)
    test = slice(0, None, 5)
    train = [row for row in range(len(y)) if row % 5]
    return Result(
        task="fit-mnist17",
        title=f"Fit mnist17, {len(train):,} x {X.shape[1]}, depth 6",
        unit="s per tree",
        rows=seconds_per_tree((X[train], y[train]), (X[test], y[test]), sizes, depth=6),
    )
