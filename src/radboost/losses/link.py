"""Links: from the scores of a model to what it predicts, under names that exported forms know too."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from radboost._typing import FloatArray


@dataclass(frozen=True)
class Link:
    """How scores become probabilities, before calibration, or a number; the names are those of docs/exporting.md.

    - "logistic": two classes, the second has 1 / (1 + exp(-scale f)).
    - "offset_logistic": two classes, g(1 + f) / (g(1 - f) + g(1 + f)) with g the logistic function.
    - "softmax": proportional to exp(scale f_c).
    - "logistic_shares": proportional to 1 / (1 + exp(-scale f_c)).
    - "compsum": proportional to A_c (A_c + e (Z - A_c)) with A = exp(f), Z the sum of A.
    - "balance": p_c sum_y g(1 - f_c + f_y) = sum_y p_y g(1 - f_y + f_c) for every c.
    - "identity", "exponential": of regression, the score or e to its power.
    """

    name: str
    scale: float = 1.0

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """P(c | x) of rows and classes, for the links that need nothing but the scores."""
        if self.name == "logistic":
            second = expit(self.scale * scores)
            return np.column_stack([1.0 - second, second])
        if self.name == "softmax":
            return np.asarray(softmax(self.scale * scores, axis=1), dtype=np.float64)
        if self.name == "compsum":
            return _compsum(scores)
        raise ValueError(f"The link {self.name!r} needs the loss that the scores come from.")

    def numbers(self, scores: FloatArray) -> FloatArray:
        """Predictions of regression."""
        return scores if self.name == "identity" else np.exp(np.clip(scores, -708.0, 709.0))


COMPSUM, SOFTMAX = Link("compsum"), Link("softmax")
IDENTITY, EXPONENTIAL = Link("identity"), Link("exponential")


def _compsum(scores: FloatArray) -> FloatArray:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = odds.sum(axis=1, keepdims=True)
    shares = odds * (odds + math.e * (total - odds))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)
