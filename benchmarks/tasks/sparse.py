"""Time of sparse linear solvers to a relative gap of 1e-6 in the objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from benchmarks import data
from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.solvers import Solver, SparseTask, solvers_of
from benchmarks.timing import seconds
from radboost import SparseBoostClassifier

GAP = 1e-6
WARM_UP_ROWS = 200
SATIMAGE_ROWS = 4435  # its training part


def amazon(sizes: Sizes) -> Result:
    """L1 logistic regression on words and pairs of words in reviews: 6,000 rows, 115,700 sparse columns."""
    X, y = data.amazon(sizes.real_rows)
    return measure("reviews", SparseTask(X, y, 0.01 * empty_from(X, y), "l1"), sizes)


def dense(sizes: Sizes) -> Result:
    """L1 logistic regression on normal columns, 50 of which matter."""
    rng = np.random.default_rng(0)
    m, n = sizes.sparse_dense
    X = rng.normal(size=(m, n))
    relevant = X[:, :50]
    y = (relevant @ rng.normal(size=relevant.shape[1]) + 2.0 * rng.normal(size=m) > 0).astype(np.int64)
    return measure("dense rows", SparseTask(X, y, 0.05 * empty_from(X, y), "l1"), sizes)


def satimage(sizes: Sizes) -> Result:
    """L1/L2 multinomial regression on 36 columns and their products, scaled: 702, six classes."""
    X, y = (part[:SATIMAGE_ROWS] for part in data.real("satimage", sizes.real_rows))
    products = PolynomialFeatures(2, include_bias=False).fit_transform(X.astype(np.float64))
    return measure("LandSat products", SparseTask(StandardScaler().fit_transform(products), y, 0.01, "l1/l2"), sizes)


TASKS: dict[str, Callable[[Sizes], Result]] = {
    "sparse-amazon": amazon,
    "sparse-dense": dense,
    "sparse-satimage": satimage,
}


def empty_from(X: data.Matrix, y: data.Labels) -> float:
    """Compute the smallest alpha at which the model is empty."""
    return SparseBoostClassifier(standardize=False, fit_intercept=False).alpha_max(X, y)


def measure(name: str, task: SparseTask, sizes: Sizes) -> Result:
    """Time every solver at the coarsest tolerance that reaches the gap."""
    field = solvers_of(task)
    small = replace(task, X=task.X[:WARM_UP_ROWS], y=np.arange(len(task.y))[:WARM_UP_ROWS] % task.n_classes)
    for solver in field:
        solver.solve(small, solver.tolerances[0])  # loads and compiles
    best = task.objective(field[0].solve(task, 1e-10))
    return Result(
        title=f"{task.penalty.upper()} regression on {name}, {task.X.shape[0]:,} x {task.X.shape[1]:,}",
        unit="s",
        rows=[_row(solver, task, best, sizes.repeats) for solver in field],
        note=(
            f"Seconds from the rows to an objective within {GAP:g} of the smallest, relative to it; alpha is "
            f"{task.alpha:.3g}, no intercept. RadBoost has two threads, the others have one each."
        ),
    )


def _row(solver: Solver, task: SparseTask, best: float, repeats: int) -> Row:
    for tolerance in solver.tolerances:
        solved: list[data.Matrix] = []
        taken = seconds(lambda t=tolerance, s=solved: s.append(solver.solve(task, t)))  # type: ignore[misc]
        if task.objective(solved[0]) <= best * (1.0 + GAP):
            again = [seconds(lambda t=tolerance: solver.solve(task, t)) for _ in range(repeats - 1)]  # type: ignore[misc]
            return Row(solver.name, min([taken, *again]), ours=solver.ours, note=f"tolerance {tolerance:g}")
    return Row(solver.name, math.nan, ours=solver.ours, note=f"not reached in {taken:.1f} s")
