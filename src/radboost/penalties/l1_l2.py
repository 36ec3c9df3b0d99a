"""Penalty L1/L2: rows of weights become zero together."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.penalties.rows import RowPenalty

ITERATIONS = 60  # of Newton's method, at most


class L1L2(RowPenalty, name="l1/l2"):
    """Sum of the Euclidean norms of the rows. Duchi and Singer (2009), equation (32)."""

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt((weights**2).sum(axis=1)))

    def dual_norm(self, slopes: FloatArray) -> FloatArray:
        return self.size(slopes)

    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Lemma 10, with a curvature for each output.

        The row is -slope_r / (curvature_r + price / t), where its length t solves |slope / (curvature t + price)| = 1.
        Newton's method on one over the left side, which is concave in t, comes from below and never passes the root.
        With equal curvatures it is linear, and the first step gives the lemma.
        """
        length, steepest = self.size(slopes), curvatures.max(axis=1)
        inside = (length > prices) & (steepest > 0.0)
        rows = np.flatnonzero(inside)
        weights = np.zeros_like(slopes)
        weights[rows] = _inside(curvatures[rows], slopes[rows], prices[rows, None], length[rows, None])
        return weights

    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        length = self.size(weights)
        at_zero = np.maximum(self.size(slopes) - prices, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = self.size(slopes + prices[:, None] * weights / length[:, None])
        return np.asarray(np.where(length == 0.0, at_zero, moved))


def _inside(curvatures: FloatArray, slopes: FloatArray, prices: FloatArray, length: FloatArray) -> FloatArray:
    """Rows that are not zero. With the largest curvature in place of all the lemma's length is a lower bound."""
    t = (length - prices) / curvatures.max(axis=1, keepdims=True)
    for _ in range(ITERATIONS):
        total = curvatures * t + prices
        parts = np.divide(slopes, total, out=np.zeros_like(slopes), where=total > 0.0)
        square = (parts**2).sum(axis=1, keepdims=True)
        fall = np.divide(parts**2 * curvatures, total, out=np.zeros_like(slopes), where=total > 0.0)
        step = np.maximum((np.sqrt(square) - 1.0) * square / fall.sum(axis=1, keepdims=True), 0.0)
        t = t + step
        if np.all(step <= 4e-16 * t):
            break
    total = curvatures * t + prices
    weights: FloatArray = np.divide(-slopes * t, total, out=np.zeros_like(slopes), where=total > 0.0)
    return weights
