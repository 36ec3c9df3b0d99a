"""Time to a relative gap of 1e-6 in the objective, for solvers of the same sparse problem."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import FASTEST, Result, Row, Target
from benchmarks.settings import Sizes
from benchmarks.solvers import Solver, SparseTask, solvers_of
from benchmarks.timing import seconds

GAP = 1e-6
WARM_UP_ROWS = 200


def run(name: str, title: str, task: SparseTask, ratio: float, sizes: Sizes) -> Result:
    """The seconds of the coarsest tolerance that reaches the gap, best of the repeats, for every solver."""
    field = solvers_of(task)
    small = replace(task, X=task.X[:WARM_UP_ROWS], y=np.arange(WARM_UP_ROWS) % task.n_classes)
    for solver in field:
        solver.solve(small, solver.tolerances[0])  # loads and compiles
    best = task.objective(field[0].solve(task, 1e-10))
    chosen = {solver.name: _coarsest(solver, task, best) for solver in field}
    times: dict[str, list[float]] = {solver.name: [] for solver in field}
    for _ in range(sizes.repeats):
        for solver in field:
            tolerance, reached, first = chosen[solver.name]
            # Nobody waits for a solver that takes minutes, or that does not get there at all.
            slow = first > 20.0 or not reached
            times[solver.name].append(first if slow else seconds(lambda s=solver, t=tolerance: s.solve(task, t)))  # type: ignore[misc]
    rows = []
    for solver in field:
        tolerance, reached, _ = chosen[solver.name]
        figure = min(times[solver.name]) if reached else float("nan")
        note = f"tolerance {tolerance:g}" if reached else f"not reached in {min(times[solver.name]):.1f} s"
        rows.append(Row(solver.name, figure, ours=solver.ours, note=note, runs=times[solver.name]))
    return Result(
        task=name,
        title=title,
        unit="s",
        rows=rows,
        targets=[Target("RadBoost", FASTEST, ratio)]
        if any(not np.isnan(r.figure) and not r.ours for r in rows)
        else [],
        note=(
            f"Seconds from the rows to an objective within {GAP:g} of the smallest, relative to it; alpha is "
            f"{task.alpha:.3g}, no intercept. RadBoost has two threads, the others have one each."
        ),
    )


def _coarsest(solver: Solver, task: SparseTask, best: float) -> tuple[float, bool, float]:
    """The first tolerance that reaches the gap, whether it does, and how long that took."""
    for tolerance in solver.tolerances:
        found: list[NDArray[np.float64]] = []
        taken = seconds(lambda s=solver, t=tolerance, f=found: f.append(s.solve(task, t)))  # type: ignore[misc]
        if task.objective(found[0]) <= best * (1.0 + GAP):
            return tolerance, True, taken
    return tolerance, False, taken
