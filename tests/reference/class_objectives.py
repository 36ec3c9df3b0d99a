"""The four objectives of Multi-Class Deep Boosting, equations (6) to (9), written out row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reference.losses import LN2, Loss

NAMES = ("sum", "compsum", "maxsum", "max")
E = math.e


@dataclass(frozen=True)
class Weights:
    """D of one round: D[i][y] for wrong classes y, or the whole of a row's D at its active labels."""

    rows: np.ndarray  # sum over the wrong classes, or D(i)
    growing: np.ndarray  # g+(i, c)
    shrinking: np.ndarray  # g-(i, c)


def arguments(scores: np.ndarray, y: int) -> np.ndarray:
    """u = 1 - f(y_i) + f(c) of the wrong classes c, in order."""
    return np.delete(1.0 - scores[y] + scores, y)


def hypothesis_margin(h: np.ndarray, y: int) -> float:
    """rho_h: h(y_i) minus the largest h(c) of a wrong class."""
    return float(h[y] - np.delete(h, y).max())


def row_value(name: str, loss: Loss, scores: np.ndarray, y: int, margin: float) -> float:
    """What one row costs; `margin` is the weighted sum of the margins of the hypotheses, which maxsum alone reads."""
    u = arguments(scores, y)
    if name == "sum":
        return float(loss.value(u).sum())
    if name == "compsum":
        return float(np.logaddexp.reduce([0.0, *u]) / LN2)
    if name == "maxsum":
        return float(loss.value(np.array([1.0 - margin]))[0])
    return float(loss.value(u).max())


def row_weights(name: str, loss: Loss, scores: np.ndarray, y: int, margin: float) -> np.ndarray:
    """S D(i, c) for the wrong classes c (sum, compsum); S D(i) at the active labels (max) or everywhere (maxsum)."""
    u = arguments(scores, y)
    if name == "sum":
        return loss.derivative(u)
    if name == "compsum":
        return np.exp(u - np.logaddexp.reduce([0.0, *u])) / LN2
    if name == "maxsum":
        return np.full(len(u), loss.derivative(np.array([1.0 - margin]))[0])
    return np.where(u == u.max(), loss.derivative(u), 0.0)


def weights(
    name: str,
    loss: Loss,
    scores: np.ndarray,
    y: Sequence[int],
    w: np.ndarray,
    margins: np.ndarray,
) -> tuple[float, Weights]:
    """S, the sum of all weights, and D with the gains of every answer."""
    n, n_classes = scores.shape
    rows, growing, shrinking = np.zeros(n), np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for i in range(n):
        wrong = [c for c in range(n_classes) if c != y[i]]
        terms = w[i] * row_weights(name, loss, scores[i], y[i], margins[i])
        one_number = name in ("maxsum", "max")
        rows[i] = growing[i, y[i]] = shrinking[i, y[i]] = terms.max() if one_number else terms.sum()
        growing[i, wrong] = shrinking[i, wrong] = -terms
        if name == "max" and np.count_nonzero(terms) > 1:
            shrinking[i, wrong] = 0.0
    S = float(rows.sum())
    return S, Weights(rows / S, growing / S, shrinking / S)


def total_loss(
    name: str,
    loss: Loss,
    scores: np.ndarray,
    y: Sequence[int],
    w: np.ndarray,
    margins: np.ndarray,
) -> float:
    return float(sum(w[i] * row_value(name, loss, scores[i], y[i], margins[i]) for i in range(len(y))))


def errors(scores: np.ndarray, y: Sequence[int], w: np.ndarray) -> float:
    """The weight of the rows that f gets wrong: f(y_i) is not above every other score."""
    return float(sum(w[i] for i in range(len(y)) if scores[i, y[i]] <= np.delete(scores[i], y[i]).max()))


def expected_loss(name: str, loss: Loss, scores: np.ndarray, p: np.ndarray) -> float:
    """The mean of the loss of a row whose class is drawn from p."""
    return float(sum(p[y] * row_value(name, loss, scores, y, math.nan) for y in range(len(p))))
