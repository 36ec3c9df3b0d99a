"""Who solves sparse linear models. A new solver joins by being listed."""

from importlib import import_module

from benchmarks.solvers.base import Solver, SparseTask

_PLACES = {
    "RadBoost": "radboost",
    "Skglm": "skglm",
    "Celer": "celer",
    "Liblinear": "scikit_learn",
    "Saga": "scikit_learn",
    "GroupLasso": "group_lasso",
}


def solvers_of(task: SparseTask) -> list[Solver]:
    """Those that solve the task; a library is loaded only when a task asks."""
    every: list[Solver] = [
        getattr(import_module(f"benchmarks.solvers.{module}"), name)() for name, module in _PLACES.items()
    ]
    return [solver for solver in every if solver.takes(task)]


__all__ = ["Solver", "SparseTask", "solvers_of"]
