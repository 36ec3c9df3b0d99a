"""Small weights, none of them zero: to compare with."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.penalties.rows import RowPenalty


class SquaredL2(RowPenalty, name="l2"):
    """Half the sum of the squares."""

    sparse = False
    degree = 2

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (weights**2).sum(axis=1))

    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        total = curvatures + prices[:, None]
        return np.divide(-slopes, total, out=np.zeros_like(slopes), where=total > 0)

    def feasible_fraction(self, slopes: FloatArray, prices: FloatArray) -> float:
        return 1.0

    def conjugate(self, slopes: FloatArray, prices: FloatArray) -> float:
        """Half the square over the price; infinite where there is a slope and no price."""
        if ((prices <= 0.0) & slopes.any(axis=1)).any():
            return np.inf
        squares = (slopes**2).sum(axis=1)
        return float(np.divide(squares, 2.0 * prices, out=np.zeros(len(slopes)), where=prices > 0.0).sum())

    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        return np.asarray(np.abs(slopes + prices[:, None] * weights).max(axis=1))
