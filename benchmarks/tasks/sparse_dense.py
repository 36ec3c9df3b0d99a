"""L1 logistic regression on dense columns."""

import numpy as np

from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.solvers import SparseTask
from benchmarks.tasks import reach_gap

SHARE = 0.05  # of the alpha at which the model is empty


def run(sizes: Sizes) -> Result:
    """Normal columns, 50 of which matter."""
    rng = np.random.default_rng(0)
    m, n = sizes.sparse_dense
    X = rng.normal(size=(m, n))
    y = (X[:, :50] @ rng.normal(size=50) + 2.0 * rng.normal(size=m) > 0).astype(np.int64)
    largest = float(np.abs(X.T @ (y - 0.5)).max()) / m
    title = f"L1 logistic regression, {m:,} x {n:,} dense, to a gap of 1e-6"
    return reach_gap.run("sparse-dense", title, SparseTask(X, y, SHARE * largest, "l1"), 0.5, sizes)
