"""Newton's method on working sets, which is faster than the bounds of the paper (`bounds.py`).

The bounds hold for the largest curvature of a loss. Here the loss is replaced by its quadratic model at the current
scores. Descent along columns minimizes the model plus the penalty, and a line search ensures that the objective falls.
Working sets exclude columns that meet the termination condition of Duchi and Singer (2009), section 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.linear.columns import Indices
from radboost.linear.problem import Point, SparseProblem, Trail

SMALLEST_WORKING_SET = 64
MODEL_FRACTION = 0.1  # accuracy of the minimum of the model, relative to the violation at its start
SET_FRACTION = 0.3  # accuracy on a working set, relative to the violation outside
MOST_PASSES = 300  # over the columns, for one model
ENOUGH_DECREASE = 1e-4  # of the objective, relative to the decrease of the model (Armijo)
SHORTEST_STEP = 1e-10
ROUNDING = 1e-14  # relative error of the objective
DUST = 1e-13  # weights below this fraction of the largest one are rounding errors


def solve_by_newton(problem: SparseProblem, point: Point, tolerance: float, n_rounds: int, trail: Trail) -> Point:
    """Steps until no termination condition is violated by more than `tolerance`; each is one Newton step."""
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
        _sweep(problem, point)
    return point


def _sweep(problem: SparseProblem, point: Point) -> None:
    """Remove columns whose weights are rounding: a duplicate of another one, for example."""
    sizes = np.abs(point.weights).max(axis=1, initial=0.0)
    dust = np.flatnonzero((sizes > 0.0) & (sizes <= DUST * sizes.max(initial=0.0)))
    if len(dust):
        point.scores = point.scores - problem.columns.scores(dust, point.weights[dust])
        point.weights[dust] = 0.0


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
    helpful = np.flatnonzero(outside)
    room = size - len(used)
    if room < len(helpful):
        helpful = helpful[np.argsort(-outside[helpful], kind="stable")[:room]]
    return np.sort(np.concatenate([used, helpful]))


@dataclass
class Newton:
    """Newton's method at a point, which it moves. Weights outside a working set are not paid for in `objective`."""

    problem: SparseProblem
    point: Point
    objective: float
    passes: int = 0  # over the columns in the last descent, an estimate for the next one
    blind: bool = False  # True: the last step was too short to change the objective visibly

    def solve_on(self, working: Indices, goal: float, n_rounds: int, trail: Trail) -> bool:
        """Step on a working set until no condition is violated by more than `goal`; True if a step helped."""
        problem, point, helped, before = self.problem, self.point, False, np.inf
        while len(trail.objective) < n_rounds:
            residual = problem.residual(point.scores)
            slopes = problem.slopes(residual, working)
            _, inside = problem.violations(point.weights[working], slopes, residual, working)
            helped = helped or inside <= 0.5 * before < np.inf
            if (helped and inside <= goal) or (self.blind and inside > 0.5 * before):
                break
            # If the step fails, the model is minimized more accurately, and the step is tried again.
            if not any(self.step(working, residual, slopes, fraction * inside) for fraction in (MODEL_FRACTION, 1e-6)):
                break
            helped, before = helped or not self.blind, inside
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
        self.blind = abs(expected) <= ROUNDING * max(1.0, abs(self.objective))
        fraction = 1.0
        while (expected < 0.0 or self.blind) and fraction > SHORTEST_STEP:
            tried = weights if fraction == 1.0 else old + fraction * steps
            scores = point.scores + fraction * direction
            value = problem.mean_loss(scores) + problem.price_of(working, tried)
            if self.blind or value < min(self.objective, self.objective + ENOUGH_DECREASE * fraction * expected):
                point.weights[working], point.scores, self.objective = tried, scores, value
                point.intercept = point.intercept + fraction * shift
                return bool(steps.any() or shift.any())
            fraction *= 0.5
        return False

    def _minimum_of_the_model(
        self, working: Indices, residual: FloatArray, tolerance: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights and intercept that minimize the quadratic model plus the penalty, and the way there in scores."""
        problem, point, coupled = self.problem, self.point, self.problem.loss.coupled
        diagonal = problem.diagonal(point.scores)
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
