"""Penalty L1: single weights become zero."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.penalties.rows import RowPenalty, exponential_root


class L1(RowPenalty, name="l1"):
    """Sum of the absolute values. Duchi and Singer (2009), equation (2)."""

    exponential = True

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray(np.abs(weights).sum(axis=1))

    def dual_norm(self, slopes: FloatArray) -> FloatArray:
        return np.asarray(np.abs(slopes).max(axis=1))

    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Equation (25): the minimum without the penalty, thresholded."""
        excess = np.maximum(np.abs(slopes) - prices[:, None], 0.0)
        pulls = -np.sign(slopes) * excess
        weights: FloatArray = np.divide(pulls, curvatures, out=np.zeros_like(slopes), where=curvatures > 0)
        return weights

    def exponential_minimum(self, log_up: FloatArray, log_down: FloatArray, log_prices: FloatArray) -> FloatArray:
        """Equation (8) and Lemma 3: the root is negative exactly if the weight must be zero."""
        high, low = np.maximum(log_up, log_down), np.minimum(log_up, log_down)
        return np.sign(log_up - log_down) * np.maximum(exponential_root(high, low, log_prices[:, None]), 0.0)

    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        excess = np.abs(slopes)
        excess -= prices[:, None]
        np.maximum(excess, 0.0, out=excess)
        # Most weights are zero, and there may be a hundred thousand of them.
        used, inside = np.nonzero(weights)
        excess[used, inside] = np.abs(slopes[used, inside] + np.sign(weights[used, inside]) * prices[used])
        return np.asarray(excess.max(axis=1))
