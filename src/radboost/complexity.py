"""Bounds on the Rademacher complexity of the families, the r_j of the objective.

Natural logarithms come from the native core, so that the prices of hypotheses are the same on every machine. `m` is
the sum of the sample weights and `d` the number of columns (`n_columns`). A split on a categorical column, of which
there are many, pays for them in `bits`, see `question_bits`. The bounds hold for two classes and for more
(docs/theory.md, sections 6 and 8).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from radboost.engine import log


def n_columns(has_missing: npt.NDArray[np.bool_]) -> int:
    """d: columns, those with missing values twice, because these may be sent to either side."""
    return len(has_missing) + int(np.count_nonzero(has_missing))


def question_bits(n_bins: npt.NDArray[np.integer], is_categorical: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Bits of each column that identify a split, beyond its threshold.

    q categories can be parted in two in 2^(q - 1) - 1 ways, so in q - 1 bits; of two categories there is one way.
    """
    return np.asarray(np.where(is_categorical & (n_bins > 2), n_bins.astype(np.int64) - 1, 0), dtype=np.int64)


def n_questions(
    n_bins: npt.NDArray[np.integer], has_missing: npt.NDArray[np.bool_], is_categorical: npt.NDArray[np.bool_]
) -> float:
    """Number of columns for families that are fixed before a tree is grown.

    A categorical column with q categories counts 2^(q - 1) - 1 times, the ways to part them in two, and at least once.
    A column with missing values counts twice, because these may be sent to either side (docs/theory.md).
    """
    subsets = np.ldexp(1.0, n_bins.astype(np.int64) - 1) - 1.0
    columns = np.where(is_categorical, np.maximum(subsets, 1.0), 1.0)
    return math.fsum(np.where(has_missing, 2.0, 1.0) * columns)


def _bound(log_growth: float, m: float) -> float:
    return math.sqrt(2.0 * max(log_growth, 0.0) / m)


def stumps(m: float, d: float, bits: int = 0) -> float:
    """H_1, one question: sqrt(2 log(2 m d) / m). Deep Boosting, equation (7)."""
    return _bound(log(2.0 * m * d) + bits * log(2.0), m)


def stump_pairs(m: float, d: float, bits: int = 0) -> float:
    """H_2, two questions on different columns: sqrt(2 log(2 m^2 d (d - 1)) / m). Deep Boosting, equation (8).

    The paper leaves d = 1 open. Both questions are then about one column, which allows (2 m)^2 labelings.
    """
    growth = 2.0 * m * m * d * (d - 1) if d > 1 else 4.0 * m * m
    return _bound(log(growth) + bits * log(2.0), m)


def trees(n: int, m: float, d: float, bits: int = 0) -> float:
    """T_n, trees with n internal nodes: sqrt((4 n + 2) log2(d + 2) log(m + 1) / m).

    Deep Boosting, equation (9); for votes of several classes Multi-Class Deep Boosting, equation (13).
    """
    return math.sqrt(((4 * n + 2) * (log(d + 2.0) / log(2.0)) + 2 * bits) * log(m + 1.0) / m)


def kernel(trace: float, m: float) -> float:
    """x -> K(c, x): sqrt(Tr K) / m. Deep Boosting, section 4."""
    return math.sqrt(trace) / m


def finite(n_hypotheses: int, m: float, n_outputs: int = 1) -> float:
    """Given hypotheses: Massart's lemma over them and their mirror images, or over the votes for each class."""
    return _bound(log(max(2.0, float(n_outputs)) * n_hypotheses), m)
