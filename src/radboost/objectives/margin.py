"""Two classes: the weighted mean of Phi(1 - y f), Deep Boosting, equation (4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.engine import HypothesisColumns, MarginState, value_edges
from radboost.losses.base import MarginLoss
from radboost.objectives.base import NO_WEIGHTS, LossState, Objective


class MarginObjective(Objective):
    """One column of scores f, positive for the second class. All objectives of several classes coincide here.

    (Multi-Class Deep Boosting, appendix D: with two classes h(x, y_i) - h(x, y) = y_i h(x).)
    """

    state: MarginState
    step_grid = 2.0**-40  # sums are exact in double precision up to 2^13

    def __init__(
        self, name: str, loss: MarginLoss, class_ids: ClassIds, weights: FloatArray | None, n_threads: int
    ) -> None:
        super().__init__(name, loss, 2, n_threads)
        self.smooth = True
        self.labels = np.where(class_ids == 1, 1, -1).astype(np.int8)
        self.state = MarginState(self.labels, NO_WEIGHTS if weights is None else weights)
        self._line: tuple[int, FloatArray] | None = None  # predictions that a line search asks for again and again

    def reweigh(self) -> LossState:
        """Renews D, equation (5)."""
        if self._native_loss:
            return self._mean(self.state.reweigh(self._native_loss, self.n_threads))
        values, derivatives = self._evaluate(1.0 - self.labels * self.state.scores())
        return self._mean(self.state.reweigh_from(values, derivatives, self.n_threads))

    def edges(self, columns: HypothesisColumns) -> tuple[FloatArray, FloatArray]:
        edges = columns.edges(self.state, self.n_threads)
        return edges, edges

    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        return value_edges(self.state, values, self.n_threads).reshape(-1, 1)

    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        stamp = columns.stamp(slot)
        if self._line is None or self._line[0] != stamp:
            self._line = (stamp, columns.predictions(slot))
        predictions = self._line[1]
        if self._native_loss:
            loss, derivative = self.state.along(self._native_loss, predictions, eta, self.n_threads)
        else:
            margins = self.labels * (self.state.scores() + eta * predictions)
            values, derivatives = self._evaluate(1.0 - margins)
            loss = self.state.weighted_sum(values, self.n_threads)
            derivative = self.state.weighted_sum(-self.labels * predictions * derivatives, self.n_threads)
        return loss / self.total_weight, derivative / self.total_weight

    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        columns.step(slot, eta, self.state, self.n_threads)
