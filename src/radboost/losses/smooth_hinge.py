"""A hinge without a corner."""

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.base import MarginLoss


class SmoothHingeLoss(MarginLoss, name="smooth_hinge", of="margins"):
    """Phi(u) = u + sqrt(1 + u^2)."""

    def value(self, u: FloatArray, /) -> FloatArray:
        root = np.sqrt(1.0 + u**2)
        # The second form loses no digits where u is far below 0.
        return np.where(u > 0.0, u + root, 1.0 / (root + np.abs(u)))

    def derivative(self, u: FloatArray, /) -> FloatArray:
        return self.value(u) / np.sqrt(1.0 + u**2)
