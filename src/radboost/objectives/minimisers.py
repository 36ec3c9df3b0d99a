"""From scores to probabilities: the p for which the scores minimise the expected loss."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost.losses.base import MarginLoss

# Numbers in memory at a time when linear systems are solved for many rows at once.
LARGEST_BATCH = 4_000_000
# Rates are at least this share of the largest: probabilities cannot be told apart beyond.
SMALLEST_RATE = 1e-30


def of_margins(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """Two classes: Phi'(1 + f) / (Phi'(1 - f) + Phi'(1 + f)) for the second.

    A row of probability p minimises p Phi(1 - f) + (1 - p) Phi(1 + f); its derivative is zero at this p.
    """
    for_second = np.asarray(loss.derivative(1.0 + scores), dtype=np.float64)
    for_first = np.asarray(loss.derivative(1.0 - scores), dtype=np.float64)
    total = for_first + for_second
    second = np.divide(for_second, total, out=np.where(scores > 0, 1.0, 0.0), where=total > 0)
    return np.column_stack([1.0 - second, second])


def of_sum_exponential(scores: FloatArray) -> FloatArray:
    """p(c) is proportional to exp(2 f(c)): the derivative of the sum over c, y of p(c) exp(1 - f(c) + f(y)) is zero."""
    return np.asarray(softmax(2.0 * scores, axis=1), dtype=np.float64)


def of_compsum(scores: FloatArray) -> FloatArray:
    """p(c) is proportional to A(c) (A(c) + e (Z - A(c))) with A = exp f and Z the sum of A.

    Where the derivative of the sum over c of p(c) log(1 + e (Z - A(c)) / A(c)) is zero,
    p(c) e Z / (A(c) + e (Z - A(c))) = e A(c) times a number that does not depend on c.
    """
    A = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = A * (A + np.e * (A.sum(axis=1, keepdims=True) - A))
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float64)


def of_sum(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """Any Phi: the p with p(c) sum over y of Phi'(1 - f(c) + f(y)) = sum over k of p(k) Phi'(1 - f(k) + f(c)).

    This says that as much flows out of every class as into it, when Phi'(1 - f(c) + f(y)) is the rate from c to y.
    """
    n, n_classes = scores.shape
    batch = max(1, LARGEST_BATCH // n_classes**2)
    parts = [_balance(loss, scores[begin : begin + batch]) for begin in range(0, n, batch)]
    return np.concatenate(parts) if parts else np.zeros((0, n_classes))


def _balance(loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """The balanced distribution by eliminating one class after the other, without a subtraction.

    Grassmann, Taksar and Heyman, Regenerative analysis and steady state distributions for Markov chains (1985).
    """
    n, n_classes = scores.shape
    rates = np.array(loss.derivative(1.0 - scores[:, :, None] + scores[:, None, :]), dtype=np.float64)
    largest = rates.max(axis=(1, 2), keepdims=True)
    rates /= np.where(largest > 0, largest, 1.0)
    np.maximum(rates, SMALLEST_RATE, out=rates)
    for k in range(n_classes - 1, 0, -1):
        rates[:, :k, k] /= rates[:, k, :k].sum(axis=1, keepdims=True)
        rates[:, :k, :k] += rates[:, :k, k, None] * rates[:, k, None, :k]
    p = np.ones((n, n_classes))
    for k in range(1, n_classes):
        p[:, k] = (p[:, :k] * rates[:, :k, k]).sum(axis=1)
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float64)
