"""Phi of the weighted sum of the hypotheses' own margins."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import MarginLoss, ask
from radboost.objectives.base import CostOfAnyLoss, evaluate, margins_of
from radboost.objectives.compsum import compsum_probabilities


class MaxSum(CostOfAnyLoss, name="maxsum"):
    """Phi(1 - s), s the sum of alpha_j times the margin of h_j alone: Multi-Class Deep Boosting, equation (8)."""

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """A lower bound: scores do not tell s, and the margin of f, which is not smaller, stands in its place."""
        return np.asarray(ask(loss, "value", 1.0 - margins_of(scores, class_ids)), dtype=np.float64)

    def arguments(self, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
        return 1.0 - margins

    def terms_along(
        self,
        loss: MarginLoss,
        scores: FloatArray,
        margins: FloatArray,
        predictions: FloatArray,
        eta: float,
        class_ids: ClassIds,
    ) -> tuple[FloatArray, FloatArray]:
        own_margins = margins_of(predictions, class_ids)
        values, derivatives = evaluate(loss, 1.0 - (margins + eta * own_margins))
        return values, -derivatives * own_margins

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """Those of "compsum", for want of its own, as with "max"."""
        return compsum_probabilities(scores)
