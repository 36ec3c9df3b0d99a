"""Objective "sum": the sum of Phi over the wrong classes, and its probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.losses import MarginLoss
from radboost.objectives.base import CostOfAnyLoss, argument_of_each_class

BLOCK_CELLS = 2**23  # rows x classes^2 whose probabilities are computed at a time
MANY_CLASSES = 64  # with more, probabilities are computed row by row


class Sum(CostOfAnyLoss, name="sum"):
    """Sum of Phi(u(y)) over the wrong classes y. Kuznetsov et al. (2014, Multi-Class Deep Boosting), equation (7)."""

    rates_leaves = True

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        arguments = argument_of_each_class(scores, class_ids)
        values = loss.value(arguments.ravel()).reshape(arguments.shape)
        return self.costs(values, class_ids)

    def arguments(self, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
        return argument_of_each_class(scores, class_ids)

    def costs(self, values: FloatArray, class_ids: ClassIds) -> FloatArray:
        wrong = values.copy()
        wrong[np.arange(len(class_ids)), class_ids] = 0.0
        return np.asarray(wrong.sum(axis=1))

    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        directions = predictions - predictions[np.arange(len(class_ids)), class_ids][:, None]
        return np.asarray((derivatives * directions).sum(axis=1))

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        link = self.link(loss)
        if link is not None and link.name == "softmax":
            # Exponential loss: p_c sum_y exp(f_y - f_c) is the same for all c up to the factor exp(2 f_c).
            return link.probabilities(scores)
        if scores.shape[1] > MANY_CLASSES:
            return np.array([_with_ties(loss, row) for row in scores]).reshape(scores.shape)
        height = max(1, BLOCK_CELLS // scores.shape[1] ** 2)
        blocks = [_balance(loss, scores[first : first + height]) for first in range(0, max(1, len(scores)), height)]
        return np.concatenate(blocks)


def _with_ties(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """`_balance` for one row of many classes: equal scores become one state of the chain."""
    levels, indices, counts = np.unique(scores, return_inverse=True, return_counts=True)
    p = _balance(loss, levels[None, :], counts)[0]
    return np.asarray((p / counts)[indices.reshape(-1)], dtype=np.float64)


def _balance(loss: MarginLoss, scores: FloatArray, counts: npt.NDArray[np.intp] | None = None) -> FloatArray:
    """p with p_c sum_y Phi'(1 - f_c + f_y) = sum_y p_y Phi'(1 - f_y + f_c) for every c, shape (n_rows, n_classes)."""
    # This is the balance of a Markov chain that goes from class c to y at the rate Phi'(1 - f_c + f_y). Classes are
    # eliminated from the last to the first without a subtraction (Grassmann, Taksar and Heyman, 1985), so that small
    # probabilities are as accurate as large ones. From every class a rate of Phi'(1) or more leads to the one with the
    # largest score; it comes first, and no elimination divides by zero. Column j stands for counts[j] classes with
    # equal scores (None: one), and the result is their total probability.
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    gaps = ranked[:, None, :] - ranked[:, :, None]
    rates = loss.derivative(1.0 + gaps.ravel()).reshape(gaps.shape)
    if counts is not None:
        rates *= counts[order][:, None, :]  # rates to all classes of the column
    n_classes = scores.shape[1]
    for last in range(n_classes - 1, 0, -1):
        away = rates[:, last, :last].sum(axis=1, keepdims=True)
        column = rates[:, :last, last]
        np.divide(column, away, out=column, where=away > 0)
        rates[:, :last, :last] += column[:, :, None] * rates[:, None, last, :last]
    p = np.ones_like(scores)
    for index in range(1, n_classes):
        p[:, index] = (p[:, :index] * rates[:, :index, index]).sum(axis=1)
        if counts is None:  # despite rounding: in the order of the scores, and equal for equal scores
            before, tied = p[:, index - 1], ranked[:, index] == ranked[:, index - 1]
            p[:, index] = np.where(tied, before, np.minimum(before, p[:, index]))
    p /= p.sum(axis=1, keepdims=True)
    result = np.empty_like(p)
    np.put_along_axis(result, order, p, axis=1)
    return result
