"""Objective "max": Phi at the wrong class with the largest score."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, MarginLoss
from radboost.losses.link import COMPSUM
from radboost.objectives.base import CostOfAnyLoss


class Max(CostOfAnyLoss, name="max"):
    """The largest Phi(u(y)) of the wrong classes y: Kuznetsov et al. (2014), equation (6)."""

    smooth = False

    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        rows = np.arange(len(class_ids))
        others = scores.copy()
        others[rows, class_ids] = -np.inf
        # Right derivative at a kink: the steepest of the tied classes.
        tied = others == others.max(axis=1, keepdims=True)
        steepest = np.where(tied, predictions, -np.inf).max(axis=1)
        return np.asarray(derivatives * (steepest - predictions[rows, class_ids]))

    def link(self, loss: MarginLoss | None) -> Link:
        """Link of "compsum", for want of its own: without a class above 1/2 all scores of the minimizer are 0.

        Its probabilities only have the right order.
        """
        return COMPSUM
