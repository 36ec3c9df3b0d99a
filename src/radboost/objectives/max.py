"""Phi at the wrong class with the largest score."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import MarginLoss, ask
from radboost.objectives.base import CostOfAnyLoss, evaluate, margins_of
from radboost.objectives.compsum import compsum_probabilities


class Max(CostOfAnyLoss, name="max"):
    """The largest Phi(u(y)) of the wrong classes y: Multi-Class Deep Boosting, equation (6)."""

    smooth = False

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
        moved = scores + eta * predictions
        values, derivatives = evaluate(loss, self.arguments(moved, margins, class_ids))
        rows = np.arange(len(class_ids))
        moved[rows, class_ids] = -np.inf
        # To the right of a kink the steepest of the tied classes counts.
        tied = moved == moved.max(axis=1, keepdims=True)
        steepest = np.where(tied, predictions, -np.inf).max(axis=1)
        return values, derivatives * (steepest - predictions[rows, class_ids])

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """Those of "compsum", for want of its own: without a class above 1/2 all scores of the minimiser are 0.

        They have the right order, and are right for no other reason.
        """
        return compsum_probabilities(scores)
