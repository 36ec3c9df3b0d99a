"""Boosting with Structural Sparsity, letter by letter: losses, penalties, bounds, and minima without a formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize

PENALTIES: dict[str, Callable[[np.ndarray], float]] = {
    "l1": lambda w: float(np.abs(w).sum()),
    "l1/l2": lambda w: float(np.sqrt((w**2).sum(axis=1)).sum()),
    "l1/linf": lambda w: float(np.abs(w).max(axis=1).sum()),
    "l2": lambda w: float(0.5 * (w**2).sum()),
    # Section 10, less 2 log 2 for each weight.
    "smooth_l1": lambda w: float((np.logaddexp(0.0, w) + np.logaddexp(0.0, -w) - 2.0 * math.log(2.0)).sum()),
}
# The derivatives of those that have one everywhere.
PULLS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "l2": lambda w: w,
    "smooth_l1": lambda w: 1.0 / (1.0 + np.exp(-w)) - 1.0 / (1.0 + np.exp(w)),
}


def logistic(signs: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(1) and (3): a line of signs for each task, 0 where the label is missing."""
    return np.array(
        [
            sum(math.log1p(math.exp(-s * f)) for s, f in zip(signs[:, i], scores[:, i], strict=True) if s)
            for i in range(signs.shape[1])
        ]
    )


