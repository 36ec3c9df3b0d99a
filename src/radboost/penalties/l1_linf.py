"""Penalty L1/Linf: rows of weights become zero together, and share their largest absolute value."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.penalties.rows import TIE, RowPenalty, exponential_root


class L1Linf(RowPenalty, name="l1/linf"):
    """Sum of the largest absolute values of the rows. Duchi and Singer (2009), equations (3) and (4)."""

    exponential = True

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray(np.abs(weights).max(axis=1))

    def dual_norm(self, slopes: FloatArray) -> FloatArray:
        return np.asarray(np.abs(slopes).sum(axis=1))

    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Figure 2 for the quadratic (26): Corollary 8, with the sign of errata 16."""
        pulls = np.abs(slopes)
        free = np.divide(pulls, curvatures, out=np.zeros_like(pulls), where=curvatures > 0)
        order = np.argsort(-free, axis=1, kind="stable")
        total_pull = np.cumsum(np.take_along_axis(pulls, order, axis=1), axis=1)
        total_curvature = np.cumsum(np.take_along_axis(curvatures, order, axis=1), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = (total_pull - prices[:, None]) / total_curvature
        return -np.sign(slopes) * np.minimum(free, _level(levels, np.take_along_axis(free, order, axis=1)))

    def exponential_minimum(self, log_up: FloatArray, log_down: FloatArray, log_prices: FloatArray) -> FloatArray:
        """Figure 2 for the bound (18): Corollary 6 and equation (20)."""
        high, low = np.maximum(log_up, log_down), np.minimum(log_up, log_down)
        free = np.where(high > -np.inf, 0.5 * (high - low), 0.0)
        order = np.argsort(-free, axis=1, kind="stable")
        highs = np.logaddexp.accumulate(np.take_along_axis(high, order, axis=1), axis=1)
        lows = np.logaddexp.accumulate(np.take_along_axis(low, order, axis=1), axis=1)
        levels = exponential_root(highs, lows, log_prices[:, None])
        return np.sign(log_up - log_down) * np.minimum(free, _level(levels, np.take_along_axis(free, order, axis=1)))

    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Theorem 4: weights below the largest have slope 0; absolute slopes of the others sum to the price.

        The distance of the negative slopes from the subdifferential, in the dual norm, the sum of absolute values. In
        the subdifferential the slopes of the others away from zero sum to the price, and none has the other sign.
        """
        largest = self.size(weights)[:, None]
        bound = np.abs(weights) >= largest * (1.0 - TIE)
        pulls = -slopes * np.sign(weights)
        shared = np.where(bound, pulls, 0.0)
        moved = (
            np.abs(np.maximum(shared, 0.0).sum(axis=1) - prices)
            + np.where(bound, 0.0, np.abs(slopes)).sum(axis=1)
            + np.maximum(-shared, 0.0).sum(axis=1)
        )
        at_zero = np.maximum(self.dual_norm(slopes) - prices, 0.0)
        return np.asarray(np.where(largest[:, 0] == 0.0, at_zero, moved))


def _level(levels: FloatArray, free: FloatArray) -> FloatArray:
    """xi of Figure 2: the first level that lies above all weights that are still free."""
    rest = np.concatenate([free[:, 1:], np.zeros((len(free), 1))], axis=1)
    reached = np.isfinite(levels) & (levels >= rest)
    reached[:, -1] = True
    first = reached.argmax(axis=1)
    level: FloatArray = np.nan_to_num(np.maximum(levels[np.arange(len(levels)), first], 0.0))[:, None]
    return level
