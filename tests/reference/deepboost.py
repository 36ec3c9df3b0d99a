"""DeepBoost, Figure 2 on objective (4), in float64: all features, best thresholds, all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import rademacher


@dataclass(frozen=True)
class Settings:
    """The parameters of one run; the names are the estimator's, `lam` and `beta` the paper's."""

    rounds: int = 10
    loss: str = "exponential"
    family: str = "trees"
    max_depth: int = 3
    lam: float = 0.0
    beta: float = 0.0
    learning_rate: float = 1.0
    criterion: str = "edge"
    step: str = "closed_form"
    max_bins: int = 255
    tolerance: float = 1e-9
    cap: float = 16.0


def complexity(family: str, n_splits: int, m: float, columns: int) -> float:
    """r of a candidate, equations (7), (8), (9); `columns` counts a column with missing values twice."""
    if family == "trees":
        return rademacher.trees(m, columns, n_splits)
    if n_splits <= 1:
        return rademacher.stumps(m, columns)
    return rademacher.stump_pairs(m, columns)


def member_direction(eps: float, alpha: float, q: float) -> float:
    """d_j of Figure 2, lines 5-9, with q = Lambda_j m / S."""
    if alpha != 0:
        return (eps - 0.5) + np.sign(alpha) * q / 2
    if abs(eps - 0.5) <= q / 2:
        return 0.0
    return (eps - 0.5) - np.sign(eps - 0.5) * q / 2


def flawless_step(edge: float, price: float, m: float) -> float | None:
    """Errata 29: no error and no price ask for an infinite step; taken is that of half an error among m rows."""
    if price == 0 and abs(edge) > 1 - 2e-9:
        return math.copysign(0.5 * math.log(max(4.0, 2 * m)), edge)
    return None
