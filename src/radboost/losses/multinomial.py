"""Multinomial log loss: of scores (sparse models), and of targets (gradient boosting)."""

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
from radboost.losses.target import SMALLEST_FRACTION, NativeTargetLoss, WeightedRows


class MultinomialScores(ScoreLoss, name="multinomial", of="scores"):
    """log(1 + sum over r != y of e^(f_r - f_y)). Duchi and Singer (2009), equation (4)."""

    coupled = True
    link = SOFTMAX
    lipschitz = 0.5  # Lemma 9: a quarter of delta^2 / a
    budget = 2.0  # Lemma 5: the scores of a rival class and of the label move in opposite directions

    def __init__(self, class_ids: npt.NDArray[np.integer[Any]], n_classes: int) -> None:
        self.class_ids = np.asarray(class_ids, dtype=np.intp)
        self.n_outputs, self.n_rows = n_classes, len(self.class_ids)
        self.rows = np.arange(self.n_rows)

    def value(self, scores: FloatArray) -> FloatArray:
        largest = scores.max(axis=0)
        total = np.exp(scores - largest).sum(axis=0)
        return np.asarray(np.log(total) + largest - scores[self.class_ids, self.rows])

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """q(i, r) of Lemma 5; shape (n_classes, n_rows)."""
        probabilities: FloatArray = np.exp(scores - scores.max(axis=0))
        probabilities /= probabilities.sum(axis=0)
        return probabilities

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
        probabilities = slopes.copy()
        probabilities[self.class_ids, self.rows] += 1.0
        probabilities = np.maximum(probabilities, 0.0)
        return np.asarray(xlogy(probabilities, probabilities).sum(axis=0))

    def balanced(self, slopes: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Gradient after probabilities are changed so that their mean for each class is its fraction of the rows.

        Probabilities p_i with mean p become (1 - t) p_i + t p + s - p, whose mean is s, the fractions of the classes.
        They are not negative if t p >= p - s; t is the smallest such number.
        """
        is_label = np.zeros_like(slopes)
        is_label[self.class_ids, self.rows] = 1.0
        probabilities, total = slopes + is_label, row_weights.sum()
        means, fractions = ((table * row_weights).sum(axis=1) / total for table in (probabilities, is_label))
        excess = np.divide(means - fractions, means, out=np.zeros_like(means), where=means > 0.0)
        t = max(0.0, float(excess.max()))
        rest = np.maximum(t * means + fractions - means, 0.0)
        return np.asarray((1.0 - t) * probabilities + rest[:, None] - is_label)


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
        logs = np.array(
            [log(max(SMALLEST_FRACTION, rows.mean((rows.targets == k).astype(np.float64)))) for k in classes]
        )
        return np.asarray(logs - math.fsum(logs) / len(logs), dtype=np.float64)
