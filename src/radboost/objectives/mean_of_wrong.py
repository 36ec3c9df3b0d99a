"""The mean of Phi over the wrong classes."""

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, MarginLoss
from radboost.objectives.sum import Sum


class MeanOfWrong(Sum, name="mean_of_wrong"):
    """The mean of Phi(u(y)) over the wrong classes y."""

    native = False
    rates_leaves = False

    def costs(self, values: FloatArray, class_ids: ClassIds) -> FloatArray:
        return np.asarray(super().costs(values, class_ids) / (values.shape[1] - 1))

    def weights(self, derivatives: FloatArray, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        return np.asarray(derivatives / (scores.shape[1] - 1))

    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        return np.asarray(super().slopes(derivatives, scores, predictions, class_ids) / (scores.shape[1] - 1))

    def link(self, loss: MarginLoss | None) -> Link | None:
        return None if loss is None else loss.links.get("sum")
