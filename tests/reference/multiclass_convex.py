"""The global minimum of (7), (8) or (9) over a fixed dictionary, from a general-purpose solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .convex import Optimum, lowest
from .losses import LN2
from .multiclass import Objective, base_margin, others, vertex


def dictionary(answers: Sequence[Sequence[int]], n_classes: int) -> list[np.ndarray]:
    return [vertex(np.array(a), n_classes) for a in answers]


def smooth_part(objective: Objective, H: Sequence[np.ndarray]) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """alpha -> mean loss and its gradient."""
    y, w, C = objective.y, objective.w / objective.m, objective.n_classes
    m = len(y)
    if objective.name == "maxsum":
        rho = np.column_stack([base_margin(h, y) for h in H])

        def by_margin(alpha: np.ndarray) -> tuple[float, np.ndarray]:
            u = 1 - rho @ alpha
            return float(np.sum(w * objective.loss.value(u))), -rho.T @ (w * objective.loss.derivative(u))

        return by_margin
    wrong = np.array([others(int(c), C) for c in y])
    rows = np.arange(m)
    gaps = np.stack([h[rows, y][:, None] - h[rows[:, None], wrong] for h in H])  # hypothesis, row, wrong label

    def by_label(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        u = 1 - np.tensordot(alpha, gaps, 1)
        if objective.name == "sum":
            value, pull = np.sum(objective.loss.value(u), axis=1), objective.loss.derivative(u)
        else:
            whole = np.logaddexp(0, np.logaddexp.reduce(u, axis=1))
            value, pull = whole / LN2, np.exp(u - whole[:, None]) / LN2
        return float(np.sum(w * value)), -np.tensordot(gaps, w[:, None] * pull, 2)

    return by_label


def minimise(objective: Objective, H: Sequence[np.ndarray], Lambda: np.ndarray) -> Optimum:
    """Over alpha >= 0; `violation` is the largest distance from the optimality conditions of that."""
    part = smooth_part(objective, H)

    def both(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = part(alpha)
        return value + float(Lambda @ alpha), gradient + Lambda

    alpha = lowest(both, len(H), restarts=4)
    value, gradient = both(alpha)
    violation = np.max(np.where(alpha > 0, np.abs(gradient), np.maximum(-gradient, 0)))
    return Optimum(value, alpha, float(violation))
