"""The soft-max rule, its risk and the gradient: Soft-max boosting, equations (2) and (4), Proposition 2."""

from __future__ import annotations

import numpy as np


def rule(scores: np.ndarray) -> np.ndarray:
    """g(z | x_i)."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def risk(scores: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> float:
    """Equation (4), with a row of costs for each row."""
    return float(np.average((rule(scores) * costs).sum(axis=1), weights=weights))


def gradient(scores: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Proposition 2: g(z | x_i) Delta c_i(z); the inner product is the mean over the rows."""
    g = rule(scores)
    return g * (costs - (g * costs).sum(axis=1, keepdims=True))


def slope(scores: np.ndarray, costs: np.ndarray, weights: np.ndarray, h: np.ndarray) -> float:
    """<gradient, h>_N."""
    return float(np.average((gradient(scores, costs) * h).sum(axis=1), weights=weights))
