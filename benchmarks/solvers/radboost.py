"""RadBoost's SparseBoostClassifier."""

import warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.base import Solver, SparseTask
from radboost import SparseBoostClassifier


class RadBoost(Solver):
    """Newton steps on two threads; the updates of the paper do not take part."""

    name = "RadBoost"
    package = "radboost"
    ours = True
    tolerances = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)

    def takes(self, task: SparseTask) -> bool:
        return True

    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        model = SparseBoostClassifier(
            task.alpha, penalty=task.penalty, tol=tolerance, standardize=False, fit_intercept=False, n_jobs=2
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights: NDArray[np.float64] = model.fit(task.X, task.y).coef_
        return weights
