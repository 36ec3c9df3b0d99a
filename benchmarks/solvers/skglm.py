"""skglm's proximal Newton method."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.solvers.base import Solver, SparseTask


class Skglm(Solver):
    """Working sets of its own, compiled by numba (compiling is not timed)."""

    name = "skglm"
    package = "skglm"
    tolerances = (1e-4, 3e-5, 1e-5, 1e-6)

    def takes(self, task: SparseTask) -> bool:
        return task.n_classes == 2

    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        import skglm
        from skglm.datafits import Logistic
        from skglm.penalties import L1
        from skglm.solvers import ProxNewton

        solver = ProxNewton(tol=tolerance, fit_intercept=False)
        X = task.X if sparse.issparse(task.X) else np.asfortranarray(task.X)  # five times as fast for it
        model = skglm.GeneralizedLinearEstimator(Logistic(), L1(task.alpha), solver).fit(X, 2.0 * task.y - 1.0)
        weights: NDArray[np.float64] = model.coef_.reshape(1, -1)
        return weights
