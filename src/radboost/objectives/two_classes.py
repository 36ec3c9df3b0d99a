"""Two classes: all objectives are the one margin column of Deep Boosting."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import MarginLoss, ask
from radboost.objectives.base import CostOfAnyLoss, evaluate, margins_of


class TwoClasses(CostOfAnyLoss):
    """Phi(1 - y f), with scores f of shape (n_rows,), positive for the second class (Deep Boosting, equation (4))."""

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        return np.asarray(ask(loss, "value", 1.0 - margins_of(scores, class_ids)), dtype=np.float64)

    def arguments(self, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
        return 1.0 - margins_of(scores, class_ids)

    def terms_along(
        self,
        loss: MarginLoss,
        scores: FloatArray,
        margins: FloatArray,
        predictions: FloatArray,
        eta: float,
        class_ids: ClassIds,
    ) -> tuple[FloatArray, FloatArray]:
        values, derivatives = evaluate(loss, self.arguments(scores + eta * predictions, margins, class_ids))
        return values, -derivatives * margins_of(predictions, class_ids)

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """p Phi(1 - f) + (1 - p) Phi(1 + f) is least at p = Phi'(1 + f) / (Phi'(1 - f) + Phi'(1 + f))."""
        for_second = np.asarray(ask(loss, "derivative", 1.0 + scores), dtype=np.float64)
        for_first = np.asarray(ask(loss, "derivative", 1.0 - scores), dtype=np.float64)
        total = for_first + for_second
        second = np.divide(for_second, total, out=np.where(scores > 0, 1.0, 0.0), where=total > 0)
        return np.column_stack([1.0 - second, second])
