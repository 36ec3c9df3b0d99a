"""The logarithm of the hyperbolic cosine."""

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.link import IDENTITY
from radboost.losses.target import NamedTargetLoss


@dataclass(frozen=True)
class LogCoshLoss(NamedTargetLoss, name="log_cosh", of="numbers"):
    """Phi(y, f) = log cosh(f - y): squared near 0, absolute far out, and smooth."""

    lipschitz = 1.0
    of_difference = True
    link = IDENTITY

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(np.logaddexp(scores - targets, targets - scores) - np.log(2.0))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.tanh(scores - targets)
