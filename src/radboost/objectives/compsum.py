"""Objective "compsum": logarithm of a sum over the wrong classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import softmax, xlogy

from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, LogisticLoss, MarginLoss
from radboost.losses.link import COMPSUM
from radboost.objectives.base import RowCost, Scores, argument_of_each_class


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

    def dual_values(self, loss: MarginLoss, points: Sequence[Scores], factor: float, class_ids: ClassIds) -> FloatArray:
        """The conjugate is an entropy, of the softmax of the arguments and of 0 in the place of the own class."""
        now, start = (argument_of_each_class(scores, class_ids) for scores, _ in points)
        own = np.arange(len(now)), class_ids
        now[own] = start[own] = 0.0
        shares = factor * softmax(now, axis=1)
        shares[own] += 1.0 - factor
        return np.asarray((shares * start - xlogy(shares, shares)).sum(axis=1) / math.log(2.0))

    def link(self, loss: MarginLoss | None) -> Link:
        return COMPSUM
