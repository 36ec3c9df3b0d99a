"""The loss of AdaBoost."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.base import NativeLoss


class ExponentialLoss(NativeLoss):
    """Phi(u) = exp(u). Deep Boosting, section 3.2."""

    name = "exponential"

    def value(self, u: FloatArray, /) -> FloatArray:
        return np.exp(np.minimum(u, 709.0))

    def derivative(self, u: FloatArray, /) -> FloatArray:
        return self.value(u)
