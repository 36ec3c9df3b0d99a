"""MultiBoost as slowly as it can be written: all stumps listed, all losses by their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def stumps(X: Any) -> Any:
    """Every h(x) in {-1, +1} that asks one question, a line each, without mirror images; the constant first."""
    lines = [np.ones(len(X))]
    for column in X.T:
        values = np.unique(column)
        lines += [np.where(column <= cut, 1.0, -1.0) for cut in values[:-1]]
    return np.unique(np.array(lines), axis=0)


def losses(f: Any, signs: Any, ids: Any, n_sources: int, phi: str, w: Any = None) -> Any:
    """F_k, the mean of Phi(1 - y f) over source k."""
    u = 1.0 - signs * f
    values = np.exp(u) if phi == "exponential" else np.logaddexp(0.0, u) / np.log(2.0)
    weights = np.ones(len(f)) if w is None else w
    return np.bincount(ids, weights * values, n_sources) / np.bincount(ids, weights, n_sources)


def together(F: Any, name: str, mu: float = 10.0, vertices: Any = None) -> float:
    values = F if vertices is None else vertices @ F
    if name == "sum":
        return float(values.sum())
    return float(values.max()) if name == "max" else float(logsumexp(mu * values) / mu)


def directions(H: Any, q: Any) -> Any:
    """Q(k | x) h(x) for every source and stump, one line each."""
    return np.concatenate([q[:, k] * H for k in range(q.shape[1])])


def optimum(
    D: Any,
    signs: Any,
    ids: Any,
    n_sources: int,
    name: str,
    phi: str,
    price: float,
    mu: float = 10.0,
    vertices: Any = None,
) -> float:
    """The minimum of G + price sum |alpha| over all weights of all directions, by a solver for smooth problems.

    The maximum is the smallest t that no F_k exceeds, or no mixture of them among `vertices`.
    """
    n, V = len(D), np.eye(n_sources) if vertices is None else np.asarray(vertices)
    weights = np.bincount(ids, minlength=n_sources)

    def parts(z: Any) -> tuple[Any, Any, Any]:
        alpha = z[:n] - z[n : 2 * n]
        u = 1.0 - signs * (alpha @ D)
        if phi == "exponential":
            values = slopes = np.exp(u)
        else:
            values, slopes = np.logaddexp(0.0, u) / np.log(2.0), 1.0 / (1.0 + np.exp(-u)) / np.log(2.0)
        F = np.bincount(ids, values, n_sources) / weights
        J = np.array([-(D[:, ids == k] @ (signs * slopes)[ids == k]) / weights[k] for k in range(n_sources)])
        return F, J, alpha

    bounds: list[Any] = [(0.0, 30.0)] * (2 * n)
    if name == "max":

        def constraint(z: Any) -> Any:
            return z[-1] - V @ parts(z)[0]

        def slopes_of(z: Any) -> Any:
            J = V @ parts(z)[1]
            return np.hstack([-J, J, np.ones((len(V), 1))])

        start = np.append(np.full(2 * n, 0.01), 10.0)
        solved = minimize(
            lambda z: z[-1] + price * z[:-1].sum(),
            start,
            jac=lambda z: np.append(np.full(2 * n, price), 1.0),
            bounds=[*bounds, (None, None)],
            constraints={"type": "ineq", "fun": constraint, "jac": slopes_of},
            method="SLSQP",
            options={"maxiter": 3000, "ftol": 1e-14},
        )
        F = V @ parts(solved.x)[0]
        return float(F.max() + price * solved.x[:-1].sum())

    def value(z: Any) -> tuple[float, Any]:
        F, J, _ = parts(z)
        lam = np.ones(n_sources) if name == "sum" else np.exp(mu * F - logsumexp(mu * F))
        slope = lam @ J
        return together(F, name, mu) + price * z.sum(), np.concatenate([slope + price, price - slope])

    solved = minimize(value, np.zeros(2 * n), jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 5000})
    return float(solved.fun)


NAMES = np.array(["clinic", "region", "ward"])


def rows(seed: int, m: int = 300, n_classes: int = 2, sizes: Any = (0.5, 0.33, 0.17)) -> tuple[Any, Any, Any]:
    """Sources that disagree about the first two columns, and that the third tells apart, not quite."""
    rng = np.random.default_rng(seed)
    ids = rng.choice(3, m, p=sizes)
    X = np.round(rng.normal(size=(m, 4)), 2)
    X[:, 2] += np.array([-2.0, 0.0, 2.0])[ids]
    score = np.select([ids == 0, ids == 1], [X[:, 0], -X[:, 0] - X[:, 1]], X[:, 1]) + 0.3 * rng.normal(size=m)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return X, y, NAMES[ids]
