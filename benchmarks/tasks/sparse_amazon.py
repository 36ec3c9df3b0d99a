"""L1 logistic regression on words and pairs of words in reviews."""

import numpy as np

from benchmarks import data
from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.solvers import SparseTask
from benchmarks.tasks import reach_gap

SHARE = 0.01  # of the alpha at which the model is empty


def run(sizes: Sizes) -> Result:
    """Books, DVDs and electronics: 6,000 rows, 115,700 sparse columns."""
    X, y = data.amazon()
    X, y = X[: sizes.amazon_rows], y[: sizes.amazon_rows]
    largest = float(np.abs(X.T @ (y - 0.5)).max()) / len(y)
    title = f"L1 logistic regression on reviews, {X.shape[0]:,} x {X.shape[1]:,} sparse, to a gap of 1e-6"
    return reach_gap.run("sparse-amazon", title, SparseTask(X, y, SHARE * largest, "l1"), 0.5, sizes)
