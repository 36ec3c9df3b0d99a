"""The loss of Huber."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_real
from radboost.losses.link import IDENTITY
from radboost.losses.target import NativeTargetLoss, WeightedRows, check_squares

# Of the rows, around the median: as in Friedman's gradient boosting (2001, section 4.4), but of the first residuals, so
# that there is one objective, which falls in every round.
SHARE_WITHIN = 0.9


@dataclass(frozen=True)
class HuberLoss(NativeTargetLoss, name="huber", of="numbers"):
    """Phi(y, f) = (f - y)^2 / 2 up to abs(f - y) = delta, delta (abs(f - y) - delta / 2) beyond.

    Rows further away than delta pull no harder than those at that distance.

    Parameters
    ----------
    delta : float or None
        Where the loss becomes linear, in the unit of the targets. None: the distance from their median within which
        nine tenths of the training rows lie.
    """

    delta: float | None = None

    lipschitz = 1.0
    takes_several = False  # there is one delta
    of_difference = True
    link = IDENTITY

    @property
    def parameter(self) -> float:
        if self.delta is None:
            raise ValueError("HuberLoss() takes its delta from the rows of a fit. Give one: HuberLoss(delta=1.0).")
        return float(self.delta)

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        delta, size = self.parameter, np.abs(scores - targets)
        return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        delta = self.parameter
        return np.clip(scores - targets, -delta, delta)

    def for_rows(self, rows: WeightedRows) -> HuberLoss:
        check_squares(rows, self.name)
        if self.delta is not None:
            return self
        median = rows.quantile(0.5)
        distance = rows.quantile(SHARE_WITHIN, lambda targets: np.abs(targets - median))
        if distance == 0.0:  # nine tenths of the targets are the same number
            distance = rows.mean(np.abs(rows.targets - median))
        return HuberLoss(distance if distance > 0.0 else 1.0)

    def start(self, rows: WeightedRows) -> float:
        """The median, which is close to the best constant."""
        return rows.quantile(0.5)

    def validate(self) -> None:
        if self.delta is not None:
            check_real("delta", self.delta, low=0.0, open_low=True)
