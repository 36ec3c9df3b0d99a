"""Bounds on the Rademacher complexity of the families, the r_j of the objective.

Natural logarithms come from the native core, so that the prices of hypotheses are the same on every machine. `m` is
the sum of the sample weights and `d` the number of questions' columns: a column with missing values counts twice,
because its missing values may be sent to either side. The bounds hold for two classes and for more (docs/theory.md,
section 8).
"""

from __future__ import annotations

import math

from radboost._native import log


def _bound(log_growth: float, m: float) -> float:
    return math.sqrt(2.0 * max(log_growth, 0.0) / m)


def stumps(m: float, d: int) -> float:
    """H_1, one question: sqrt(2 log(2 m d) / m). Deep Boosting, equation (7)."""
    return _bound(log(2.0 * m * d), m)


def stump_pairs(m: float, d: int) -> float:
    """H_2, two questions on different columns: sqrt(2 log(2 m^2 d (d - 1)) / m). Deep Boosting, equation (8).

    The paper leaves d = 1 open. Both questions are then about one column, which allows (2 m)^2 labelings.
    """
    growth = 2.0 * m * m * d * (d - 1) if d > 1 else 4.0 * m * m
    return _bound(log(growth), m)


def trees(n: int, m: float, d: int) -> float:
    """T_n, trees with n internal nodes: sqrt((4 n + 2) log2(d + 2) log(m + 1) / m).

    Deep Boosting, equation (9); for votes of several classes Multi-Class Deep Boosting, equation (13).
    """
    return math.sqrt((4 * n + 2) * (log(d + 2.0) / log(2.0)) * log(m + 1.0) / m)


def kernel(trace: float, m: float) -> float:
    """x -> K(c, x): sqrt(Tr K) / m. Deep Boosting, section 4."""
    return math.sqrt(trace) / m