def exponential(signs: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return np.exp(-signs[0] * scores[0])


def multinomial(classes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(4)."""
    return np.array(
        [
            math.log(1.0 + sum(math.exp(f - scores[c, i]) for r, f in enumerate(scores[:, i]) if r != c))
            for i, c in enumerate(classes)
        ]
    )


def epsilon_insensitive(targets: np.ndarray, epsilon: float, scores: np.ndarray) -> np.ndarray:
    """(39)."""
    excess = scores[0] - targets
    return np.log1p(np.exp(excess - epsilon)) + np.log1p(np.exp(-excess - epsilon))


def exponential_bound(
    weights: np.ndarray, old: np.ndarray, up: np.ndarray, down: np.ndarray, a: float, price: float, penalty: str
) -> float:
    """(7) and (17) for one row, up to constants."""
    steps = (weights - old) / a
    return float(a * (up * np.exp(-steps) + down * np.exp(steps)).sum() + price * PENALTIES[penalty](weights[None]))


def quadratic_bound(weights: np.ndarray, curvature: np.ndarray, slope: np.ndarray, price: float, penalty: str) -> float:
    """(24), (26) and (34) for one row."""
    return float((0.5 * curvature * weights**2 + slope * weights).sum() + price * PENALTIES[penalty](weights[None]))


def minimum(function: Callable[[np.ndarray], float], size: int, penalty: str, price: float) -> float:
    """The smallest value of a smooth convex function of one row plus price * penalty, from a general solver.

    `function` is the smooth part. |w| <= t is a pair of linear constraints; the Euclidean norm is smoothed.
    """
    if penalty in PULLS:
        return float(_smooth(lambda w: function(w) + price * PENALTIES[penalty](w[None]), np.zeros(size))[0])
    if penalty == "l1/l2":
        x = np.full(size, 0.1)
        for width in (1e-3, 1e-7):

            def rounded(w: np.ndarray, width: float = width) -> float:
                return function(w) + price * math.sqrt((w**2).sum() + width**2)

            x = _smooth(rounded, x)[1]
        return min(function(v) + price * float(np.linalg.norm(v)) for v in (x, np.zeros(size)))
    owner = np.arange(size) if penalty == "l1" else np.zeros(size, dtype=int)
    # The solver only comes near to the corner.
    return min(_epigraph(function, size, owner, np.full(owner.max() + 1, price)), function(np.zeros(size)))


def _smooth(function: Callable[[np.ndarray], float], start: np.ndarray) -> tuple[float, np.ndarray]:
    best = minimize(function, start, method="BFGS", options={"gtol": 1e-9}).x
    return float(function(best)), best


def _epigraph(function: Callable[[np.ndarray], float], size: int, owner: np.ndarray, prices: np.ndarray) -> float:
    """min function(w) + prices . t with |w_i| <= t_owner(i)."""
    n = len(prices)
    rows = np.zeros((2 * size, size + n))
    for i in range(size):
        rows[i, i], rows[size + i, i] = -1.0, 1.0
        rows[i, size + owner[i]] = rows[size + i, size + owner[i]] = 1.0
    start = np.concatenate([np.full(size, 0.01), np.full(n, 0.02)])
    for _ in range(2):
        found = minimize(
            lambda z: function(z[:size]) + prices @ z[size:],
            start,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": lambda z: rows @ z, "jac": lambda z: rows}],
            options={"maxiter": 1000, "ftol": 1e-15},
        )
        start = found.x
    w = start[:size]
    largest = np.zeros(n)
    np.maximum.at(largest, owner, np.abs(w))
    return float(function(w) + prices @ largest)


def optimum(
    loss: Callable[[np.ndarray], float], X: np.ndarray, k: int, penalty: str, alpha: float, gradient: Callable[..., Any]
) -> float:
    """The smallest value of loss(W^T X^T + b) + alpha * penalty(W), b free, from a general solver.

    `loss` and `gradient` take scores with a line for each output; the mean over rows is theirs to take.
    """
    n = X.shape[1]

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        W, b = z[: n * k].reshape(n, k), z[n * k :]
        scores = (X @ W).T + b[:, None]
        g = gradient(scores)
        return loss(scores), np.concatenate([(X.T @ g.T).ravel(), g.sum(axis=1)])

    z = np.zeros(n * k + k)
    if penalty in (*PULLS, "l1/l2"):
        for width in (1e-2, 1e-4, 1e-6, 1e-8):

            def smoothed(z: np.ndarray, h: float = width) -> tuple[float, np.ndarray]:
                value, slopes = both(z)
                W = z[: n * k].reshape(n, k)
                if penalty in PULLS:
                    price, pull = PENALTIES[penalty](W), PULLS[penalty](W)
                else:
                    lengths = np.sqrt((W**2).sum(axis=1) + h**2)
                    price, pull = lengths.sum(), W / lengths[:, None]
                slopes[: n * k] += alpha * pull.ravel()
                return value + alpha * price, slopes

            for _ in range(2):
                z = minimize(smoothed, z, jac=True, method="L-BFGS-B", options=TIGHT).x
        return both(z)[0] + alpha * PENALTIES[penalty](z[: n * k].reshape(n, k))
    if penalty == "l1":
        return _split(both, n * k, k, alpha)
    return _constrained(both, n * k, k, np.repeat(np.arange(n), k), alpha)


TIGHT = {"maxiter": 20000, "maxfun": 100000, "ftol": 1e-17, "gtol": 1e-11, "maxcor": 40}


def _split(both: Callable[..., Any], size: int, k: int, alpha: float) -> float:
    """W = P - N with P, N >= 0, whose sum is the penalty."""

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = both(np.concatenate([z[:size] - z[size : 2 * size], z[2 * size :]]))
        pull = slopes[:size]
        return value + alpha * z[: 2 * size].sum(), np.concatenate([pull + alpha, alpha - pull, slopes[size:]])

    z = np.zeros(2 * size + k)
    bounds = [(0, None)] * (2 * size) + [(None, None)] * k
    for _ in range(3):
        z = minimize(objective, z, jac=True, method="L-BFGS-B", bounds=bounds, options=TIGHT).x
    weights = z[:size] - z[size : 2 * size]
    return both(np.concatenate([weights, z[2 * size :]]))[0] + alpha * float(np.abs(weights).sum())


def _constrained(both: Callable[..., Any], size: int, k: int, owner: np.ndarray, alpha: float) -> float:
    n = owner.max() + 1
    rows = np.zeros((2 * size, size + k + n))
    for i in range(size):
        rows[i, i], rows[size + i, i] = -1.0, 1.0
        rows[i, size + k + owner[i]] = rows[size + i, size + k + owner[i]] = 1.0

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = both(z[: size + k])
        return value + alpha * z[size + k :].sum(), np.concatenate([slopes, np.full(n, alpha)])

    z = np.concatenate([np.zeros(size + k), np.full(n, 0.1)])
    for _ in range(2):
        z = minimize(
            objective,
            z,
            jac=True,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": lambda z: rows @ z, "jac": lambda z: rows}],
            options={"maxiter": 2000, "ftol": 1e-16},
        ).x
    largest = np.zeros(n)
    np.maximum.at(largest, owner, np.abs(z[:size]))
    return both(z[: size + k])[0] + alpha * largest.sum()


def subgradients(penalty: str, weights: np.ndarray) -> np.ndarray:
    """The corners of the subdifferential of the norm of one row."""
    signs = np.diag(np.sign(weights))
    if penalty == "l1":
        return np.array(list(product(*([-1.0, 1.0] if w == 0 else [np.sign(w)] for w in weights))))
    if not weights.any():
        return np.vstack([np.eye(len(weights)), -np.eye(len(weights))])
    return signs[np.abs(weights) == np.abs(weights).max()]


def distance_to_hull(point: np.ndarray, corners: np.ndarray, norm: float) -> float:
    """To the nearest mixture of the corners in the norm of sums or of the largest entry, by a linear program."""
    n, k = corners.shape
    slack = k if norm == 1 else 1
    spread = np.eye(k) if norm == 1 else np.ones((k, 1))
    above = np.vstack([np.hstack([corners.T, -spread]), np.hstack([-corners.T, -spread])])
    found = linprog(
        np.concatenate([np.zeros(n), np.ones(slack)]),
        A_ub=above,
        b_ub=np.concatenate([point, -point]),
        A_eq=[np.concatenate([np.ones(n), np.zeros(slack)])],
        b_eq=[1.0],
    )
    return float(found.fun)
