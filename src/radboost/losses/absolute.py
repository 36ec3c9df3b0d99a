"""The loss of least absolute deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.link import IDENTITY
from radboost.losses.target import NativeTargetLoss, WeightedRows


@dataclass(frozen=True)
class AbsoluteLoss(NativeTargetLoss, name="absolute", of="numbers"):
    """Phi(y, f) = abs(f - y): f is the median."""

    smooth = False
    scales = True
    of_difference = True
    link = IDENTITY

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.abs(scores - targets)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.sign(scores - targets)

    def start(self, rows: WeightedRows) -> float:
        return rows.quantile(0.5)
