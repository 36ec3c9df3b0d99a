"""Objective for two classes, equal for all names: Phi of the margin y f."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import MarginLoss
from radboost.objectives.base import CostOfAnyLoss, margins_of


class TwoClasses(CostOfAnyLoss):
    """Phi(1 - y f), scores f of shape (n_rows,), positive for the second class. Cortes et al. (2014), equation (4)."""

    name = "two_classes"  # by which losses have its link; no parameter takes it

    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        return -derivatives * margins_of(predictions, class_ids)

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """p Phi(1 - f) + (1 - p) Phi(1 + f) is least at p = Phi'(1 + f) / (Phi'(1 - f) + Phi'(1 + f))."""
        for_second = loss.derivative(1.0 + scores)
        for_first = loss.derivative(1.0 - scores)
        total = for_first + for_second
        second = np.divide(for_second, total, out=np.where(scores > 0, 1.0, 0.0), where=total > 0)
        return np.column_stack([1.0 - second, second])
