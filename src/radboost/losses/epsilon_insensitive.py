"""The loss of smooth epsilon-insensitive regression."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from radboost._typing import FloatArray
from radboost.losses.scores import ScoreLoss


class EpsilonInsensitiveScores(ScoreLoss, name="epsilon_insensitive", of="scores"):
    """log(1 + e^(f - y - eps)) + log(1 + e^(y - f - eps)). Duchi and Singer (2009), equation (39)."""

    lipschitz = 0.5  # a quarter for either term

    def __init__(self, targets: FloatArray, epsilon: float) -> None:
        self.targets = np.ascontiguousarray(targets, dtype=np.float64)
        self.epsilon = epsilon
        self.n_outputs, self.n_rows = 1, len(self.targets)

    def value(self, scores: FloatArray) -> FloatArray:
        return self._value_of(scores[0] - self.targets)

    def _value_of(self, excess: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, excess - self.epsilon) + np.logaddexp(0.0, -excess - self.epsilon))

    def gradient(self, scores: FloatArray) -> FloatArray:
        up, down = self.halves(scores)
        return down - up

    def curvature(self, scores: FloatArray) -> FloatArray:
        up, down = self.halves(scores)
        return up * (1.0 - up) + down * (1.0 - down)

    def safe_curvature(self, scores: FloatArray) -> FloatArray:
        """A quarter of slope / excess, the curvature of the parabola above the loss that touches it on both sides.

        Far from the target the second derivative is zero to the last bit. The parabola is above everywhere, because
        the loss is even and slope / excess falls; a quarter of it is made up for by the line search.
        """
        excess = scores - self.targets
        far = np.abs(excess) > 1.0
        ratio = np.divide(self.gradient(scores), excess, out=np.zeros_like(excess), where=far)
        return np.maximum(self.curvature(scores), 0.25 * ratio)

    def middle(self, row_weights: FloatArray) -> float:
        order = np.argsort(self.targets, kind="stable")
        below = np.cumsum(row_weights[order])
        return float(self.targets[order[np.searchsorted(below, 0.5 * below[-1])]])

    def halves(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        excess = scores - self.targets
        return np.asarray(expit(-excess - self.epsilon)), np.asarray(expit(excess - self.epsilon))

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """The slope at an excess of t is sinh t / (cosh t + cosh eps): a quadratic equation in e^t."""
        slope = np.clip(np.abs(slopes[0]), 0.0, 1.0 - 1e-15)
        # All over e^eps, which leaves the range of numbers for targets in thousands.
        shrunk = np.exp(-self.epsilon)
        width = 0.5 * (1.0 + shrunk**2)
        root = np.sqrt(slope**2 * (width**2 - shrunk**2) + shrunk**2)
        ratio = (slope * width + root) / (1.0 - slope)
        excess = np.maximum(self.epsilon + np.log(np.maximum(ratio, 1e-300)), 0.0)
        return np.asarray(slope * excess - self._value_of(excess) + slopes[0] * self.targets)
