"""The loss of quantiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_real
from radboost.losses.link import IDENTITY
from radboost.losses.target import NativeTargetLoss, WeightedRows


@dataclass(frozen=True)
class QuantileLoss(NativeTargetLoss, name="quantile", of="numbers"):
    """Phi(y, f) = level (y - f) where f < y, (1 - level) (f - y) elsewhere: f is the quantile of that level.

    Parameters
    ----------
    level : float between 0 and 1
        0.9 asks for the number that nine targets in ten do not exceed.
    """

    level: float = 0.5

    smooth = False
    scales = True
    of_difference = True
    link = IDENTITY

    @property
    def parameter(self) -> float:
        return float(self.level)

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        below = targets - scores
        return np.maximum(self.level * below, (self.level - 1.0) * below)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        below = targets - scores
        return np.where(below > 0, -self.level, np.where(below < 0, 1.0 - self.level, 0.0))

    def start(self, rows: WeightedRows) -> float:
        return rows.quantile(self.level)

    def validate(self) -> None:
        level = check_real("level", self.level, low=0.0, high=1.0, open_low=True)
        if level == 1.0:
            raise ValueError(f"level must lie between 0 and 1, both excluded; got {self.level!r}.")
