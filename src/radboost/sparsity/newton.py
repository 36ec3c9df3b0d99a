"""The fast way to the optimum: working sets chosen by the termination rule, and Newton's method within them.

The bounds of the paper hold for the worst curvature that a loss can have. Here the loss is replaced by its quadratic
model at the current scores, descent along columns minimises the model plus the penalty, and a line search makes sure that
the objective falls. Columns for which the condition of section 8 says that they have nothing to add are not looked at.
"""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.sparsity.columns import Places
from radboost.sparsity.problem import Point, Problem, Trail

SMALLEST_WORKING_SET = 64
# The model is minimised to this share of the violation at its start, and a working set to this share of that outside it.
MODEL_SHARE, SET_SHARE = 0.1, 0.1
MOST_PASSES = 200
ENOUGH_DECREASE = 1e-4
SHORTEST_STEP = 1e-10


def solve_by_newton(problem: Problem, point: Point, tolerance: float, max_rounds: int, trail: Trail) -> Point:
    """Steps until no termination condition is violated by more than `tolerance`; each is one Newton step."""
    objective = problem.objective(point)
    size = SMALLEST_WORKING_SET
    while len(trail.objective) < max_rounds:
        residual = problem.residual(point.scores)
        slopes = problem.slopes(residual, problem.everything)
        violations = problem.penalty.violation(point.weights, slopes, problem.prices)
        worst = _worst(problem, violations, residual)
        if worst <= tolerance:
            trail.stop_reason = "optimal"
            break
        used = point.used
        size = max(size, 2 * len(used))
        working = _working_set(violations, used, size)
        moved = False
        while len(trail.objective) < max_rounds:
            inside = _worst(problem, violations[working], residual)
            if inside <= max(tolerance * 0.5, SET_SHARE * worst) and moved:
                break
            lowered = _step(problem, point, working, residual, objective, MODEL_SHARE * inside)
            if lowered is None:
                break
            objective, moved = lowered, True
            trail.note(objective, len(point.used))
            residual = problem.residual(point.scores)
            violations[working] = problem.penalty.violation(
                point.weights[working], problem.slopes(residual, working), problem.prices[working]
            )
        if not moved:
            trail.stop_reason = "precision"
            break
        size *= 2
    return point


def newton_step(problem: Problem, point: Point, columns: Places) -> bool:
    """One step along some columns and the intercept, in place; whether it lowered the objective."""
    residual = problem.residual(point.scores)
    slopes = problem.slopes(residual, columns)
    violations = problem.penalty.violation(point.weights[columns], slopes, problem.prices[columns])
    inside = _worst(problem, violations, residual)
    others = np.setdiff1d(point.used, columns)
    paid = problem.price_of(others, point.weights[others])
    return _step(problem, point, columns, residual, problem.objective(point) - paid, MODEL_SHARE * inside) is not None


def _worst(problem: Problem, violations: FloatArray, residual: FloatArray) -> float:
    worst = float(violations.max(initial=0.0))
    return max(worst, float(np.abs(residual.sum(axis=1)).max())) if problem.fit_intercept else worst


def _working_set(violations: FloatArray, used: Places, size: int) -> Places:
    """What is in the model, and the columns outside that violate their condition most."""
    outside = violations.copy()
    outside[used] = 0.0
    room = min(size - len(used), int(np.count_nonzero(outside)))
    if room <= 0:
        return used
    entering = np.argpartition(-outside, room - 1)[:room] if room < len(outside) else np.flatnonzero(outside)
    return np.sort(np.concatenate([used, entering]))


def _step(
    problem: Problem, point: Point, working: Places, residual: FloatArray, objective: float, tolerance: float
) -> float | None:
    """One Newton step on the working set, in place; the new objective, or None if no step lowers it.

    Weights outside the working set are not paid for in either objective.
    """
    loss, native = problem.loss, problem.columns.native
    diagonal = problem.diagonal(point.scores)
    curvature = np.ascontiguousarray(loss.curvature(point.scores)) if loss.coupled else diagonal
    weights, intercept = point.weights[working], point.intercept.copy()
    prices = problem.prices[working]
    slopes = problem.slopes(residual, working)
    _, moved = native.descend(
        working,
        curvature,
        problem.row_weights if loss.coupled else np.zeros(0),
        residual,
        problem.columns.weighted_squares(working, diagonal),
        diagonal.sum(axis=1),
        prices,
        penalty=problem.penalty.name,
        intercept=problem.fit_intercept,
        tolerance=tolerance,
        most_passes=MOST_PASSES,
        weights=weights,
        intercepts=intercept,
    )
    steps, shift = weights - point.weights[working], intercept - point.intercept
    direction = np.asarray(moved).reshape(point.scores.shape)
    old = point.weights[working]
    paid_before = problem.price_of(working, old)
    expected = float((slopes * steps).sum() + residual.sum(axis=1) @ shift)
    expected += problem.price_of(working, weights) - paid_before
    if not expected < 0.0:
        return None
    share = 1.0
    while share > SHORTEST_STEP:
        tried = weights if share == 1.0 else old + share * steps
        scores = point.scores + share * direction
        value = problem.mean_loss(scores) + problem.price_of(working, tried)
        if value <= objective + ENOUGH_DECREASE * share * expected and value < objective:
            point.weights[working] = tried
            point.intercept = point.intercept + share * shift
            point.scores = scores
            return value
        share *= 0.5
    return None
