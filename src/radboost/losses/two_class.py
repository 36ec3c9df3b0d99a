"""Losses of two classes, y = -1 or +1, without an offset of the margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.target import NativeTargetLoss, WeightedRows


@dataclass(frozen=True)
class LogisticTargetLoss(NativeTargetLoss):
    """Phi(y, f) = log(1 + exp(-y f)): f is the logarithm of the odds."""

    name = "logistic"
    lipschitz = 0.25

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, -targets * scores), dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(-targets * expit(-targets * scores), dtype=np.float64)

    def start(self, rows: WeightedRows) -> float:
        return _log_odds(rows)


@dataclass(frozen=True)
class ExponentialTargetLoss(NativeTargetLoss):
    """Phi(y, f) = exp(-y f): f is half the logarithm of the odds."""

    name = "exponential"

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.exp(np.clip(-targets * scores, -708.0, 709.0))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return -targets * self.value(targets, scores)

    def start(self, rows: WeightedRows) -> float:
        return 0.5 * _log_odds(rows)


def _log_odds(rows: WeightedRows) -> float:
    second, first = (rows.mean((rows.targets == sign).astype(np.float64)) for sign in (1.0, -1.0))
    return log(second / first)
