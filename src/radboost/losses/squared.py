"""The loss of least squares."""

from __future__ import annotations

from dataclasses import dataclass

from radboost._typing import FloatArray
from radboost.losses.link import IDENTITY
from radboost.losses.target import NativeTargetLoss, WeightedRows, check_squares


@dataclass(frozen=True)
class SquaredLoss(NativeTargetLoss, name="squared", of="numbers"):
    """Phi(y, f) = (f - y)^2 / 2: f is the mean."""

    lipschitz = 1.0
    scales = True
    of_difference = True
    link = IDENTITY

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return 0.5 * (scores - targets) ** 2

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return scores - targets

    def for_rows(self, rows: WeightedRows) -> SquaredLoss:
        check_squares(rows, self.name)
        return self

    def start(self, rows: WeightedRows) -> float:
        same = rows.constant()
        return rows.mean(rows.targets) if same is None else same
