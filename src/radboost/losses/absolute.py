"""The loss of least absolute deviations."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.target import NativeTargetLoss, weighted_quantile


class AbsoluteLoss(NativeTargetLoss):
    """Phi(y, f) = abs(f - y): f is the median."""

    name = "absolute"
    smooth = False

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.abs(scores - targets)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.sign(scores - targets)

    def start(self, targets: FloatArray, weights: FloatArray | None) -> float:
        return weighted_quantile(targets, weights, 0.5)
