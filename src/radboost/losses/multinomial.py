"""The loss of several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.target import NativeTargetLoss, WeightedRows


@dataclass(frozen=True)
class MultinomialLoss(NativeTargetLoss):
    """Phi(y, f) = log sum_k exp(f_k) - f_y, y = 0, 1, ..., n_classes - 1: one score for each class.

    The second derivative is diag(p) - p p', whose largest eigenvalue is at most 1/2.
    """

    name = "multinomial"
    lipschitz = 0.5

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        own = np.take_along_axis(scores, targets.astype(np.intp)[:, None], axis=1)[:, 0]
        return np.asarray(logsumexp(scores, axis=1) - own, dtype=np.float64)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        shares = np.asarray(softmax(scores, axis=1), dtype=np.float64)
        shares[np.arange(len(targets)), targets.astype(np.intp)] -= 1.0
        return shares

    def start(self, rows: WeightedRows) -> FloatArray:
        classes = np.arange(int(rows.targets.max()) + 1)
        logs = np.array([log(rows.mean((rows.targets == k).astype(np.float64))) for k in classes])
        return np.asarray(logs - math.fsum(logs) / len(logs), dtype=np.float64)
