"""The loss of AdaBoost."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import xlogy

from radboost._typing import FloatArray
from radboost.losses.base import MarginFunction, NativeLoss
from radboost.losses.link import Link
from radboost.losses.margin import MarginScores, SignLoss
from radboost.losses.target import LARGEST_EXPONENT, WeightedRows


class Exponential(MarginFunction):
    """phi(u) = e^u, cut where the next number would be infinite."""

    largest = 709.0
    unit = 1.0
    lipschitz = None
    log_odds_factor = 0.5

    def value(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.minimum(u, self.largest)))

    def derivative(self, u: FloatArray) -> FloatArray:
        return self.value(u)

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.value(u)

    def conjugate(self, pulls: FloatArray) -> FloatArray:
        pulls = np.maximum(pulls, 0.0)
        return np.asarray(xlogy(pulls, pulls) - pulls)


class SummedExponential(Exponential):
    """phi(u) = e^u, cut where sums over weighted rows stay finite."""

    largest = LARGEST_EXPONENT


class ExponentialLoss(NativeLoss, name="exponential", of="margins"):
    """Phi(u) = exp(u). Cortes et al. (2014), section 3.2."""

    phi = Exponential()
    links = MappingProxyType({"two_classes": Link("logistic", 2.0), "sum": Link("softmax", 2.0)})


@dataclass(frozen=True)
class ExponentialTargetLoss(SignLoss, name="exponential", of="signs"):
    """Phi(y, f) = exp(-y f): f is half the logarithm of the odds."""

    phi = SummedExponential()
    link = Link("logistic", 2.0)

    def start_beside(self, rows: WeightedRows, offset: FloatArray) -> float:
        second, first = (rows.log_mean_exp(-sign * offset, rows.targets == sign) for sign in (1.0, -1.0))
        return self.phi.log_odds_factor * (second - first)


class ExponentialScores(MarginScores, name="exponential", of="scores"):
    """e^(-y f): ExpLoss of equation (1). Its curvature has no bound, so that it has no GradBoost update."""

    phi = Exponential()
    link = Link("logistic", 2.0)
