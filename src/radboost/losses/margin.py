"""Losses made of a margin function phi: of targets -1 and +1 (gradient boosting), and of scores (sparse models)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.base import MarginFunction
from radboost.losses.scores import ScoreLoss
from radboost.losses.target import SMALLEST_FRACTION, NativeTargetLoss, WeightedRows


class SignLoss(NativeTargetLoss):
    """Phi(y, f) = phi(-y f), y = -1 or +1, without an offset of the margin."""

    phi: ClassVar[MarginFunction]

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.value(-targets * scores), dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(-targets * self.phi.derivative(-targets * scores), dtype=np.float64)

    def start(self, rows: WeightedRows) -> float:
        fractions = (rows.mean((rows.targets == sign).astype(np.float64)) for sign in (1.0, -1.0))
        second, first = (max(fraction, SMALLEST_FRACTION) for fraction in fractions)
        return self.phi.log_odds_factor * log(second / first)


class MarginScores(ScoreLoss):
    """Sum over outputs of phi(-y f). Duchi and Singer (2009), equations (1) and (3).

    `signs` has shape (n_tasks, n_rows): -1, +1, or 0 for a missing label, whose loss is zero.
    """

    phi: ClassVar[MarginFunction]

    def __init__(self, signs: FloatArray) -> None:
        self.signs = np.ascontiguousarray(signs, dtype=np.float64)
        self.n_outputs, self.n_rows = self.signs.shape
        self.known = np.abs(self.signs)

    # Division by the unit and multiplication by it round the last bit, which the fingerprints of models depend on.

    def value(self, scores: FloatArray) -> FloatArray:
        phi = self.phi
        return np.asarray((self.known * (phi.value(-self.signs * scores) / phi.unit)).sum(axis=0) * phi.unit)

    def pulls(self, scores: FloatArray) -> FloatArray:
        """q of Lemma 1: weights of the rows in boosting, shape (n_tasks, n_rows)."""
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
