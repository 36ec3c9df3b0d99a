"""How many ways trees can label a sample, and what that costs by Massart's lemma (docs/theory.md, section 7).

These counts are for the bounds alone. The objective charges the r_j of the papers (`radboost.complexity`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

LOG_2 = math.log(2.0)


def log_catalan(n: int) -> float:
    """The logarithm of (2n)! / (n! (n + 1)!): how many shapes trees with n internal nodes have."""
    return math.lgamma(2 * n + 1) - math.lgamma(n + 1) - math.lgamma(n + 2)


def log_labelings(n: int, m: float, d: float, log_answers: float = LOG_2, bits: float = 0.0) -> float:
    """The logarithm of Catalan(n) (d m)^n 2^bits A^n (A - 1), A for n = 0. docs/theory.md, (7g).

    So many labelings of m rows with d columns, at most, do trees have that ask n questions and have one of A answers at
    each leaf.
    """
    if n == 0:
        return log_answers
    questions = n * math.log(d * m) + bits * LOG_2
    # log(A - 1): where two leaves have the same parent, equal answers need no question.
    return log_catalan(n) + questions + n * log_answers + _log_less_one(log_answers)


def log_pair_labelings(m: float, d: float, log_answers: float = LOG_2, bits: float = 0.0) -> float:
    """The logarithm of (d m)^2 2^bits A^4: stump pairs, which ask their second question at both nodes."""
    return 2.0 * math.log(d * m) + bits * LOG_2 + 4.0 * log_answers


def massart(log_size: float, m: float, row_norm: float = 1.0) -> float:
    """E sup of (1/m) sum sigma_i v_i over so many vectors, each of norm sqrt(m) row_norm at most."""
    return row_norm * math.sqrt(2.0 * log_size / m)


def log_multisets(p: int, n: ArrayLike) -> NDArray[np.float64]:
    """The logarithm of (p + n - 1 over n): the ways to take n hypotheses from p families, their order aside."""
    draws = np.asarray(n, dtype=np.float64)
    return np.asarray(-betaln(draws + 1.0, float(p)) - np.log(draws + p), dtype=np.float64)


def _log_less_one(log_answers: float) -> float:
    return log_answers + math.log1p(-math.exp(-log_answers))
