"""Solver by the updates of Duchi and Singer (2009): exact minima of exponential and quadratic bounds on the loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import Need
from radboost.linear.columns import Indices
from radboost.linear.problem import Point, SparseProblem, Trail
from radboost.penalties import ROW_PENALTIES

# Requirements of the updates on loss and penalty.
NEEDS: dict[str, tuple[Need, ...]] = {
    "adaboost": (
        Need(
            "penalty",
            "exponential",
            'update="adaboost" has no closed form with penalty={name!r}; use penalty={able}, or update="gradboost" or '
            '"newton".',
            ROW_PENALTIES,
        ),
    ),
    "gradboost": (
        Need(
            "loss",
            "lipschitz",
            'update="gradboost" needs a bound on the curvature, and the {name} loss has none; use update="adaboost" or '
            '"newton".',
        ),
    ),
}
FEW_COLUMNS = 256  # up to which template="auto" updates one column at a time; more are updated in one matrix product


def solve_by_bounds(
    problem: SparseProblem,
    point: Point,
    tolerance: float,
    n_rounds: int,
    trail: Trail,
    *,
    update: str,
    template: str | int = "auto",
    columns: Indices | None = None,
) -> Point:
    """Rounds until no termination condition is violated by more than `tolerance`; each touches every column once.

    `columns` restricts the rounds to some columns: pure weight updates, as section 8 calls them.
    """
    columns = problem.everything if columns is None else columns
    blocks = list(_blocks(columns, template))
    step = _adaboost if update == "adaboost" else _gradboost
    scales = [(_templates if update == "adaboost" else _curvatures)(problem, block) for block in blocks]
    while len(trail.objective) < n_rounds:
        residual = problem.residual(point.scores)
        slopes = problem.slopes(residual, columns)
        _, worst = problem.violations(point.weights[columns], slopes, residual, columns)
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


def _blocks(columns: Indices, template: str | int) -> Iterator[Indices]:
    """Blocks of columns, one per template: single columns, all of them, or `template` at a time."""
    if template == "auto":
        template = "one" if len(columns) <= FEW_COLUMNS else "all"
    size = {"one": 1, "all": max(1, len(columns))}[template] if isinstance(template, str) else template
    yield from (columns[begin : begin + size] for begin in range(0, len(columns), size))


def _templates(problem: SparseProblem, block: Indices) -> FloatArray:
    """a_j of AdaBoost: one over the largest row sum of |x| in the block, half of that if multinomial (Figure 3)."""
    largest = problem.columns.row_sums(block).max(initial=0.0)
    return np.full(len(block), 1.0 / (problem.loss.budget * largest) if largest > 0.0 else 1.0)


def _curvatures(problem: SparseProblem, block: Indices) -> FloatArray:
    """1 / (4 a_j) of GradBoost, or 1 / (2 a_j) for multinomial losses: the second derivatives of its bounds."""
    # The paper has a_j = 1 / (n sum of x_ij^2) for n columns at once. A row with entries in c_i of them needs only
    # c_i instead of n, by the inequality of Cauchy and Schwarz, which for sparse rows is much less.
    bound = problem.loss.lipschitz
    assert bound is not None  # the estimators have checked that
    met = problem.row_weights if len(block) == 1 else problem.row_weights * problem.columns.row_counts(block)
    return np.asarray(bound * problem.columns.weighted_squares(block, np.ascontiguousarray(met[None])))


def _correlations(problem: SparseProblem, scores: FloatArray, columns: Indices) -> tuple[FloatArray, FloatArray]:
    """mu+ and mu- of Lemmas 1 and 5."""
    up, down = (np.ascontiguousarray(problem.row_weights * half) for half in problem.loss.halves(scores))
    total = problem.columns.correlate(columns, up + down, absolute=True)
    difference = problem.columns.correlate(columns, up - down)
    return np.maximum(total + difference, 0.0) / 2.0, np.maximum(total - difference, 0.0) / 2.0


def _adaboost(problem: SparseProblem, point: Point, block: Indices, templates: FloatArray) -> FloatArray:
    """Figures 1 and 3: equation (8) or Figure 2 on the correlations mu+ and mu-."""
    plus, minus = _correlations(problem, point.scores, block)
    return problem.penalty.exponential_update(plus, minus, point.weights[block], templates, problem.prices[block])


def _gradboost(problem: SparseProblem, point: Point, block: Indices, curvatures: FloatArray) -> FloatArray:
    """Figures 4 to 6: equations (25), (26) and (35) on the slopes."""
    slopes = problem.slopes(problem.residual(point.scores), block)
    curvatures = np.broadcast_to(curvatures, slopes.shape)
    return problem.penalty.update(curvatures, slopes - curvatures * point.weights[block], problem.prices[block])


def _move_the_intercept(problem: SparseProblem, point: Point, update: str) -> None:
    """Move the intercept by the same bounds: it is a column of ones without a price."""
    if update == "adaboost":
        up, down = (problem.row_weights * half for half in problem.loss.halves(point.scores))
        plus, minus = up.sum(axis=1), down.sum(axis=1)
        known = (plus > 0.0) & (minus > 0.0)
        steps = np.zeros_like(plus)
        steps[known] = 0.5 * np.log(plus[known] / minus[known]) / problem.loss.budget
    else:
        bound = problem.loss.lipschitz
        assert bound is not None
        steps = -problem.residual(point.scores).sum(axis=1) / bound
    point.intercept = point.intercept + steps
    point.scores += steps[:, None]


def progress(problem: SparseProblem, point: Point, columns: Indices, update: str) -> FloatArray:
    """Lower bound on the decrease of the objective by a step along each column: (36), (37), (38), or the solved row.

    With the local curvature instead of a bound (`update="newton"`) it is the decrease of the quadratic model.
    """
    weights, prices = point.weights[columns], problem.prices[columns]
    paid = prices * problem.penalty.size(weights)
    if update == "adaboost":
        plus, minus = _correlations(problem, point.scores, columns)
        largest = problem.columns.largest(columns)
        templates = np.divide(1.0, problem.loss.budget * largest, out=np.ones_like(largest), where=largest > 0.0)
        moved = problem.penalty.exponential_update(plus, minus, weights, templates, prices)
        steps = (moved - weights) / templates[:, None]
        gains = -(plus * np.expm1(-steps) + minus * np.expm1(steps)).sum(axis=1) * templates
        return np.asarray(gains + paid - prices * problem.penalty.size(moved))
    slopes = problem.slopes(problem.residual(point.scores), columns)
    if update == "newton":
        curvatures = problem.columns.weighted_squares(columns, problem.diagonal(point.scores))
    else:
        bound = problem.loss.lipschitz
        assert bound is not None
        curvature = np.ascontiguousarray(bound * problem.row_weights[None])
        curvatures = np.broadcast_to(problem.columns.weighted_squares(columns, curvature), slopes.shape)
    moved = problem.penalty.update(curvatures, slopes - curvatures * weights, prices)
    steps = moved - weights
    gains = -(0.5 * curvatures * steps**2 + slopes * steps).sum(axis=1)
    return np.asarray(gains + paid - prices * problem.penalty.size(moved))
