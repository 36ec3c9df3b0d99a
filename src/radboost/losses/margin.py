"""A convex function phi of a margin, and the three losses that it gives: of margins, of signs, and of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.base import Loss
from radboost.losses.scores import ScoreLoss
from radboost.losses.target import NativeTargetLoss, WeightedRows


class MarginFunction(ABC):
    """A convex, increasing phi(u), written once; a row of margin y f costs phi(-y f)."""

    # What phi is divided by in DeepBoost, so that Phi(0) = 1.
    unit: ClassVar[float]
    # The largest second derivative, or None.
    lipschitz: ClassVar[float | None]
    # The score that minimises the expected loss is this times the logarithm of the odds.
    share_of_log_odds: ClassVar[float]

    @abstractmethod
    def value(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def derivative(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def curvature(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def conjugate(self, pulls: FloatArray) -> FloatArray:
        """sup over u of pull u - phi(u), for pulls that are derivatives of phi, up to rounding."""


class NativeLoss(Loss):
    """Phi(u) = phi(u) / unit of u = 1 - y f, which the native core knows as well.

    Both built-in losses satisfy Phi(u + v) - Phi(u) <= Phi'(u) (e^v - 1), which gives the step of Deep Boosting,
    Figure 2, lines 12-16 (Multi-Class Deep Boosting, Figure 1, lines 6-8) in closed form. These NumPy methods are the
    oracles of the native kernels.
    """

    phi: ClassVar[MarginFunction]

    def value(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.value(u) / self.phi.unit, dtype=np.float64)

    def derivative(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.derivative(u) / self.phi.unit, dtype=np.float64)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SignLoss(NativeTargetLoss):
    """Phi(y, f) = phi(-y f), y = -1 or +1, without an offset of the margin."""

    phi: ClassVar[MarginFunction]

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.value(-targets * scores), dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(-targets * self.phi.derivative(-targets * scores), dtype=np.float64)

    def start(self, rows: WeightedRows) -> float:
        second, first = (rows.mean((rows.targets == sign).astype(np.float64)) for sign in (1.0, -1.0))
        return self.phi.share_of_log_odds * log(second / first)


class MarginScores(ScoreLoss):
    """sum over the outputs of phi(-y f). Boosting with Structural Sparsity, equations (1) and (3).

    `signs` has a line for each task: -1, +1, or 0 where the label is missing and the loss is zero.
    """

    phi: ClassVar[MarginFunction]

    def __init__(self, signs: FloatArray) -> None:
        self.signs = np.ascontiguousarray(signs, dtype=np.float64)
        self.n_outputs, self.n_rows = self.signs.shape
        self.known = np.abs(self.signs)

    # Dividing by the unit and multiplying by it rounds the last bit, which models that are there depend on.

    def value(self, scores: FloatArray) -> FloatArray:
        phi = self.phi
        return np.asarray((self.known * (phi.value(-self.signs * scores) / phi.unit)).sum(axis=0) * phi.unit)

    def pulls(self, scores: FloatArray) -> FloatArray:
        """q of Lemma 1: the weights that boosting puts on the rows."""
        phi = self.phi
        return np.asarray(self.known * (phi.derivative(-self.signs * scores) / phi.unit) * phi.unit)

    def gradient(self, scores: FloatArray) -> FloatArray:
        return -self.signs * self.pulls(scores)

    def curvature(self, scores: FloatArray) -> FloatArray:
        return np.asarray(self.known * self.phi.curvature(-self.signs * scores))

    def halves(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        pulls = self.pulls(scores)
        return pulls * (self.signs > 0), pulls * (self.signs < 0)

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        return np.asarray((self.known * self.phi.conjugate(-self.signs * slopes)).sum(axis=0))
