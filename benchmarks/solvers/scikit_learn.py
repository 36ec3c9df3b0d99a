"""liblinear and SAGA, as scikit-learn has them."""

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.solvers.base import Solver, SparseTask


class _ScikitLearn(Solver):
    package = "scikit-learn"
    solver: ClassVar[str]
    most_passes: ClassVar[int]

    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        model = LogisticRegression(
            l1_ratio=1.0,
            C=1.0 / (task.alpha * len(task.y)),
            solver=self.solver,
            tol=tolerance,
            fit_intercept=False,
            max_iter=self.most_passes,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights: NDArray[np.float64] = model.fit(task.X, task.y).coef_
        return weights


class Liblinear(_ScikitLearn):
    """newGLMNET."""

    name = "liblinear"
    solver = "liblinear"
    most_passes = 10_000
    tolerances = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)

    def takes(self, task: SparseTask) -> bool:
        return task.n_classes == 2


class Saga(_ScikitLearn):
    """Stochastic gradients."""

    name = "saga"
    solver = "saga"
    most_passes = 200
    tolerances = (1e-3, 1e-5)

    def takes(self, task: SparseTask) -> bool:
        return task.penalty == "l1"
