"""L1/L2 multinomial regression on products of columns."""

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from benchmarks import data
from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.solvers import SparseTask
from benchmarks.tasks import reach_gap

TRAINING_ROWS = 4435
ALPHA = 0.01


def run(sizes: Sizes) -> Result:
    """36 columns and their products, scaled: 702, six classes."""
    X, y = data.real("satimage")
    rows = slice(None, min(TRAINING_ROWS, sizes.satimage_rows or TRAINING_ROWS))
    products = PolynomialFeatures(2, include_bias=False).fit_transform(X[rows].astype(np.float64))
    X = StandardScaler().fit_transform(products)
    title = f"L1/L2 multinomial regression on LandSat products, {X.shape[0]:,} x {X.shape[1]:,}, to a gap of 1e-6"
    return reach_gap.run("sparse-satimage", title, SparseTask(X, y[rows], ALPHA, "l1/l2"), 0.2, sizes)
