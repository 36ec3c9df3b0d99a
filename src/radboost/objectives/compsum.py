"""Objective "compsum": logarithm of a sum over the wrong classes."""

from __future__ import annotations

import math

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, LogisticLoss, MarginLoss
from radboost.losses.link import COMPSUM
from radboost.objectives.base import RowCost, argument_of_each_class


class CompSum(RowCost, name="compsum"):
    """log2(1 + the sum of exp(u(y)) over the wrong classes y): Kuznetsov et al. (2014), equation (9)."""

    rates_leaves = True

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

    def link(self, loss: MarginLoss | None) -> Link:
        return COMPSUM
