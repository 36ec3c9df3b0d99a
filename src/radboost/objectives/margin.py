"""Two classes: the loss part of Deep Boosting, equation (4), the weighted mean of Phi(1 - y f)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from radboost._native import HypothesisColumns, MarginState, value_edges
from radboost._typing import ClassIds, FloatArray, LabelSigns
from radboost.losses.base import MarginLoss
from radboost.objectives.base import NO_WEIGHTS, LossState, Objective
from radboost.objectives.minimisers import of_margins


class MarginObjective(Objective):
    """One column of scores: positive for the second class. All objectives for several classes come down to it.

    A negative weight stands for the mirror image of a hypothesis: Multi-Class Deep Boosting has only positive weights,
    and both images.
    """

    n_classes = 2
    signed: ClassVar[bool] = True
    step_grid: ClassVar[float] = 2.0**-40
    state: MarginState

    def __init__(
        self,
        labels: LabelSigns,
        weights: FloatArray | None,
        loss: MarginLoss,
        n_threads: int,
        name: str = "sum",
    ) -> None:
        super().__init__(loss, n_threads)
        self.name = name
        self.labels = labels
        self.state = MarginState(labels, NO_WEIGHTS if weights is None else weights)
        self.total_weight = self.state.total_weight

    def reweigh(self) -> LossState:
        """Renews D (equation (5)) and its quantised forms."""
        if self._native_name is not None:
            sums = self.state.reweigh(self._native_name, self.n_threads)
        else:
            values, derivatives = self._evaluate(1.0 - self.labels * self.state.scores())
            sums = self.state.reweigh_from(values, derivatives, self.n_threads)
        m = self.total_weight
        return LossState(sums.loss / m, sums.slope / m, sums.error / m)

    def edges(self, columns: HypothesisColumns) -> tuple[list[float], list[float]]:
        edges = columns.edges(self.state, self.n_threads)
        return edges, edges

    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        predictions = self._predictions(columns, slot)
        if self._native_name is not None:
            loss, derivative = self.state.along(self._native_name, predictions, eta, self.n_threads)
            return loss / self.total_weight, derivative / self.total_weight
        margins = self.labels * (self.state.scores() + eta * predictions)
        values, derivatives = self._evaluate(1.0 - margins)
        return self._weighted_mean(values), self._weighted_mean(-self.labels * predictions * derivatives)

    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        return value_edges(self.state, values, self.n_threads).reshape(-1, 1)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return of_margins(self.loss, scores)

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        return np.asarray(self.loss.value(1.0 - np.where(class_ids == 1, scores, -scores)), dtype=np.float64)
