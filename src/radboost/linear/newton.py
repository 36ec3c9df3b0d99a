"""Proximal Newton method on working sets, like skglm's ProxNewton; faster than the paper's bounds (`bounds.py`).

The bounds hold for the largest curvature of a loss. Here a change d of the scores minimizes residual . d + d^T H d / 2
plus the penalty. `residual` is the gradient of the mean loss by the scores, H its Hessian. Coordinate descent finds d,
and a line search ensures that the objective falls. Working sets exclude columns that meet the termination condition of
Duchi and Singer (2009), section 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.linear.columns import Indices
from radboost.linear.problem import Point, SparseProblem, Trail

SMALLEST_WORKING_SET = 64
MODEL_FRACTIONS = 0.1, 1e-6  # two trials: accuracy of the model's minimum, relative to the violation at its start
SET_FRACTION = 0.3  # accuracy on a working set, relative to the violation outside
MOST_PASSES = 300  # over the columns, for one model
ENOUGH_DECREASE = 1e-4  # of the objective, relative to the decrease of the model (Armijo)
SHORTEST_STEP = 1e-10
ROUNDING = 1e-14  # relative error of the objective
NEGLIGIBLE = 1e-13  # weights below this fraction of the largest one are rounding errors


def solve_by_newton(problem: SparseProblem, point: Point, tolerance: float, n_rounds: int, trail: Trail) -> Point:
    """Move `point` by Newton steps until no violation exceeds `tolerance`; at most `n_rounds`, recorded in `trail`."""
    newton = Newton(problem, point, problem.objective(point))
    size = SMALLEST_WORKING_SET
    while len(trail.objective) < n_rounds:
        residual = problem.residual(point.scores)
        slopes = problem.slopes(residual, problem.everything)
        violations, worst = problem.violations(point.weights, slopes, residual, problem.everything)
        if worst <= tolerance:
            trail.stop_reason, point.slopes = "optimal", slopes
            break
        used = point.used
        size = max(size, 2 * len(used))
        working = _working_set(violations, used, size)
        if not newton.solve_on(working, max(0.5 * tolerance, SET_FRACTION * worst), n_rounds, trail):
            trail.stop_reason = "precision"
            break
        size *= 2
    if problem.penalty.sparse:
        _drop_negligible(problem, point)
    return point


def _drop_negligible(problem: SparseProblem, point: Point) -> None:
    """Set weights to 0 that are rounding errors: that of a duplicate of another column, for example."""
    sizes = np.abs(point.weights).max(axis=1, initial=0.0)
    dropped = np.flatnonzero((sizes > 0.0) & (sizes <= NEGLIGIBLE * sizes.max(initial=0.0)))
    if len(dropped):
        point.scores = point.scores - problem.columns.scores(dropped, point.weights[dropped])
        point.weights[dropped] = 0.0


def newton_step(problem: SparseProblem, point: Point, columns: Indices) -> bool:
    """Take one step along some columns and the intercept, in place; True if it lowered the objective."""
    others = np.setdiff1d(point.used, columns)
    elsewhere = problem.price_of(others, point.weights[others])
    newton = Newton(problem, point, problem.objective(point) - elsewhere)
    return newton.solve_on(columns, 0.0, 1, Trail())


def _working_set(violations: FloatArray, used: Indices, size: int) -> Indices:
    """Columns in the model, and those outside that violate their condition most; ascending."""
    outside = violations.copy()
    outside[used] = 0.0
    violated = np.flatnonzero(outside)
    room = size - len(used)
    if room < len(violated):
        violated = violated[np.argsort(-outside[violated], kind="stable")[:room]]
    return np.sort(np.concatenate([used, violated]))


@dataclass
class Newton:
    """Newton's method, which moves `point`. `objective` is without the penalty of weights outside the working set."""

    problem: SparseProblem
    point: Point
    objective: float
    passes: int = 0  # over the columns in the last descent, an estimate for the next one
    unchecked: bool = False  # True: the decrease of the last step was below rounding, so it was not checked

    def solve_on(self, working: Indices, goal: float, n_rounds: int, trail: Trail) -> bool:
        """Step on a working set until no condition is violated by more than `goal`; True if a step helped."""
        problem, point, helped, before = self.problem, self.point, False, np.inf
        while len(trail.objective) < n_rounds:
            residual = problem.residual(point.scores)
            slopes = problem.slopes(residual, working)
            _, inside = problem.violations(point.weights[working], slopes, residual, working)
            helped = helped or inside <= 0.5 * before < np.inf  # an unchecked step helps if it halves the violation
            if (helped and inside <= goal) or (self.unchecked and inside > 0.5 * before):
                break
            # If the step fails, the model is minimized more accurately, and the step is tried again.
            if not any(self.step(working, residual, slopes, fraction * inside) for fraction in MODEL_FRACTIONS):
                break
            helped, before = helped or not self.unchecked, inside
            trail.note(self.objective, int(np.count_nonzero(point.weights[working].any(axis=1))))
        return helped

    def step(self, working: Indices, residual: FloatArray, slopes: FloatArray, tolerance: float) -> bool:
        """Step towards the minimum of the model, halved until the objective falls enough; True if it was taken.

        Near the optimum the objective falls by less than its rounding. Such a step is taken unchecked, and its effect
        on the violation decides.
        """
        problem, point = self.problem, self.point
        old = point.weights[working]
        weights, intercept, direction = self._minimum_of_the_model(working, residual, tolerance)
        steps, shift = weights - old, intercept - point.intercept
        expected = float((slopes * steps).sum() + residual.sum(axis=1) @ shift)
        expected += problem.price_of(working, weights) - problem.price_of(working, old)
        self.unchecked = abs(expected) <= ROUNDING * max(1.0, abs(self.objective))
        fraction = 1.0
        while (expected < 0.0 or self.unchecked) and fraction > SHORTEST_STEP:
            tried = weights if fraction == 1.0 else old + fraction * steps
            scores = point.scores + fraction * direction
            value = problem.mean_loss(scores) + problem.price_of(working, tried)
            if self.unchecked or value < min(self.objective, self.objective + ENOUGH_DECREASE * fraction * expected):
                point.weights[working], point.scores, self.objective = tried, scores, value
                point.intercept = point.intercept + fraction * shift
                return bool(steps.any() or shift.any())
            fraction *= 0.5
        return False

    def _minimum_of_the_model(
        self, working: Indices, residual: FloatArray, tolerance: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights and intercept that minimize the quadratic model plus the penalty, and the change of the scores, d."""
        problem, point, coupled = self.problem, self.point, self.problem.loss.coupled
        diagonal = problem.diagonal(point.scores)
        # With a coupled (multinomial) loss the model has the Hessian diag(p) - p p^T of each row, p being `curvature`.
        weights, intercept = point.weights[working], point.intercept.copy()
        self.passes, direction = problem.columns.native.descend(
            working,
            np.ascontiguousarray(problem.loss.curvature(point.scores)) if coupled else diagonal,
            problem.row_weights if coupled else np.zeros(0),
            residual,
            problem.columns.weighted_squares(working, diagonal),
            diagonal.sum(axis=1),
            problem.prices[working],
            penalty=problem.penalty.name,
            intercept=problem.fit_intercept,
            tolerance=tolerance,
            most_passes=MOST_PASSES,
            expected_passes=self.passes,
            weights=weights,
            intercepts=intercept,
        )
        return weights, intercept, direction.reshape(point.scores.shape)
