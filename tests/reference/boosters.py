"""AdaBoost.MR and additive multinomial logistic regression around exhaustive stumps; nothing is shared.

With two classes they are AdaBoost (Freund and Schapire, 1997) and additive logistic regression.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Round:
    answers: np.ndarray  # on the training rows
    alpha: float
    edge: float
    scores: np.ndarray  # after this round


def stump_partitions(X: np.ndarray) -> list[np.ndarray]:
    """Which rows lie left of every midpoint of every column, after the one that parts nothing."""
    out = [np.ones(len(X), dtype=bool)]
    for j in range(X.shape[1]):
        for a, b in itertools.pairwise(sorted(set(X[:, j].tolist()))):
            out.append(X[:, j] <= (a + b) / 2)
    return out


def best_stump(partitions: list[np.ndarray], gains: np.ndarray) -> tuple[float, np.ndarray]:
    """Largest sum of the gains g(i, answer) and the answers of the first stump that has it."""
    best: tuple[float, np.ndarray] | None = None
    for left in partitions:
        by_side = gains[left].sum(axis=0), gains[~left].sum(axis=0)
        gain = float(by_side[0].max() + (0.0 if left.all() else by_side[1].max()))
        if best is None or gain > best[0] + 1e-12:
            best = gain, np.where(left, by_side[0].argmax(), by_side[1].argmax())
    assert best is not None
    return best


def adaboost_mr(X: np.ndarray, y: np.ndarray, rounds: int, n_classes: int, w: np.ndarray) -> list[Round]:
    """Schapire and Singer (1999), Figure 4, with one right label per row.

    D is kept over rows and wrong labels and multiplied, never computed from the scores. Weak hypotheses take the
    values -1 and +1: +1 for the class that a leaf names. r = 1/2 sum D (h(right) - h(wrong)).
    """
    truth = np.eye(n_classes)[y]
    partitions = stump_partitions(X)
    D = (1 - truth) * w[:, None] / (n_classes - 1) / np.sum(w)
    scores = np.zeros((len(y), n_classes))
    out = []
    for _ in range(rounds):
        r, answers = best_stump(partitions, truth * D.sum(axis=1, keepdims=True) - D)
        if r <= 1e-12 or r >= 1 - 1e-12:
            break
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        h = 2.0 * (np.arange(n_classes) == answers[:, None]) - 1
        D = D * np.exp(0.5 * alpha * (h - np.sum(h * truth, axis=1, keepdims=True)))
        D = D / D.sum()
        scores = scores + alpha * (h + 1) / 2
        out.append(Round(answers, alpha, r, scores.copy()))
    return out


def logistic_loss(scores: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """Mean negative log-likelihood, in bits, of a softmax in which every wrong class has a head start of 1."""
    shifted = scores + 1.0
    shifted[np.arange(len(y)), y] -= 1.0
    top = shifted.max(axis=1)
    log_likelihood = shifted[np.arange(len(y)), y] - top - np.log(np.exp(shifted - top[:, None]).sum(axis=1))
    return float(-np.sum(w * log_likelihood) / np.sum(w) / math.log(2))


def additive_multinomial(X: np.ndarray, y: np.ndarray, rounds: int, n_classes: int, w: np.ndarray) -> list[Round]:
    """Coordinate ascent of the likelihood: residuals of a softmax, the best stump for them, half the log odds.

    The probabilities are those of the softmax with a head start of 1 for every wrong class: the margin of (9).
    """
    truth = np.eye(n_classes)[y]
    partitions = stump_partitions(X)
    scores = np.zeros((len(y), n_classes))
    out = []
    for _ in range(rounds):
        raw = np.exp(scores + 1 - truth)
        residuals = w[:, None] * (truth - raw / raw.sum(axis=1, keepdims=True))
        gain, answers = best_stump(partitions, residuals)
        edge = gain / float(np.sum(np.maximum(residuals, 0.0)))
        if edge <= 1e-12 or edge >= 1 - 1e-12:
            break
        alpha = 0.5 * math.log((1 + edge) / (1 - edge))
        scores = scores + alpha * (np.arange(n_classes) == answers[:, None])
        out.append(Round(answers, alpha, edge, scores.copy()))
    return out
