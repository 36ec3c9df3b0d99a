"""What boosting asks of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from radboost._native import ClassState, HypothesisColumns, MarginState
from radboost._typing import ClassIds, FloatArray
from radboost.losses.base import MarginLoss, NativeLoss

NO_WEIGHTS = np.zeros(0)


class LossState(NamedTuple):
    """Where the loss stands at the current scores."""

    loss: float  # its mean over the rows
    slope: float  # S / m: the normaliser of D, Deep Boosting, equation (5), over the number of rows
    error: float  # share of the rows whose class has not the largest score, alone


class Objective(ABC):
    """Scores of the training rows, the weights D on them, and the loss along a step.

    All sums are exact and thus independent of the order of the rows and of the number of threads.
    """

    name: str
    n_classes: int
    total_weight: float
    state: MarginState | ClassState
    smooth: ClassVar[bool] = True  # whether growing and shrinking a weight meet the same derivative
    signed: ClassVar[bool] = False  # whether weights of hypotheses may be negative
    step_grid: ClassVar[float]  # steps are multiples of this, so that scores add up without error

    def __init__(self, loss: MarginLoss, n_threads: int) -> None:
        self.loss = loss
        self.n_threads = n_threads
        self._native_name = loss.name if isinstance(loss, NativeLoss) else None
        self._dense: tuple[int, FloatArray] = (0, NO_WEIGHTS)  # the predictions asked for last, by their stamp

    @property
    def has_closed_form(self) -> bool:
        """Whether the closed-form step of the papers lowers this objective."""
        return self.smooth and self._native_name is not None

    @abstractmethod
    def reweigh(self) -> LossState:
        """Evaluates the loss at the scores and renews D."""

    @abstractmethod
    def edges(self, columns: HypothesisColumns) -> tuple[list[float], list[float]]:
        """1 - 2 epsilon of each slot: what growing its weight gains, and what shrinking it costs."""

    @abstractmethod
    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        """Mean loss at scores + eta h, and its derivative in eta (where there is a kink, the one to the right)."""

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        """The derivative alone: all that a line search needs."""
        return self.along(columns, slot, eta)[1]

    @abstractmethod
    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """Edges of hypotheses given by their predictions, one row of `values` each: hypotheses x channels.

        With two classes there is one channel, for the margin. With more there is one for each class, for the
        hypothesis that gives the values to this class and 0 to the others.
        """

    @abstractmethod
    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Rows x classes: the p whose expected loss is smallest at the scores."""

    @abstractmethod
    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """The loss of each row at given scores."""

    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        """scores += eta h."""
        columns.step(slot, eta, self.state, self.n_threads)

    def _predictions(self, columns: HypothesisColumns, slot: int) -> FloatArray:
        """h on the training rows; a line search asks for the same again and again."""
        stamp = columns.stamp(slot)
        if self._dense[0] != stamp:
            self._dense = (stamp, columns.predictions(slot))
        return self._dense[1]

    def _weighted_mean(self, rows: FloatArray) -> float:
        return self.state.weighted_sum(np.ascontiguousarray(rows), self.n_threads) / self.total_weight

    def _evaluate(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The user's own loss and its derivative, checked."""
        values = np.ascontiguousarray(self.loss.value(u), dtype=np.float64)
        derivatives = np.ascontiguousarray(self.loss.derivative(u), dtype=np.float64)
        for what, array in (("value", values), ("derivative", derivatives)):
            if array.shape != u.shape:
                raise ValueError(
                    f"{self.loss!r}.{what} returned an array of shape {array.shape} for an input of shape {u.shape}; "
                    "it must keep the shape."
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{self.loss!r}.{what} returned NaN or infinity; it must be finite everywhere.")
        if (derivatives < 0).any():
            raise ValueError(f"{self.loss!r}.derivative is negative somewhere; Phi must be increasing.")
        return values, derivatives
