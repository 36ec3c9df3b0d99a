"""Newton's method for small minimax problems of linear models: a path of smooth problems to a proven optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.linear.minimax import Minimax, Point, Solution
from radboost.losses.smoothing import smooth_maximum

MOST_WEIGHTS, MOST_CELLS = 150, 2**24  # of a small problem: weights, and numbers that are kept of the rows
MOST_STEPS = 200
# Widths of the smoothing, relative to the objective without weights, and the factor from one to the next.
WIDEST, NARROWEST, NARROWING = 0.1, 1e-11, 0.2
CENTERED = 0.05  # length of the gradient, times radius / width, at which the next width follows
ENOUGH_DECREASE, SHORTEST_STEP = 1e-4, 1e-6
INSIDE = 0.99  # of the radius: where the path begins, at most


def polish(problem: Minimax, solution: Solution, gap: float) -> Solution:
    """Solution at most `gap` above its lower bound, if the problem is small; otherwise the given one."""
    n_weights, n_curvatures = solution.point.size, len(problem.losses) * problem.n_outputs**2  # for each row
    cells = (n_weights + n_curvatures) * problem.columns.n_rows
    if solution.gap <= gap or n_weights > MOST_WEIGHTS or cells > MOST_CELLS:
        return solution
    origin = problem.scores(0.0 * solution.point)
    if any(loss.smoothed(origin, 1.0) is None if loss.convex else loss.least < 0.0 for loss in problem.losses):
        return solution
    with one_blas_thread:
        return Path(problem).follow(solution, gap)


@dataclass
class Smooth:
    """Smooth objective at a point: value, derivatives by all weights, and a minorant of the mixed losses."""

    value: float
    gradient: FloatArray
    hessian: FloatArray
    mixture: FloatArray
    constant: float
    slopes: FloatArray

    def step(self) -> FloatArray | None:
        """Newton's step; None where rounding hides that the Hessian is positive definite."""
        try:
            return np.asarray(-cho_solve(cho_factor(self.hessian), self.gradient))
        except LinAlgError:
            return None


class Path:
    """Minima of smooth objectives whose widths tend to 0.

    Kinks of the losses, of the maximum over mixtures and of the norm are smoothed with a width, and the ball has a
    barrier of this width. Losses that are not convex count as their least values.
    """

    def __init__(self, problem: Minimax) -> None:
        self._problem = problem
        columns = problem.columns.scores(problem.columns.everything, np.eye(problem.columns.n_columns))
        self._rows = np.vstack([columns - problem.means[:, None], np.ones(problem.columns.n_rows)]).T
        self._vertices = np.eye(len(problem.losses)) if problem.vertices is None else problem.vertices

    def follow(self, best: Solution, gap: float) -> Solution:
        problem, scale = self._problem, self._problem.scale
        length = float(np.linalg.norm(best.point))
        point = best.point * min(1.0, INSIDE * problem.radius / length) if length > 0.0 else best.point
        width, last = WIDEST * scale, point
        here = self._smooth(point, width)
        for _ in range(MOST_STEPS):
            centered = problem.radius * float(np.linalg.norm(here.gradient)) <= CENTERED * width
            moved = None if centered else self._moved(point, here, width)
            if moved is not None:
                point, here = moved
                continue
            objective = problem.objective(problem.values(problem.scores(point)), point)
            if objective < best.objective:
                best = replace(best, point=point, mixture=here.mixture / here.mixture.sum(), objective=objective)
            bound = problem.lower_bound(here.constant, here.slopes)
            best = replace(best, lower_bound=max(bound, best.lower_bound))
            width *= NARROWING
            if best.gap <= gap or width < NARROWEST * scale:
                break
            # The minima are nearly linear in the width.
            point, last = self._problem.into_ball(point + NARROWING * (point - last)), point
            here = self._smooth(point, width)
        return best

    def _moved(self, point: Point, here: Smooth, width: float) -> tuple[Point, Smooth] | None:
        """Point after a Newton step, halved until the smooth objective falls; None if it does not."""
        step, fraction = here.step(), 1.0
        if step is None:
            return None
        length, slope = float(np.linalg.norm(here.gradient)), float(here.gradient @ step)
        while fraction > SHORTEST_STEP:
            moved = point + fraction * step.reshape(point.shape)
            if np.linalg.norm(moved) < self._problem.radius:
                there = self._smooth(moved, width)
                lower = there.value <= here.value + ENOUGH_DECREASE * fraction * slope
                # Near the minimum rounding hides a decrease, but not that the gradient is shorter.
                if lower or np.linalg.norm(there.gradient) <= 0.5 * length:
                    return moved, there
            fraction *= 0.5
        return None

    def _smooth(self, point: Point, width: float) -> Smooth:
        result = self._smooth_losses(point, width)
        flat, inner = point.ravel(), point.size - self._problem.n_outputs
        room = self._problem.radius**2 - float(flat @ flat)
        result.value -= width * float(np.log(room))
        result.gradient += 2.0 * width / room * flat
        result.hessian += 2.0 * width / room * np.eye(point.size) + 4.0 * width / room**2 * np.outer(flat, flat)
        if self._problem.norm_penalty > 0.0:
            price, weights = self._problem.norm_penalty, flat[:inner]
            root = float(np.hypot(width, np.linalg.norm(weights)))
            size = width + root
            result.value += price * (size - width * float(np.log(size)))
            result.gradient[:inner] += price / size * weights
            outer = np.outer(weights, weights) / (size * root)
            result.hessian[:inner, :inner] += price / size * (np.eye(inner) - outer)
        return result

    def _smooth_losses(self, point: Point, width: float) -> Smooth:
        """Smooth maximum over mixtures of smooth losses, without the norm and the ball."""
        problem, rows, k = self._problem, self._rows, self._problem.n_outputs
        scores = np.ascontiguousarray((rows @ point).T)
        values, constants = problem.offsets.copy(), problem.offsets.copy()
        slopes, curvatures = np.zeros((len(values), *scores.shape)), np.zeros((len(values), k, *scores.shape))
        for index, loss in enumerate(problem.losses):
            smooth, unit = loss.smoothed(scores, width) if loss.convex else None, problem.units[index]
            if smooth is None:
                values[index] += loss.least / unit
                constants[index] += loss.least / unit
                continue
            values[index] += problem.row_weights @ smooth[0] / unit
            constants[index] -= problem.row_weights @ loss.conjugate(smooth[1]) / unit
            slopes[index], curvatures[index] = smooth[1] / unit, smooth[2] / unit
        worst, shares, bends = smooth_maximum((self._vertices @ values)[:, None], width)
        mixture = shares[:, 0] @ self._vertices
        by_loss = np.array([(rows.T @ (each * problem.row_weights).T).ravel() for each in slopes])
        by_vertex = self._vertices @ by_loss
        curvature = np.tensordot(mixture, curvatures, 1) * problem.row_weights
        blocks = [[rows.T @ (each[:, None] * rows) for each in line] for line in curvature]
        hessian = np.array(blocks).transpose(2, 0, 3, 1).reshape(point.size, point.size)
        hessian = hessian + by_vertex.T @ bends[:, :, 0] @ by_vertex
        mixed = np.tensordot(mixture, slopes, 1)
        return Smooth(float(worst[0]), mixture @ by_loss, hessian, mixture, float(mixture @ constants), mixed)
