"""Logistic regression with a ridge penalty for each feature, by Newton's method."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp

from radboost._typing import FloatArray

STEPS = 100  # at most
# Ridge for intercepts: they have no penalty, and with several classes a constant can be added to all of them.
STEADY = 1e-10


class LogisticRidge:
    """The mean logistic loss of rows whose weights sum to 1: one score for two classes, otherwise one for each.

    Of one class either side of its score is right, so that coefficients of 0 have the least loss.
    """

    def __init__(
        self, class_ids: FloatArray, n_classes: int, row_weights: FloatArray, fit_intercept: bool = True
    ) -> None:
        self.n_scores = 1 if n_classes == 2 else n_classes
        self.targets = np.eye(n_classes)[np.asarray(class_ids, dtype=np.int64)]
        self.row_weights, self.fit_intercept = row_weights, fit_intercept

    def solve(self, features: FloatArray, penalties: FloatArray, start: FloatArray | None) -> tuple[FloatArray, float]:
        """Coefficients, a row for each feature and last the intercepts, and the mean loss with half the penalty."""
        n_features = features.shape[1]
        inputs = np.hstack([features, np.full((len(features), 1), 1.0 if self.fit_intercept else 0.0)])
        weights = np.append(penalties, 0.0)
        point = np.zeros((n_features + 1, self.n_scores)) if start is None else start
        value = self._value(inputs, point, weights)
        for _ in range(STEPS):
            gradient, hessian = self._derivatives(inputs, point, weights)
            step = -cho_solve(cho_factor(hessian), gradient.T.ravel()).reshape(self.n_scores, -1).T
            decrement = -float(np.sum(gradient * step))
            if decrement <= 1e-15 * max(1.0, abs(value)):
                break
            length = 1.0
            while length > 1e-10:
                tried = self._value(inputs, point + length * step, weights)
                if tried <= value - 1e-4 * length * decrement:
                    break
                length *= 0.5
            else:
                break
            point, value = point + length * step, tried
        return point, value

    def _scores(self, inputs: FloatArray, point: FloatArray) -> FloatArray:
        scores = inputs @ point
        return np.hstack([-0.5 * scores, 0.5 * scores]) if self.n_scores == 1 else scores

    def _value(self, inputs: FloatArray, point: FloatArray, weights: FloatArray) -> float:
        scores = self._scores(inputs, point)
        losses = logsumexp(scores, axis=1) - np.sum(scores * self.targets, axis=1)
        return float(self.row_weights @ losses + 0.5 * np.sum(weights[:, None] * point**2))

    def _derivatives(self, inputs: FloatArray, point: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient, and the second derivatives with the coefficients of a score after those of another."""
        scores = self._scores(inputs, point)
        probabilities = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        off = self.row_weights[:, None] * (probabilities - self.targets)
        off, probabilities = (off[:, 1:], probabilities[:, 1:]) if self.n_scores == 1 else (off, probabilities)
        gradient = inputs.T @ off + weights[:, None] * point
        size = len(weights)
        hessian = np.empty((self.n_scores * size, self.n_scores * size))
        for a in range(self.n_scores):
            for b in range(a, self.n_scores):
                curved = self.row_weights * probabilities[:, a] * ((a == b) - probabilities[:, b])
                block = inputs.T @ (curved[:, None] * inputs)
                if a == b:
                    block[np.diag_indices(size)] += weights + STEADY
                hessian[a * size : (a + 1) * size, b * size : (b + 1) * size] = block
                hessian[b * size : (b + 1) * size, a * size : (a + 1) * size] = block.T
        return gradient, hessian
