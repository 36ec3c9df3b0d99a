"""The global minimum of (4) over a fixed dictionary, from a general-purpose solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from .losses import Loss


@dataclass(frozen=True)
class Optimum:
    value: float
    alpha: np.ndarray
    violation: float  # largest distance of a coordinate's subdifferential from 0


def subgradient_violation(
    loss: Loss, H: np.ndarray, y: np.ndarray, w: np.ndarray, Lambda: np.ndarray, alpha: np.ndarray
) -> float:
    """How far alpha is from satisfying the optimality conditions of (4)."""
    gradient = -H.T @ (w * y * loss.derivative(1 - y * (H @ alpha))) / w.sum()
    at_zero = np.maximum(np.abs(gradient) - Lambda, 0)
    moved = np.abs(gradient + np.sign(alpha) * Lambda)
    return float(np.max(np.where(alpha == 0, at_zero, moved)))


def lowest(both: Callable[[np.ndarray], tuple[float, np.ndarray]], n: int, restarts: int = 3) -> np.ndarray:
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


def minimise(loss: Loss, H: np.ndarray, y: np.ndarray, w: np.ndarray, Lambda: np.ndarray) -> Optimum:
    """Over alpha = p - n with p, n >= 0."""
    H = np.asarray(H, dtype=float)
    n = H.shape[1]
    m = float(w.sum())

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        alpha = z[:n] - z[n:]
        u = np.minimum(1 - y * (H @ alpha), 500.0)
        pull = -H.T @ (w * y * loss.derivative(u)) / m
        return float(np.sum(w * loss.value(u)) / m + Lambda @ (z[:n] + z[n:])), np.concatenate(
            [pull + Lambda, -pull + Lambda]
        )

    z = lowest(both, 2 * n)
    alpha = z[:n] - z[n:]
    value = float(np.sum(w * loss.value(1 - y * (H @ alpha))) / m + Lambda @ np.abs(alpha))
    return Optimum(value, alpha, subgradient_violation(loss, H, y, w, Lambda, alpha))
