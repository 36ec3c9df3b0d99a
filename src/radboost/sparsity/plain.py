"""The updates of the paper as they stand: exact minima of its exponential and quadratic bounds, template by template."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from radboost._typing import FloatArray
from radboost.sparsity.columns import Places
from radboost.sparsity.problem import Point, Problem, Trail

TEMPLATES = ("one", "all", "auto")
UPDATES = ("adaboost", "gradboost")
# Up to so many columns, one at a time makes the most of each; beyond, all of them together cost one product of matrices.
FEW_COLUMNS = 256


def solve_by_bounds(
    problem: Problem,
    point: Point,
    tolerance: float,
    max_rounds: int,
    trail: Trail,
    *,
    update: str,
    template: str | int = "auto",
    columns: Places | None = None,
) -> Point:
    """Rounds until no termination condition is violated by more than `tolerance`; each touches every column once.

    `columns` restricts the rounds to some columns: pure weight updates, as section 8 calls them.
    """
    columns = problem.everything if columns is None else columns
    blocks = list(_blocks(problem, columns, template))
    step = _adaboost if update == "adaboost" else _gradboost
    scales = [_scale(problem, block, update) for block in blocks]
    while len(trail.objective) < max_rounds:
        residual = problem.residual(point.scores)
        slopes = problem.slopes(residual, columns)
        violations = problem.penalty.violation(point.weights[columns], slopes, problem.prices[columns])
        worst = float(violations.max(initial=0.0))
        if problem.fit_intercept:
            worst = max(worst, float(np.abs(residual.sum(axis=1)).max()))
        if worst <= tolerance:
            trail.stop_reason = "optimal"
            break
        for block, scale in zip(blocks, scales, strict=True):
            moved = step(problem, point, block, scale)
            steps = moved - point.weights[block]
            changed = np.flatnonzero(steps.any(axis=1))
            if len(changed):
                point.scores += problem.columns.scores(block[changed], steps[changed])
                point.weights[block] = moved
        if problem.fit_intercept:
            _move_the_intercept(problem, point, update)
        trail.note(problem.objective(point), len(point.used))
    return point


def _blocks(problem: Problem, columns: Places, template: str | int) -> Iterator[Places]:
    """The columns that one template holds: one, all, or so many of them."""
    if template == "auto":
        template = "one" if len(columns) <= FEW_COLUMNS else "all"
    size = {"one": 1, "all": max(1, len(columns))}[template] if isinstance(template, str) else template
    yield from (columns[begin : begin + size] for begin in range(0, len(columns), size))


def _scale(problem: Problem, block: Places, update: str) -> FloatArray:
    """What makes a template safe.

    AdaBoost: the one number a = 1 / max over i of sum over j of |x_ij|, half of it for multinomial losses (Figure 3).
    GradBoost: the curvature C n sum of x_ij^2 of each column, where n is the number of columns that a row can meet in
    the block; the paper has the size of the block there, and for sparse rows this is less.
    """
    ones = np.ones((len(block), 1))
    if update == "adaboost":
        sums = np.zeros((1, problem.columns.n_rows))
        for column in block:  # row sums of absolute values, one column after the other
            part = problem.columns.scores(np.array([column]), np.ones((1, 1)))
            sums += np.abs(part)
        largest = float(sums.max(initial=0.0))
        return np.array([1.0 / (problem.loss.budget * largest) if largest > 0.0 else 1.0])
    bound = problem.loss.curvature_bound
    assert bound is not None  # the estimators have checked that
    squares = problem.columns.weighted_squares(block, np.ascontiguousarray(problem.row_weights[None]))
    return np.asarray(bound * len(block) * squares * ones)


def _adaboost(problem: Problem, point: Point, block: Places, scale: FloatArray) -> FloatArray:
    """Figures 1 and 3: equation (8) or Figure 2 on the correlations mu+ and mu-."""
    up, down = (np.ascontiguousarray(problem.row_weights * half) for half in problem.loss.halves(point.scores))
    total = problem.columns.correlate(block, up + down, absolute=True)
    difference = problem.columns.correlate(block, up - down)
    plus, minus = np.maximum(total + difference, 0.0) / 2.0, np.maximum(total - difference, 0.0) / 2.0
    return problem.penalty.exponential_update(
        plus, minus, point.weights[block], float(scale[0]), problem.prices[block]
    )


def _gradboost(problem: Problem, point: Point, block: Places, scale: FloatArray) -> FloatArray:
    """Figures 4 to 6: equations (25), (26) and (35) on the slopes."""
    weights = point.weights[block]
    slopes = problem.slopes(problem.residual(point.scores), block)
    curvatures = np.broadcast_to(scale, slopes.shape)
    return problem.penalty.update(curvatures, slopes - curvatures * weights, problem.prices[block])


def _move_the_intercept(problem: Problem, point: Point, update: str) -> None:
    """The same bounds for a column of ones that costs nothing."""
    if update == "adaboost":
        up, down = (problem.row_weights * half for half in problem.loss.halves(point.scores))
        plus, minus = up.sum(axis=1), down.sum(axis=1)
        known = (plus > 0.0) & (minus > 0.0)
        steps = np.zeros_like(plus)
        steps[known] = 0.5 * np.log(plus[known] / minus[known]) / problem.loss.budget
    else:
        bound = problem.loss.curvature_bound
        assert bound is not None
        steps = -problem.residual(point.scores).sum(axis=1) / bound
    point.intercept = point.intercept + steps
    point.scores += steps[:, None]


def progress(problem: Problem, scores: FloatArray, columns: Places, update: str) -> FloatArray:
    """By how much at least a new hypothesis lowers the objective: (36), (37), (38), or the solved row.

    For hypotheses that have no weight yet. Whatever update: a score of zero says that the hypothesis stays out.
    """
    zeros = np.zeros((len(columns), problem.loss.n_outputs))
    prices = problem.prices[columns]
    line = np.ascontiguousarray(problem.row_weights[None])
    if update == "adaboost":
        up, down = (np.ascontiguousarray(problem.row_weights * half) for half in problem.loss.halves(scores))
        total = problem.columns.correlate(columns, up + down, absolute=True)
        difference = problem.columns.correlate(columns, up - down)
        plus, minus = np.maximum(total + difference, 0.0) / 2.0, np.maximum(total - difference, 0.0) / 2.0
        gains = np.empty(len(columns))
        for place, column in enumerate(columns):
            size = float(np.abs(problem.columns.scores(np.array([column]), np.ones((1, 1)))).max(initial=0.0))
            template = 1.0 / (problem.loss.budget * size) if size > 0.0 else 1.0
            row = slice(place, place + 1)
            moved = problem.penalty.exponential_update(plus[row], minus[row], zeros[row], template, prices[row])
            gain = plus[row] * -np.expm1(-moved / template) + minus[row] * -np.expm1(moved / template)
            gains[place] = template * gain.sum() - prices[place] * problem.penalty.size(moved)[0]
        return gains
    slopes = problem.slopes(problem.residual(scores), columns)
    bound = problem.loss.curvature_bound
    if bound is None or update == "newton":
        curvatures = problem.columns.weighted_squares(columns, problem.diagonal(scores))
    else:
        curvatures = np.broadcast_to(bound * problem.columns.weighted_squares(columns, line), slopes.shape)
    moved = problem.penalty.update(curvatures, slopes, prices)
    fall = -(0.5 * curvatures * moved**2 + slopes * moved).sum(axis=1)
    return np.asarray(fall - prices * problem.penalty.size(moved))
