"""From scores to probabilities: each objective's population minimiser, read backwards (docs/theory.md)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost._validation import check_choice
from radboost.losses import ExponentialLoss, MarginLoss
from radboost.objectives.names import OBJECTIVES

BLOCK_CELLS = 2**23
MANY_CLASSES = 64


def probabilities(objective: str, loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """P(c | x) for each row and class, given scores of shape (n_rows,) for two classes, (n_rows, n_classes) for more.

    A row whose classes have the probabilities p minimises the expected loss at certain scores; these are the p that
    belong to the given scores. "max" and "maxsum" do not determine p (without a class above 1/2 their minimiser is 0):
    they borrow the map of "compsum", which has the right order and is the right one for no other reason.
    """
    check_choice("objective", objective, OBJECTIVES)
    if scores.ndim == 1:
        return _of_margins(loss, scores)
    if objective != "sum":
        return _of_compsum(scores)
    if isinstance(loss, ExponentialLoss):
        # p_c sum_y exp(f_y - f_c) is the same for all c up to the factor exp(2 f_c).
        return np.asarray(softmax(2.0 * scores, axis=1), dtype=np.float64)
    if scores.shape[1] > MANY_CLASSES:
        return np.array([_of_sum_with_ties(loss, row) for row in scores]).reshape(scores.shape)
    height = max(1, BLOCK_CELLS // scores.shape[1] ** 2)
    blocks = [_of_sum(loss, scores[first : first + height]) for first in range(0, max(1, len(scores)), height)]
    return np.concatenate(blocks)


def _of_margins(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """Two classes: p Phi(1 - f) + (1 - p) Phi(1 + f) is least at p = Phi'(1 + f) / (Phi'(1 - f) + Phi'(1 + f))."""
    for_second = np.asarray(loss.derivative(1.0 + scores), dtype=np.float64)
    for_first = np.asarray(loss.derivative(1.0 - scores), dtype=np.float64)
    total = for_first + for_second
    second = np.divide(for_second, total, out=np.where(scores > 0, 1.0, 0.0), where=total > 0)
    return np.column_stack([1.0 - second, second])


def _of_compsum(scores: FloatArray) -> FloatArray:
    """p_c proportional to A_c (A_c + e (Z - A_c)) with A = exp(f), Z = the sum of A."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = odds.sum(axis=1, keepdims=True)
    shares = odds * (odds + math.e * (total - odds))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)


def _of_sum_with_ties(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """The same for one row of many classes, of which most have the same score: these share one state of the chain."""
    levels, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    shares = _of_sum(loss, levels[None, :], counts)[0]
    return np.asarray((shares / counts)[places.reshape(-1)], dtype=np.float64)


def _of_sum(loss: MarginLoss, scores: FloatArray, counts: npt.NDArray[np.intp] | None = None) -> FloatArray:
    """The p with p_c sum_y Phi'(1 - f_c + f_y) = sum_y p_y Phi'(1 - f_y + f_c) for every c.

    That is the balance of a Markov chain that goes from class c to y at the rate Phi'(1 - f_c + f_y). Classes are
    eliminated from the last to the first without a subtraction (Grassmann, Taksar and Heyman, 1985), so that small
    probabilities are as accurate as large ones. From every class a rate of Phi'(1) or more leads to the one with the
    largest score; it comes first, and no elimination divides by zero. With `counts` each column stands for so many
    classes, and the result is their share together.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    gaps = ranked[:, None, :] - ranked[:, :, None]
    rates = np.array(loss.derivative(1.0 + gaps.ravel()), dtype=np.float64).reshape(gaps.shape)
    if counts is not None:
        rates *= counts[order][:, None, :]  # so many classes to go to
    n_classes = scores.shape[1]
    for last in range(n_classes - 1, 0, -1):
        away = rates[:, last, :last].sum(axis=1, keepdims=True)
        column = rates[:, :last, last]
        np.divide(column, away, out=column, where=away > 0)
        rates[:, :last, :last] += column[:, :, None] * rates[:, None, last, :last]
    shares = np.ones_like(scores)
    for index in range(1, n_classes):
        shares[:, index] = (shares[:, :index] * rates[:, :index, index]).sum(axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    result = np.empty_like(shares)
    np.put_along_axis(result, order, shares, axis=1)
    return result
