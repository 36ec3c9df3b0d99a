"""celer's LogisticRegression."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.base import Solver, SparseTask


class Celer(Solver):
    """Working sets chosen by the dual."""

    name = "celer"
    package = "celer"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def takes(self, task: SparseTask) -> bool:
        return task.n_classes == 2

    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        import celer

        model = celer.LogisticRegression(C=1.0 / (task.alpha * len(task.y)), tol=tolerance).fit(task.X, task.y)
        weights: NDArray[np.float64] = model.coef_.reshape(1, -1)
        return weights
