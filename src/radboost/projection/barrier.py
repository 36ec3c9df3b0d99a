"""Interior-point minimization of the sum of a_k / mu_k over a cell of mixtures."""

from __future__ import annotations

import math

import numpy as np

from radboost._typing import FloatArray
from radboost.projection.mixtures import Cell

SHARPEST = 1e-11  # weight of the last logarithmic barrier; costs are about 1


def interior_point(cell: Cell, start: FloatArray) -> FloatArray | None:
    """Mixture strictly inside the cell; None if there is none.

    Newton's method with a logarithmic barrier minimizes the largest violation s of a condition, until s < 0.
    """
    scale = _scales(cell)
    point = np.maximum(start, 1e-6)
    excess = float(np.max(-cell.slacks(point) / scale)) + 1.0
    if excess - 1.0 < -1e-9:
        return point
    weight = 1.0
    for _ in range(60):
        for _ in range(30):
            step, decrement = _phase_one_step(cell, scale, point, excess, weight)
            length = 1.0
            while length > 1e-12 and not _inside(cell, scale, point + length * step[:-1], excess + length * step[-1]):
                length *= 0.5
            point, excess = point + 0.9 * length * step[:-1], excess + 0.9 * length * step[-1]
            slacks = cell.slacks(point) / scale
            if slacks.min() > 1e-7:
                return point
            if decrement < 1e-9:
                break
        weight *= 0.2
        if weight < 1e-9:
            break
    return None


def least_costs(cell: Cell, costs: FloatArray, start: FloatArray) -> FloatArray:
    """Mixture of the cell that minimizes the sum of costs_k / mu_k; `start` and every step are inside."""
    if not (costs > 0.0).any():
        return start
    unit = costs / float(np.sum(costs / start))  # the sum is 1 at the start
    free = _least_costs_of_all(cell, unit)
    if free is not None:
        return free
    point, weight = start, 0.1
    while weight > SHARPEST:
        for _ in range(50):
            step, decrement = _newton_step(cell, unit, point, weight)
            # Only the minimum for the last barrier is accurate; earlier ones are approximate.
            if decrement < max(1e-12, 1e-3 * weight):
                break
            length = _longest(cell, point, step)
            value = _barrier_value(cell, unit, point, weight)
            while length > 1e-14:
                tried = point + length * step
                if _barrier_value(cell, unit, tried, weight) <= value - 0.1 * length * decrement:
                    break
                length *= 0.5
            else:
                break
            point = tried
        weight *= 0.02
    return point


def _longest(cell: Cell, point: FloatArray, step: FloatArray) -> float:
    """Step length: at most 1, and 0.99 of the way to the nearest linear condition."""
    used = np.concatenate([cell.rows @ step / cell.slacks(point)[:-1], -step / point])
    return min(1.0, 0.99 / max(float(used.max()), 1e-300))


def _least_costs_of_all(cell: Cell, unit: FloatArray) -> FloatArray | None:
    """Minimum where only sum mu <= 1 and the sum of inverses bind; None outside the cell."""
    # mu_k is proportional to sqrt(a_k + t), with the least t >= 0 that the sum of inverses allows.

    def at(price: float) -> FloatArray:
        roots = np.sqrt(np.maximum(unit, 1e-16 * unit.max()) + price)
        return np.asarray(roots / roots.sum() * (1.0 - 1e-12))

    limit = cell.inverse_sum * (1.0 - 1e-12)
    low, high = 0.0, 0.0
    if np.sum(1.0 / at(0.0)) > limit:
        high = float(unit.max())
        while np.sum(1.0 / at(high)) > limit:
            low, high = high, 4.0 * high
            if high > 1e12 * float(unit.max()):
                return None
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.sum(1.0 / at(middle)) > limit else (low, middle)
    point = at(high)
    return point if cell.slacks(point).min() > 0.0 else None


def _scales(cell: Cell) -> FloatArray:
    """Units of the conditions: the sizes of their coefficients."""
    return np.append(np.maximum(np.abs(cell.rows).max(axis=1), 1e-300), cell.inverse_sum)


def _inside(cell: Cell, scale: FloatArray, point: FloatArray, excess: float) -> bool:
    return bool((point > 0.0).all() and (cell.slacks(point) / scale + excess).min() > 0.0)


def _derivatives(cell: Cell, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slacks, their gradients (a row each), and the second derivatives of that on the inverses, on the diagonal."""
    return cell.slacks(point), np.vstack([-cell.rows, 1.0 / point**2]), -2.0 / point**3


def _barrier_value(cell: Cell, unit: FloatArray, point: FloatArray, weight: float) -> float:
    slacks = cell.slacks(point)
    if slacks.min() <= 0.0:
        return math.inf
    return float(np.sum(unit / point) - weight * (np.sum(np.log(slacks)) + np.sum(np.log(point))))


def _newton_step(cell: Cell, unit: FloatArray, point: FloatArray, weight: float) -> tuple[FloatArray, float]:
    slacks, gradients, curved = _derivatives(cell, point)
    scaled = gradients / slacks[:, None]
    gradient = -unit / point**2 - weight * (scaled.sum(axis=0) + 1.0 / point)
    hessian = weight * scaled.T @ scaled
    diagonal = 2.0 * unit / point**3 + weight / point**2 - weight * curved / slacks[-1]
    hessian[np.diag_indices(len(point))] += diagonal
    step = -np.linalg.solve(hessian, gradient)
    return step, float(-gradient @ step)


def _phase_one_step(
    cell: Cell, scale: FloatArray, point: FloatArray, excess: float, weight: float
) -> tuple[FloatArray, float]:
    """Newton's step for s - weight * (sum of logarithms of slack / scale + s, and of mu)."""
    slacks, gradients, curved = _derivatives(cell, point)
    margins = slacks / scale + excess
    rows = np.hstack([gradients / scale[:, None], np.ones((len(slacks), 1))]) / margins[:, None]
    gradient = -weight * rows.sum(axis=0)
    gradient[:-1] -= weight / point
    gradient[-1] += 1.0
    hessian = weight * rows.T @ rows
    diagonal = weight / point**2 - weight * curved / scale[-1] / margins[-1]
    hessian[np.arange(len(point)), np.arange(len(point))] += diagonal
    hessian[-1, -1] += 1e-12
    step = -np.linalg.solve(hessian, gradient)
    return step, float(-gradient @ step)
