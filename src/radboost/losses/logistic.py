"""The loss of additive logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import expit, xlogy

from radboost._typing import FloatArray
from radboost.losses.base import REGISTRY, MarginFunction, NativeLoss
from radboost.losses.link import Link
from radboost.losses.margin import MarginScores, SignLoss
from radboost.losses.target import NamedTargetLoss


class Logistic(MarginFunction):
    """phi(u) = log(1 + e^u)."""

    unit = float(np.log(2.0))
    lipschitz = 0.25
    log_odds_factor = 1.0

    def value(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, u))

    def derivative(self, u: FloatArray) -> FloatArray:
        return np.asarray(expit(u))

    def curvature(self, u: FloatArray) -> FloatArray:
        return np.asarray(expit(u) * expit(-u))

    def conjugate(self, pulls: FloatArray) -> FloatArray:
        pulls = np.clip(pulls, 0.0, 1.0)
        return np.asarray(xlogy(pulls, pulls) + xlogy(1.0 - pulls, 1.0 - pulls))


class LogisticLoss(NativeLoss, name="logistic", of="margins"):
    """Phi(u) = log2(1 + exp(u)). Cortes et al. (2014), section 3.2."""

    phi = Logistic()
    links = MappingProxyType({"two_classes": Link("offset_logistic"), "sum": Link("balance")})


@dataclass(frozen=True)
class LogisticTargetLoss(SignLoss, name="logistic", of="signs"):
    """Phi(y, f) = log(1 + exp(-y f)): f is the logarithm of the odds."""

    phi = Logistic()
    lipschitz = Logistic.lipschitz
    link = Link("logistic")

    def for_classes(self) -> NamedTargetLoss:
        multinomial: NamedTargetLoss = REGISTRY["classes"]["multinomial"]()
        return multinomial


class LogisticScores(MarginScores, name="logistic", of="scores"):
    """log(1 + e^(-y f)): LogLoss of equation (1), and equation (3) with several tasks."""

    phi = Logistic()
    link = Link("logistic")
    lipschitz = Logistic.lipschitz
