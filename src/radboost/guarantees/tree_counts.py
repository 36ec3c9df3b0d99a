"""Number of labelings of a sample by trees, and Massart's bound from it (docs/theory.md, section 7).

These counts are used by the bounds only. The objective uses the complexities r_j of the papers (`radboost.complexity`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

LOG_2 = math.log(2.0)


def log_catalan(n: int) -> float:
    """Logarithm of (2n)! / (n! (n + 1)!), the number of shapes of binary trees with n internal nodes."""
    return math.lgamma(2 * n + 1) - math.lgamma(n + 1) - math.lgamma(n + 2)


def log_labelings(n: int, m: float, d: float, log_n_values: float = LOG_2, bits: float = 0.0) -> float:
    """Logarithm of Catalan(n) (d m)^n 2^bits A^n (A - 1), A for n = 0. docs/theory.md, (7g).

    Upper bound on the number of labelings of m rows with d columns by trees with n splits and A possible leaf values.
    """
    if n == 0:
        return log_n_values
    splits = n * math.log(d * m) + bits * LOG_2
    # log(A - 1): two leaves of one parent have different values, or the split would be needless.
    return log_catalan(n) + splits + n * log_n_values + _log_less_one(log_n_values)


def log_pair_labelings(m: float, d: float, log_n_values: float = LOG_2, bits: float = 0.0) -> float:
    """Logarithm of (d m)^2 2^bits A^4, for stump pairs: both nodes of the second level have the same split."""
    return 2.0 * math.log(d * m) + bits * LOG_2 + 4.0 * log_n_values


def massart(log_size: float, m: float, row_norm: float = 1.0) -> float:
    """Bound on E sup (1/m) sum sigma_i v_i over exp(log_size) vectors of norm at most sqrt(m) row_norm."""
    return row_norm * math.sqrt(2.0 * log_size / m)


def log_multisets(p: int, n: ArrayLike) -> NDArray[np.float64]:
    """Logarithm of (p + n - 1 over n), the number of multisets of n hypotheses from p families."""
    draws = np.asarray(n, dtype=np.float64)
    return np.asarray(-betaln(draws + 1.0, float(p)) - np.log(draws + p), dtype=np.float64)


def _log_less_one(log_n_values: float) -> float:
    return log_n_values + math.log1p(-math.exp(-log_n_values))
