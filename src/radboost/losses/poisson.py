"""The loss of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.link import EXPONENTIAL
from radboost.losses.target import LARGEST_EXPONENT, NativeTargetLoss, WeightedRows, called, for_any_sign

# A mean far below this may be zero as a floating-point number, and has no logarithm then.
SMALLEST_MAXIMUM = 1e-100


@dataclass(frozen=True)
class PoissonLoss(NativeTargetLoss, name="poisson", of="numbers"):
    """Phi(y, f) = exp(f) - y f, y >= 0: f is the logarithm of the mean."""

    link = EXPONENTIAL

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return self._means(scores) - targets * scores

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return self._means(scores) - targets

    def _means(self, scores: FloatArray) -> FloatArray:
        return np.exp(np.clip(scores, -708.0, LARGEST_EXPONENT))

    def start(self, rows: WeightedRows) -> float:
        return log(rows.mean(rows.targets))

    def start_beside(self, rows: WeightedRows, offset: FloatArray) -> float:
        return self.start(rows) - rows.log_mean_exp(offset)

    def lowest(self, targets: FloatArray) -> FloatArray:
        return np.asarray(targets - xlogy(targets, targets), dtype=np.float64)

    def check_targets(self, targets: FloatArray, column: int | None = None) -> None:
        if targets.min() < 0.0:
            raise ValueError(
                f'loss="poisson" is for counts and other targets that are not negative, and {called(column)} goes down '
                f"to {targets.min():g}. Use loss={for_any_sign(column)} for such a y."
            )
        if not targets.max() > 0.0:
            where = "" if column is None else f", and {called(column)} has none"
            raise ValueError(
                f'loss="poisson" needs at least one y above zero in the rows with a positive weight{where}.'
            )
        if targets.max() < SMALLEST_MAXIMUM:
            raise ValueError(
                f'{called(column)} goes up to {targets.max():g} only, and loss="poisson" needs a y of at least '
                f"{SMALLEST_MAXIMUM:g}. Rescale it."
            )
