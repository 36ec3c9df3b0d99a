"""AdaBoost (Freund and Schapire, 1997) around an exhaustive stump; shares nothing with the rest."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Round:
    feature: int
    threshold: float
    sign: int  # prediction where x <= threshold
    alpha: float
    epsilon: float
    scores: np.ndarray  # on the training rows after this round


def exhaustive_stump(X: np.ndarray, y: np.ndarray, D: np.ndarray) -> tuple[float, int, float, int]:
    """Smallest weighted error over all columns, midpoints and signs, and the constants; first wins ties."""
    best = (float(np.sum(D[y < 0])), 0, math.inf, 1)
    if 1 - best[0] < best[0]:
        best = (1 - best[0], 0, math.inf, -1)
    for j in range(X.shape[1]):
        values = sorted(set(X[:, j].tolist()))
        for a, b in itertools.pairwise(values):
            threshold = (a + b) / 2
            for sign in (1, -1):
                h = np.where(X[:, j] <= threshold, sign, -sign)
                error = float(np.sum(D[h != y]))
                if error < best[0] - 1e-12:
                    best = (error, j, threshold, sign)
    return best


def additive_logistic(X: np.ndarray, y: np.ndarray, rounds: int, sample_weight: np.ndarray) -> list[Round]:
    """Coordinate descent on the mean of log(1 + exp(1 - y f)): AdaBoost's steps with logistic weights."""
    scores = np.zeros(len(y))
    out = []
    for _ in range(rounds):
        D = sample_weight / (1 + np.exp(y * scores - 1))
        eps, feature, threshold, sign = exhaustive_stump(X, y, D / D.sum())
        alpha = 0.5 * math.log((1 - eps) / eps)
        scores = scores + alpha * np.where(X[:, feature] <= threshold, sign, -sign)
        out.append(Round(feature, threshold, sign, alpha, eps, scores.copy()))
    return out


def adaboost(X: np.ndarray, y: np.ndarray, rounds: int, sample_weight: np.ndarray | None = None) -> list[Round]:
    """Reweight, take the best stump, add it with weight half the log odds."""
    D = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    D = D / D.sum()
    scores = np.zeros(len(y))
    out = []
    for _ in range(rounds):
        eps, feature, threshold, sign = exhaustive_stump(X, y, D)
        if eps <= 0 or eps >= 0.5 - 1e-12:
            break
        alpha = 0.5 * math.log((1 - eps) / eps)
        h = np.where(X[:, feature] <= threshold, sign, -sign)
        scores = scores + alpha * h
        D = D * np.exp(-alpha * y * h)
        D = D / D.sum()
        out.append(Round(feature, threshold, sign, alpha, eps, scores.copy()))
    return out
