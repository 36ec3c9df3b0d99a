"""Objective "maxsum": Phi of the weighted sum of the margins of single hypotheses."""

from __future__ import annotations

from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, MarginLoss
from radboost.losses.link import COMPSUM
from radboost.objectives.base import CostOfAnyLoss, margins_of


class MaxSum(CostOfAnyLoss, name="maxsum"):
    """Phi(1 - s), s the sum of alpha_j times the margin of h_j alone: Kuznetsov et al. (2014), equation (8)."""

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Lower bound of the loss: s is unknown from scores; the margin of f, not smaller, replaces it."""
        return super().row_losses(loss, scores, class_ids)

    def arguments(self, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
        return 1.0 - margins

    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        return -derivatives * margins_of(predictions, class_ids)

    def link(self, loss: MarginLoss | None) -> Link:
        """Link of "compsum", for want of its own, as with "max"."""
        return COMPSUM
