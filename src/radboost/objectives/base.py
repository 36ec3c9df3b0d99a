"""What the loop asks of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.engine import BoostingState, HypothesisColumns
from radboost.losses import MarginLoss, NativeLoss
from radboost.objectives.row_losses import row_losses

NO_WEIGHTS = np.zeros(0)


class LossState(NamedTuple):
    """Where the loss stands at the current scores."""

    loss: float  # its mean over the rows
    slope: float  # S / m: the normaliser of the weights D, divided by the number of rows
    error: float  # share of the rows whose class does not have the largest score alone


class Objective(ABC):
    """Scores of the training rows, the weights D on them, and the loss along a step.

    All sums are exact and thus independent of the order of the rows and of the number of threads.
    """

    state: BoostingState
    smooth: bool = True  # the loss has a derivative everywhere
    step_grid: float  # steps are multiples of this, so that scores add up without rounding

    def __init__(self, name: str, loss: MarginLoss, n_classes: int, n_threads: int) -> None:
        self.name = name
        self.loss = loss
        self.n_classes = n_classes
        self.n_threads = n_threads
        self._native_loss = loss.name if isinstance(loss, NativeLoss) else ""

    @property
    def total_weight(self) -> float:
        """m: the sum of the sample weights."""
        return self.state.total_weight

    @property
    def signed(self) -> bool:
        """Whether -h is as good a hypothesis as h, so that weights may have either sign."""
        return self.n_classes == 2

    @property
    def has_closed_form(self) -> bool:
        """Whether the papers' closed-form step lowers this objective."""
        return self._native_loss != "" and self.smooth

    @abstractmethod
    def reweigh(self) -> LossState:
        """Renews D and its quantised forms."""

    @abstractmethod
    def edges(self, columns: HypothesisColumns) -> tuple[FloatArray, FloatArray]:
        """The edges of all slots, as seen by weights that grow and by weights that shrink."""

    @abstractmethod
    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """Edges of hypotheses given by their predictions, one row of `values` each: a column for each class, or one."""

    @abstractmethod
    def along(self, columns: HypothesisColumns, slot: int, eta: float) -> tuple[float, float]:
        """Mean loss at scores + eta h, and its derivative in eta."""

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        """The derivative alone, which line searches ask for again and again."""
        return self.along(columns, slot, eta)[1]

    @abstractmethod
    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        """scores += eta h."""

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """The loss of each row at given scores: (n_rows,) for two classes, otherwise (n_rows, n_classes)."""
        return row_losses(self.name, self.loss, scores, class_ids)

    def _mean(self, sums: Any) -> LossState:
        m = self.total_weight
        return LossState(sums.loss / m, sums.slope / m, sums.error / m)

    def _evaluate(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Phi and Phi' of a loss of the user's own, looked over."""
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
