"""Smooth penalty: like a square near zero, like the absolute value for large weights; no weight becomes zero."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from radboost._typing import FloatArray
from radboost.penalties.rows import RowPenalty

ITERATIONS = 60  # of Newton's method, at most


class SmoothL1(RowPenalty, name="smooth_l1"):
    """The sum of log(1 + e^w) + log(1 + e^-w), less what that is at zero: 2 log cosh(w / 2).

    Duchi and Singer (2009), section 10 (after Dekel, Shalev-Shwartz and Singer, 2005), where the L1 penalty
    is compared with it. It is about w^2 / 4 near zero, so that no weight becomes zero, and |w| - 2 log 2 far out. It is
    no power of the weights, so that columns with a price as they are (`standardize=False`) are not scaled.
    """

    sparse = False
    degree = None

    def size(self, weights: FloatArray) -> FloatArray:
        far = np.abs(weights)
        near = np.minimum(far, 2.0)  # 2 log cosh(w / 2) = log(1 + sinh(w / 2)^2) loses no digits at small weights
        sizes = np.where(
            far <= 2.0, np.log1p(np.sinh(near / 2.0) ** 2), far + 2.0 * np.log1p(np.exp(-far)) - 2.0 * np.log(2.0)
        )
        return np.asarray(sizes.sum(axis=1))

    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """The root of curvature w + slope + price tanh(w / 2), by Newton's method on the side of zero where it lies.

        There the function is concave in |w|, so that steps from below never pass the root. Both starting points are
        below it: tanh(w / 2) is at most w / 2, and at most 1.
        """
        pulls, price = np.abs(slopes), prices[:, None]
        moves = curvatures > 0.0
        bent = np.divide(pulls, curvatures + price / 2.0, out=np.zeros_like(pulls), where=moves)
        straight = np.divide(pulls - price, curvatures, out=np.zeros_like(pulls), where=moves)
        size = np.maximum(bent, straight)
        for _ in range(ITERATIONS):
            tanh = np.tanh(size / 2.0)
            short = pulls - curvatures * size - price * tanh
            slope = curvatures + 0.5 * price * (1.0 - tanh**2)
            step = np.maximum(np.divide(short, slope, out=np.zeros_like(size), where=moves), 0.0)
            size = size + step
            if np.all(step <= 4e-16 * size):
                break
        return np.asarray(-np.sign(slopes) * size)

    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        return np.asarray(np.abs(slopes + prices[:, None] * np.tanh(weights / 2.0)).max(axis=1))

    def feasible_fraction(self, slopes: FloatArray, prices: FloatArray) -> float:
        """Derivatives of the penalty are smaller than the price."""
        largest = np.abs(slopes).max(axis=1)
        ratios = np.divide(prices, largest, out=np.ones_like(largest), where=largest > prices)
        return float(ratios.min(initial=1.0))

    def conjugate(self, slopes: FloatArray, prices: FloatArray) -> float:
        """price ((1 + t) log(1 + t) + (1 - t) log(1 - t)) with t = slope / price, between -1 and 1."""
        price = prices[:, None]
        t = np.clip(np.divide(slopes, price, out=np.zeros_like(slopes), where=price > 0.0), -1.0, 1.0)
        return float((price * (xlogy(1.0 + t, 1.0 + t) + xlogy(1.0 - t, 1.0 - t))).sum())
