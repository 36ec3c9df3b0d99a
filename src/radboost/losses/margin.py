"""The losses of signs and of scores that a function of a margin gives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.base import MarginFunction
from radboost.losses.scores import ScoreLoss
from radboost.losses.target import SMALLEST_SHARE, NativeTargetLoss, WeightedRows


class SignLoss(NativeTargetLoss):
    """Phi(y, f) = phi(-y f), y = -1 or +1, without an offset of the margin."""

    phi: ClassVar[MarginFunction]

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.value(-targets * scores), dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(-targets * self.phi.derivative(-targets * scores), dtype=np.float64)

    def start(self, rows: WeightedRows) -> float:
        shares = (rows.mean((rows.targets == sign).astype(np.float64)) for sign in (1.0, -1.0))
        second, first = (max(share, SMALLEST_SHARE) for share in shares)
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
