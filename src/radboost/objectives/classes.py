"""Three classes and more: the loss part of Multi-Class Deep Boosting, equations (6) to (9).

A row of class y costs a function of u(c) = 1 - f(y) + f(c) over the wrong classes c. With two classes there is one
of them, and all four objectives are the margin's (`radboost.objectives.margin`).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from radboost._native import ClassState, HypothesisColumns, LossSums, value_edges
from radboost._typing import ClassIds, FloatArray
from radboost.losses.base import MarginLoss, NativeLoss
from radboost.objectives import minimisers
from radboost.objectives.base import NO_WEIGHTS, LossState, Objective


class ClassObjective(Objective):
    """One column of scores for each class, in steps of 2^-20; weights of hypotheses are not negative."""

    step_grid: ClassVar[float] = 2.0**-20
    state: ClassState

    def __init__(
        self, loss: MarginLoss, class_ids: ClassIds, n_classes: int, weights: FloatArray | None, n_threads: int
    ) -> None:
        super().__init__(loss, n_threads)
        self.n_classes = n_classes
        self.class_ids = class_ids
        self.state = ClassState(
            self.name, self._native_name or "", class_ids, n_classes, NO_WEIGHTS if weights is None else weights
        )
        self.total_weight = self.state.total_weight

    def reweigh(self) -> LossState:
        sums, m = self._renew(), self.total_weight
        return LossState(sums.loss / m, sums.slope / m, sums.error / m)

    def edges(self, columns: HypothesisColumns) -> tuple[list[float], list[float]]:
        growing = columns.edges(self.state, False, self.n_threads)
        return growing, growing if self.smooth else columns.edges(self.state, True, self.n_threads)

    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        """As in `Objective`. The scores must be those of the last `reweigh`."""
        loss, derivative = self.state.along(columns, slot, eta, self.n_threads)
        return loss / self.total_weight, derivative / self.total_weight

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        return self.state.slope_along(columns, slot, eta, self.n_threads) / self.total_weight

    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        return value_edges(self.state, values, self.n_threads).reshape(-1, self.n_classes)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return self.from_scores(self.loss, scores)

    @staticmethod
    @abstractmethod
    def from_scores(loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """Probabilities without a training set: what a stored model needs."""

    @classmethod
    def check_loss(cls, loss: MarginLoss) -> None:
        """Raises where the objective is not defined for the loss."""

    def _renew(self) -> LossSums:
        return self.state.reweigh(self.n_threads)


class OpenObjective(ClassObjective):
    """An objective that takes any Phi. One that the native core does not know is evaluated here."""

    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        if self._native_name is not None:
            return super().along(columns, slot, eta)
        h = self._predictions(columns, slot).reshape(-1, self.n_classes)
        losses, slopes = self._rows_along(h, eta)
        return self._weighted_mean(losses), self._weighted_mean(slopes)

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        if self._native_name is not None:
            return super().slope_along(columns, slot, eta)
        return self.along(columns, slot, eta)[1]

    def _renew(self) -> LossSums:
        if self._native_name is not None:
            return super()._renew()
        values, derivatives = self._evaluate(self._arguments())
        return self.state.reweigh_from(values.ravel(), derivatives.ravel(), self.n_threads)

    def _scores(self) -> FloatArray:
        return self.state.scores().reshape(-1, self.n_classes)

    @abstractmethod
    def _arguments(self) -> FloatArray:
        """What Phi is evaluated at: rows x classes, or one number for each row."""

    @abstractmethod
    def _rows_along(self, h: FloatArray, eta: float) -> tuple[FloatArray, FloatArray]:
        """Loss and derivative of each row at scores + eta h."""


class SumObjective(OpenObjective):
    """The sum over the wrong classes of Phi(u(c)), equation (7). AdaBoost.MR with the exponential loss."""

    name = "sum"

    @staticmethod
    def from_scores(loss: MarginLoss, scores: FloatArray) -> FloatArray:
        if isinstance(loss, NativeLoss) and loss.name == "exponential":
            return minimisers.of_sum_exponential(scores)
        return minimisers.of_sum(loss, scores)

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        values = np.asarray(self.loss.value(gaps(scores, class_ids) + 1.0), dtype=np.float64)
        return np.asarray(_without_own(values, class_ids, 0.0).sum(axis=1), dtype=np.float64)

    def _arguments(self) -> FloatArray:
        return 1.0 + gaps(self._scores(), self.class_ids)

    def _rows_along(self, h: FloatArray, eta: float) -> tuple[FloatArray, FloatArray]:
        moves = gaps(h, self.class_ids)
        values, derivatives = self._evaluate(self._arguments() + eta * moves)
        return _without_own(values, self.class_ids, 0.0).sum(axis=1), (derivatives * moves).sum(axis=1)


class CompSumObjective(ClassObjective):
    """log2(1 + the sum over the wrong classes of exp(u(c))), equation (9). Multinomial logistic regression."""

    name = "compsum"

    @classmethod
    def check_loss(cls, loss: MarginLoss) -> None:
        if not (isinstance(loss, NativeLoss) and loss.name == "logistic"):
            given = repr(loss.name) if isinstance(loss, NativeLoss) else repr(loss)
            raise ValueError(
                f"objective='compsum' is the logistic loss of several classes, log2(1 + sum of exp(1 - margin)); got "
                f"loss={given}. Use loss='logistic', or objective='sum', 'maxsum' or 'max' with this loss."
            )

    @staticmethod
    def from_scores(loss: MarginLoss, scores: FloatArray) -> FloatArray:
        return minimisers.of_compsum(scores)

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        u = _without_own(gaps(scores, class_ids) + 1.0, class_ids, 0.0)  # the 1 of log2(1 + ...) in the place left free
        return np.asarray(np.logaddexp.reduce(u, axis=1) / np.log(2.0), dtype=np.float64)


class MaxObjective(OpenObjective):
    """The largest Phi(u(c)) of a wrong class, equation (6): Phi of the margin of f. It has kinks.

    It does not identify probabilities (where no class is above 1/2 its minimum is at f = 0). Those it gives are
    compsum's map of the scores: they order the classes, but they are not its own.
    """

    name = "max"
    smooth = False

    @staticmethod
    def from_scores(loss: MarginLoss, scores: FloatArray) -> FloatArray:
        return minimisers.of_compsum(scores)

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        u = 1.0 + _without_own(gaps(scores, class_ids), class_ids, -np.inf).max(axis=1)
        return np.asarray(self.loss.value(u), dtype=np.float64)

    def _arguments(self) -> FloatArray:
        u = 1.0 + _without_own(gaps(self._scores(), self.class_ids), self.class_ids, -np.inf).max(axis=1)
        return np.asarray(u, dtype=np.float64)

    def _rows_along(self, h: FloatArray, eta: float) -> tuple[FloatArray, FloatArray]:
        moves = gaps(h, self.class_ids)
        u = _without_own(1.0 + gaps(self._scores(), self.class_ids) + eta * moves, self.class_ids, -np.inf)
        largest = u.max(axis=1, keepdims=True)
        values, derivatives = self._evaluate(largest[:, 0])
        return values, derivatives * np.where(u == largest, moves, -np.inf).max(axis=1)


class MaxSumObjective(OpenObjective):
    """Phi(1 - s), s the weighted sum of the margins of the hypotheses, equation (8): never below the one of max.

    Its loss is no function of the scores f; rows given by their scores are taken to cost what they cost max, Phi of 1
    minus the margin of f, which is never more. Probabilities are compsum's map of the scores, as for max.
    """

    name = "maxsum"
    from_scores = staticmethod(MaxObjective.from_scores)
    row_losses = MaxObjective.row_losses

    def _arguments(self) -> FloatArray:
        return 1.0 - self.state.margins()

    def _rows_along(self, h: FloatArray, eta: float) -> tuple[FloatArray, FloatArray]:
        moves = _without_own(gaps(h, self.class_ids), self.class_ids, -np.inf).max(axis=1)
        values, derivatives = self._evaluate(self._arguments() + eta * moves)
        return values, derivatives * moves


def gaps(scores: FloatArray, class_ids: ClassIds) -> FloatArray:
    """f(c) - f(y) for every row and class c; 0 at the row's own class y."""
    return scores - np.take_along_axis(scores, class_ids[:, None].astype(np.intp), axis=1)


def _without_own(values: FloatArray, class_ids: ClassIds, replacement: float) -> FloatArray:
    """`values` (rows x classes), changed in place: the replacement at each row's own class."""
    np.put_along_axis(values, class_ids[:, None].astype(np.intp), replacement, axis=1)
    return values
