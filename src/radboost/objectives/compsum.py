"""The logarithm of a sum over the wrong classes."""

from __future__ import annotations

import math

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import LogisticLoss, MarginLoss
from radboost.objectives.base import RowCost, argument_of_each_class


class CompSum(RowCost, name="compsum"):
    """log2(1 + the sum of exp(u(y)) over the wrong classes y): Multi-Class Deep Boosting, equation (9)."""

    @classmethod
    def check(cls, loss: object) -> None:
        if not (isinstance(loss, LogisticLoss) or (isinstance(loss, str) and loss == LogisticLoss.name)):
            raise ValueError(
                f'objective="compsum" is log2(1 + a sum of exponentials) and goes with loss="logistic" only; got '
                f'loss={loss!r}. Use objective="sum" with this loss, or loss="logistic".'
            )

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        arguments = argument_of_each_class(scores, class_ids)
        arguments[np.arange(len(scores)), class_ids] = 0.0  # exp(0) is the 1 under the logarithm
        largest = arguments.max(axis=1, keepdims=True)
        sums = np.exp(arguments - largest).sum(axis=1)
        return np.asarray((largest[:, 0] + np.log(sums)) / math.log(2.0), dtype=np.float64)

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        return compsum_probabilities(scores)


def compsum_probabilities(scores: FloatArray) -> FloatArray:
    """p_c proportional to A_c (A_c + e (Z - A_c)) with A = exp(f), Z = the sum of A."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = odds.sum(axis=1, keepdims=True)
    shares = odds * (odds + math.e * (total - odds))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)
