"""The global minimum of (7), (8) or (9) over a fixed dictionary, from a general-purpose solver.

With two classes all three are (4) of Deep Boosting: a hypothesis and its opposite are both in the dictionary, so that
weights at or above zero are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from .losses import LN2
from .multiclass import Objective, base_margin, others, vertex


@dataclass(frozen=True)
class Optimum:
    value: float
    alpha: np.ndarray
    violation: float  # largest distance of a coordinate's subdifferential from 0


def lowest(both: Callable[[np.ndarray], tuple[float, np.ndarray]], n: int, restarts: int = 4) -> np.ndarray:
    """argmin over z >= 0 of a function that returns value and gradient: L-BFGS-B, then again from where it stopped."""
    z = np.zeros(n)
    for _ in range(restarts):
        z = minimize(
            both,
            z,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * n,
            options={"maxiter": 20000, "maxfun": 200000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30},
        ).x
    return z


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

    alpha = lowest(both, len(H))
    value, gradient = both(alpha)
    violation = np.max(np.where(alpha > 0, np.abs(gradient), np.maximum(-gradient, 0)))
    return Optimum(value, alpha, float(violation))
