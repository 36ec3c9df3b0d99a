"""What rows cost at given scores."""

from __future__ import annotations

import math

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses.base import MarginLoss


def margins_of(scores: FloatArray, class_ids: ClassIds) -> FloatArray:
    """By how much the score of each row's class exceeds the best of the others; y f with two classes."""
    if scores.ndim == 1:
        return np.where(class_ids == 1, scores, -scores)
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, class_ids] = -np.inf
    return np.asarray(scores[rows, class_ids] - others.max(axis=1), dtype=np.float64)


def row_losses(name: str, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
    """The loss of each row, for scores of shape (n_rows,) with two classes and (n_rows, n_classes) with more.

    "maxsum" sees the weights of the hypotheses, which the scores do not tell: it gets the margin of f in the place of
    their sum, which is not smaller, so its loss comes out as a lower bound.
    """
    if scores.ndim == 1 or name in ("max", "maxsum"):
        return np.asarray(loss.value(1.0 - margins_of(scores, class_ids)), dtype=np.float64)
    rows = np.arange(len(scores))
    arguments = 1.0 - scores[rows, class_ids][:, None] + scores
    if name == "sum":
        values = np.array(loss.value(arguments.ravel()), dtype=np.float64).reshape(arguments.shape)
        values[rows, class_ids] = 0.0
        return np.asarray(values.sum(axis=1), dtype=np.float64)
    arguments[rows, class_ids] = 0.0  # exp(0) is the 1 under the logarithm
    largest = arguments.max(axis=1, keepdims=True)
    sums = np.exp(arguments - largest).sum(axis=1)
    return np.asarray((largest[:, 0] + np.log(sums)) / math.log(2.0), dtype=np.float64)
