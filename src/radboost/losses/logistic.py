"""The loss of additive logistic regression."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from radboost._typing import FloatArray
from radboost.losses.base import NativeLoss


class LogisticLoss(NativeLoss):
    """Phi(u) = log2(1 + exp(u)). Deep Boosting, section 3.2."""

    name = "logistic"

    def value(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, u) / np.log(2.0), dtype=np.float64)

    def derivative(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(expit(u) / np.log(2.0), dtype=np.float64)
