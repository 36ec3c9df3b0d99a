"""Empirical Rademacher complexity of a finite family, by drawing signs or by trying all of them."""

from __future__ import annotations

import itertools
import math

import numpy as np


def by_all_signs(H: np.ndarray) -> float:
    """Mean over all 2^m sign vectors of the largest correlation; one row per hypothesis, h and -h are one."""
    m = H.shape[1]
    return float(np.mean([np.max(np.abs(H @ np.array(s))) for s in itertools.product((-1, 1), repeat=m)]) / m)


def by_drawing(H: np.ndarray, draws: int, seed: int = 0) -> tuple[float, float]:
    """Monte Carlo mean and its standard error."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(draws, H.shape[1]))
    best = np.max(np.abs(signs @ H.T), axis=1) / H.shape[1]
    return float(best.mean()), float(best.std(ddof=1) / math.sqrt(draws))


def stumps(m: float, d: float) -> float:
    """Deep Boosting, equation (7)."""
    return math.sqrt(2 * math.log(2 * m * d) / m)


def stump_pairs(m: float, d: float) -> float:
    """Deep Boosting, equation (8); with one column (errata 30) both questions are about it: (2m)^2 labelings."""
    return math.sqrt(2 * math.log(2 * m * m * d * (d - 1) if d > 1 else 4 * m * m) / m)


def trees(m: float, d: float, n: int) -> float:
    """Deep Boosting, equation (9)."""
    return math.sqrt((4 * n + 2) * math.log2(d + 2) * math.log(m + 1) / m)
