"""The loss of several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.link import SOFTMAX
from radboost.losses.scores import ScoreLoss
from radboost.losses.target import SMALLEST_SHARE, NativeTargetLoss, WeightedRows


class MultinomialScores(ScoreLoss, name="multinomial", of="scores"):
    """log(1 + sum over r != y of e^(f_r - f_y)). Boosting with Structural Sparsity, equation (4)."""

    coupled = True
    link = SOFTMAX
    lipschitz = 0.5  # Lemma 9: a quarter of delta^2 / a
    budget = 2.0  # Lemma 5: the score of a rival and that of the own class move against each other

    def __init__(self, class_ids: npt.NDArray[np.integer[Any]], n_classes: int) -> None:
        self.class_ids = np.asarray(class_ids, dtype=np.intp)
        self.n_outputs, self.n_rows = n_classes, len(self.class_ids)
        self.rows = np.arange(self.n_rows)

    def value(self, scores: FloatArray) -> FloatArray:
        largest = scores.max(axis=0)
        total = np.exp(scores - largest).sum(axis=0)
        return np.asarray(np.log(total) + largest - scores[self.class_ids, self.rows])

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """q(i, r) of Lemma 5."""
        chances: FloatArray = np.exp(scores - scores.max(axis=0))
        chances /= chances.sum(axis=0)
        return chances

    def gradient(self, scores: FloatArray) -> FloatArray:
        gradient = self.probabilities(scores)
        gradient[self.class_ids, self.rows] -= 1.0
        return gradient

    def curvature(self, scores: FloatArray) -> FloatArray:
        return self.probabilities(scores)

    def halves(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        down = self.probabilities(scores)
        up = np.zeros_like(down)
        up[self.class_ids, self.rows] = 1.0 - down[self.class_ids, self.rows]
        down[self.class_ids, self.rows] = 0.0
        return up, down

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        chances = slopes.copy()
        chances[self.class_ids, self.rows] += 1.0
        chances = np.maximum(chances, 0.0)
        return np.asarray(xlogy(chances, chances).sum(axis=0))

    def balanced(self, slopes: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Probabilities minus the own class, where the mean probability of each class is its share of the rows.

        The probabilities p_i, of mean p, are mixed with as much of one distribution for all rows as is needed. With t
        of it, (1 - t) p_i + t p + s - p has the mean s. It is not negative where t p >= p - s.
        """
        own = np.zeros_like(slopes)
        own[self.class_ids, self.rows] = 1.0
        chances, total = slopes + own, row_weights.sum()
        means, shares = ((table * row_weights).sum(axis=1) / total for table in (chances, own))
        excess = np.divide(means - shares, means, out=np.zeros_like(means), where=means > 0.0)
        mixed = max(0.0, float(excess.max()))
        rest = np.maximum(mixed * means + shares - means, 0.0)
        return np.asarray((1.0 - mixed) * chances + rest[:, None] - own)


@dataclass(frozen=True)
class MultinomialLoss(NativeTargetLoss, name="multinomial", of="classes"):
    """Phi(y, f) = log sum_k exp(f_k) - f_y, y = 0, 1, ..., n_classes - 1: one score for each class.

    The second derivative is diag(p) - p p', whose largest eigenvalue is at most 1/2.
    """

    lipschitz = MultinomialScores.lipschitz
    link = SOFTMAX

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return MultinomialScores(targets.astype(np.intp), scores.shape[1]).value(scores.T)

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        by_class = MultinomialScores(targets.astype(np.intp), scores.shape[1]).gradient(scores.T)
        return np.ascontiguousarray(by_class.T)

    def start(self, rows: WeightedRows) -> FloatArray:
        classes = np.arange(int(rows.largest()) + 1)
        logs = np.array([log(max(SMALLEST_SHARE, rows.mean((rows.targets == k).astype(np.float64)))) for k in classes])
        return np.asarray(logs - math.fsum(logs) / len(logs), dtype=np.float64)
