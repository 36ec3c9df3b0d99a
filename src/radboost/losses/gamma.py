"""The loss of amounts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.link import EXPONENTIAL
from radboost.losses.target import LARGEST_EXPONENT, NativeTargetLoss, WeightedRows, called, for_any_sign

# The mean of smaller targets may be zero as a floating-point number, and has no logarithm then.
SMALLEST_TARGET = 1e-100


@dataclass(frozen=True)
class GammaLoss(NativeTargetLoss, name="gamma", of="numbers"):
    """Phi(y, f) = y exp(-f) + f, y > 0: f is the logarithm of the mean of amounts whose spread grows with their mean.

    Up to constants half the deviance, or the negative logarithm of the likelihood, of the gamma distribution.
    """

    link = EXPONENTIAL

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self._ratios(targets, scores) + scores, dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(1.0 - self._ratios(targets, scores), dtype=np.float64)

    def _ratios(self, targets: FloatArray, scores: FloatArray) -> FloatArray:
        """Targets over predictions."""
        return np.asarray(targets * np.exp(np.minimum(-scores, LARGEST_EXPONENT)))

    def start(self, rows: WeightedRows) -> float:
        return log(rows.mean(rows.targets))

    def start_beside(self, rows: WeightedRows, offset: FloatArray) -> float:
        return rows.log_mean_exp(np.log(rows.targets) - offset)

    def lowest(self, targets: FloatArray) -> FloatArray:
        return np.asarray(1.0 + np.log(targets), dtype=np.float64)

    def check_targets(self, targets: FloatArray, column: int | None = None) -> None:
        if targets.min() <= 0.0:
            raise ValueError(
                f'loss="gamma" is for amounts and other targets above zero, and {called(column)} goes down to '
                f'{targets.min():g}. Use loss="poisson" where y may be zero, and {for_any_sign(column)} where it may '
                "be negative."
            )
        if targets.min() < SMALLEST_TARGET:
            raise ValueError(
                f'{called(column)} goes down to {targets.min():g}, and loss="gamma" needs at least '
                f"{SMALLEST_TARGET:g}. Rescale it."
            )
