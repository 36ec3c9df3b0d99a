"""group-lasso's LogisticGroupLasso."""

import warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.base import Solver, SparseTask


class GroupLasso(Solver):
    """Accelerated proximal gradients on rows of weights."""

    name = "group-lasso"
    package = "group-lasso"
    tolerances = (1e-6,)

    def takes(self, task: SparseTask) -> bool:
        return task.penalty == "l1/l2"

    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        import group_lasso

        model = group_lasso.LogisticGroupLasso(
            groups=np.arange(task.X.shape[1]),
            group_reg=task.alpha,
            l1_reg=0.0,
            fit_intercept=False,
            scale_reg="none",
            tol=tolerance,
            n_iter=1000,
            supress_warning=True,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(task.X, task.y)
        weights: NDArray[np.float64] = model.coef_.T
        return weights
