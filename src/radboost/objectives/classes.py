"""Several classes: the four objectives of Multi-Class Deep Boosting, equations (6) to (9)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost._validation import check_score_memory
from radboost.engine import ClassState, HypothesisColumns, value_edges
from radboost.losses.base import MarginLoss
from radboost.objectives.base import NO_WEIGHTS, LossState, Objective
from radboost.objectives.row_losses import margins_of

BYTES_PER_SCORE = 8  # 4 for the score, 4 for the gradient


class ClassObjective(Objective):
    """A score for each class. With u(y) = 1 - f(y_i) + f(y) over the wrong classes y a row costs

    - "sum": the sum of Phi(u(y)),
    - "compsum": log2(1 + the sum of exp(u(y))),
    - "maxsum": Phi(1 - s), s the sum of alpha_j times the margin of h_j alone,
    - "max": the largest Phi(u(y)).
    """

    state: ClassState
    step_grid = 2.0**-20  # scores are 32-bit integers in this unit

    def __init__(
        self,
        name: str,
        loss: MarginLoss,
        class_ids: ClassIds,
        n_classes: int,
        weights: FloatArray | None,
        n_threads: int,
    ) -> None:
        super().__init__(name, loss, n_classes, n_threads)
        check_score_memory(len(class_ids), n_classes, BYTES_PER_SCORE)
        self.smooth = name != "max"
        self._class_ids = class_ids
        self.state = ClassState(
            name, self._native_loss, class_ids, n_classes, NO_WEIGHTS if weights is None else weights
        )

    def reweigh(self) -> LossState:
        if self._native_loss:
            return self._mean(self.state.reweigh(self.n_threads))
        values, derivatives = self._evaluate(self._arguments(self._scores(), self.state.margins()).ravel())
        return self._mean(self.state.reweigh_from(values, derivatives, self.n_threads))

    def edges(self, columns: HypothesisColumns) -> tuple[FloatArray, FloatArray]:
        growing = columns.edges(self.state, False, self.n_threads)
        return growing, growing if self.smooth else columns.edges(self.state, True, self.n_threads)

    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        return value_edges(self.state, values, self.n_threads).reshape(len(values), self.n_classes)

    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        if self._native_loss:
            loss, derivative = self.state.along(columns, slot, eta, self.n_threads)
            return loss / self.total_weight, derivative / self.total_weight
        return self._own_loss_along(columns, slot, eta)

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        if not self._native_loss:
            return self._own_loss_along(columns, slot, eta)[1]
        return self.state.slope_along(columns, slot, eta, self.n_threads) / self.total_weight

    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        columns.step(slot, eta, self.state, self.n_threads)

    def _scores(self) -> FloatArray:
        return self.state.scores().reshape(-1, self.n_classes)

    def _arguments(self, scores: FloatArray, margins: FloatArray) -> FloatArray:
        """What Phi is taken of: u(y) for every row and class, or one number for each row."""
        if self.name == "maxsum":
            return 1.0 - margins
        if self.name == "max":
            return 1.0 - margins_of(scores, self._class_ids)
        rows = np.arange(len(scores))
        return 1.0 - scores[rows, self._class_ids][:, None] + scores

    def _own_loss_along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        rows = np.arange(len(self._class_ids))
        predictions = columns.predictions(slot).reshape(-1, self.n_classes)
        margins = margins_of(predictions, self._class_ids)
        scores = self._scores() + eta * predictions
        sums = self.state.margins() + eta * margins if self.name == "maxsum" else NO_WEIGHTS
        values, derivatives = self._evaluate(self._arguments(scores, sums).ravel())
        if self.name == "sum":
            directions = predictions - predictions[rows, self._class_ids][:, None]
            values = values.reshape(scores.shape).copy()
            values[rows, self._class_ids] = 0.0
            loss, slope = values.sum(axis=1), (derivatives.reshape(scores.shape) * directions).sum(axis=1)
        elif self.name == "maxsum":
            loss, slope = values, -derivatives * margins
        else:
            others = scores.copy()
            others[rows, self._class_ids] = -np.inf
            # To the right of a kink the steepest of the tied classes counts.
            tied = others == others.max(axis=1, keepdims=True)
            steepest = np.where(tied, predictions, -np.inf).max(axis=1)
            loss, slope = values, derivatives * (steepest - predictions[rows, self._class_ids])
        total = self.total_weight
        return (
            self.state.weighted_sum(np.ascontiguousarray(loss), self.n_threads) / total,
            self.state.weighted_sum(np.ascontiguousarray(slope), self.n_threads) / total,
        )
