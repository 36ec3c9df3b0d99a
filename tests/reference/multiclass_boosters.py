"""AdaBoost.MR and additive multinomial logistic regression around exhaustive stumps; nothing is shared."""

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


def adaboost_mr(X: np.ndarray, y: np.ndarray, rounds: int, n_classes: int, w: np.ndarray) -> list[Round]:
    """Schapire and Singer (1999), Figure 4, with one right label per row.

    D is kept over triples (row, wrong label, right label) and multiplied, never computed from the scores. Weak
    hypotheses take the values -1 and +1: +1 for the class that a leaf names. r = 1/2 sum D (h(right) - h(wrong)).
    """
    m = len(y)
    triples = [(i, k, int(y[i])) for i in range(m) for k in range(n_classes) if k != y[i]]
    D = {t: w[t[0]] / (n_classes - 1) / np.sum(w) for t in triples}
    scores = np.zeros((m, n_classes))
    out = []
    for _ in range(rounds):
        best: tuple[float, np.ndarray] | None = None
        for left in stump_partitions(X):
            for yes, no in itertools.product(range(n_classes), repeat=2):
                answers = np.where(left, yes, no)

                def h(i: int, k: int, says: np.ndarray = answers) -> int:
                    return 1 if says[i] == k else -1

                r = sum(0.5 * weight * (h(i, right) - h(i, wrong)) for (i, wrong, right), weight in D.items())
                if best is None or r > best[0] + 1e-12:
                    best = r, answers
        assert best is not None
        r, answers = best
        if r <= 1e-12 or r >= 1 - 1e-12:
            break
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        for i, wrong, right in triples:
            gap = (1 if answers[i] == wrong else -1) - (1 if answers[i] == right else -1)
            D[i, wrong, right] *= math.exp(0.5 * alpha * gap)
        total = sum(D.values())
        D = {t: weight / total for t, weight in D.items()}
        scores = scores + alpha * (np.arange(n_classes) == answers[:, None])
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
    m = len(y)
    truth = np.eye(n_classes)[y]
    scores = np.zeros((m, n_classes))
    out = []
    for _ in range(rounds):
        raw = np.exp(scores + 1 - truth)
        residuals = w[:, None] * (truth - raw / raw.sum(axis=1, keepdims=True))
        whole = np.sum(np.maximum(residuals, 0.0))
        best: tuple[float, np.ndarray] | None = None
        for left in stump_partitions(X):
            by_side = residuals[left].sum(axis=0), residuals[~left].sum(axis=0)
            gain = by_side[0].max() + (by_side[1].max() if not left.all() else 0.0)
            if best is None or gain > best[0] + 1e-12:
                best = gain, np.where(left, by_side[0].argmax(), by_side[1].argmax())
        assert best is not None
        edge = float(best[0] / whole)
        if edge <= 1e-12 or edge >= 1 - 1e-12:
            break
        alpha = 0.5 * math.log((1 + edge) / (1 - edge))
        scores = scores + alpha * (np.arange(n_classes) == best[1][:, None])
        out.append(Round(best[1], alpha, edge, scores.copy()))
    return out
