"""Fit on the ones and sevens of MNIST, depth 6: few rows, many columns, many of them constant."""

from benchmarks import data
from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks.slope import seconds_per_tree


def run(sizes: Sizes) -> Result:
    """Seconds per tree; every fifth row is kept for the error."""
    train, test = data.parted(data.real("mnist17", sizes.mnist17_rows), every=5)
    rows, columns = train[0].shape
    return Result(
        task="fit-mnist17",
        title=f"Fit mnist17, {rows:,} x {columns}, depth 6",
        unit="s per tree",
        rows=seconds_per_tree(train, test, sizes, depth=6),
    )
