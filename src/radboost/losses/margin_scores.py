"""Losses of margins y f: two classes, or several tasks with two classes each."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import expit, xlogy

from radboost._typing import FloatArray
from radboost.losses.base import NativeLoss
from radboost.losses.exponential import ExponentialLoss
from radboost.losses.logistic import LogisticLoss
from radboost.losses.scores import ScoreLoss


class MarginScores(ScoreLoss):
    """sum over the outputs of unit * Phi(-y f). Boosting with Structural Sparsity, equations (1) and (3).

    `signs` has a line for each task: -1, +1, or 0 where the label is missing and the loss is zero.
    """

    phi: NativeLoss
    unit: float

    def __init__(self, signs: FloatArray) -> None:
        self.signs = np.ascontiguousarray(signs, dtype=np.float64)
        self.n_outputs, self.n_rows = self.signs.shape
        self.known = np.abs(self.signs)

    def value(self, scores: FloatArray) -> FloatArray:
        return np.asarray((self.known * self.phi.value(-self.signs * scores)).sum(axis=0) * self.unit)

    def pulls(self, scores: FloatArray) -> FloatArray:
        """q of Lemma 1: the weights that boosting puts on the rows."""
        return self.known * self.phi.derivative(-self.signs * scores) * self.unit

    def gradient(self, scores: FloatArray) -> FloatArray:
        return -self.signs * self.pulls(scores)

    def halves(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        pulls = self.pulls(scores)
        return pulls * (self.signs > 0), pulls * (self.signs < 0)

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        return np.asarray((self.known * self.conjugate_of_phi(-self.signs * slopes)).sum(axis=0))

    @abstractmethod
    def conjugate_of_phi(self, pulls: FloatArray) -> FloatArray:
        """sup over u of pull u - unit Phi(u)."""


class LogisticScores(MarginScores):
    """log(1 + e^(-y f)): LogLoss of equation (1), and equation (3) with several tasks."""

    name = "logistic"
    curvature_bound = 0.25
    phi = LogisticLoss()
    unit = float(np.log(2.0))

    def curvature(self, scores: FloatArray) -> FloatArray:
        return np.asarray(self.known * expit(scores) * expit(-scores))

    def conjugate_of_phi(self, pulls: FloatArray) -> FloatArray:
        pulls = np.clip(pulls, 0.0, 1.0)
        return np.asarray(xlogy(pulls, pulls) + xlogy(1.0 - pulls, 1.0 - pulls))


class ExponentialScores(MarginScores):
    """e^(-y f): ExpLoss of equation (1). Its curvature has no bound, so that it has no GradBoost update."""

    name = "exponential"
    curvature_bound = None
    phi = ExponentialLoss()
    unit = 1.0

    def curvature(self, scores: FloatArray) -> FloatArray:
        return self.pulls(scores)

    def conjugate_of_phi(self, pulls: FloatArray) -> FloatArray:
        pulls = np.maximum(pulls, 0.0)
        return np.asarray(xlogy(pulls, pulls) - pulls)
