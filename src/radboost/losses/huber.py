"""The loss of Huber."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_real
from radboost.losses.target import NativeTargetLoss, WeightedRows


@dataclass(frozen=True)
class HuberLoss(NativeTargetLoss, name="huber", of="numbers"):
    """Phi(y, f) = (f - y)^2 / 2 up to abs(f - y) = delta, delta (abs(f - y) - delta / 2) beyond.

    Rows further away than delta pull no harder than those at that distance.

    Parameters
    ----------
    delta : float
        Where the loss becomes linear, in the unit of the targets.
    """

    delta: float = 1.0

    lipschitz = 1.0

    @property
    def parameter(self) -> float:
        return float(self.delta)

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        size = np.abs(scores - targets)
        return np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.clip(scores - targets, -self.delta, self.delta)

    def start(self, rows: WeightedRows) -> float:
        """The median, which is close to the best constant."""
        return rows.quantile(0.5)

    def validate(self) -> None:
        check_real("delta", self.delta, low=0.0, open_low=True)
