"""Solvers of sparse linear models, a file for each library. A new one joins by being listed."""

from benchmarks.competitors.base import is_installed
from benchmarks.solvers.base import Solver, SparseTask
from benchmarks.solvers.celer import Celer
from benchmarks.solvers.group_lasso import GroupLasso
from benchmarks.solvers.radboost import RadBoost
from benchmarks.solvers.scikit_learn import Liblinear, Saga
from benchmarks.solvers.skglm import Skglm

SOLVERS: tuple[Solver, ...] = (RadBoost(), Skglm(), Celer(), Liblinear(), Saga(), GroupLasso())


def solvers_of(task: SparseTask) -> list[Solver]:
    """List the installed solvers that solve the task."""
    return [solver for solver in SOLVERS if is_installed(solver.package) and solver.takes(task)]


__all__ = ["SOLVERS", "Solver", "SparseTask", "solvers_of"]
