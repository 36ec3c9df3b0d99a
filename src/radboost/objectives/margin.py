"""The loss part of Deep Boosting, equation (4): the weighted mean of Phi(1 - y f)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from radboost._native import HypothesisColumns, MarginState
from radboost._typing import FloatArray, LabelSigns
from radboost.losses.base import MarginLoss, NativeLoss

NO_WEIGHTS = np.zeros(0)


class LossState(NamedTuple):
    """Where the loss stands at the current scores."""

    loss: float  # mean of Phi(1 - y f)
    slope: float  # S / m, the mean of Phi'(1 - y f): the normaliser of D, equation (5)
    error: float  # share of the rows with y f <= 0


class MarginObjective:
    """Scores of the training rows, the weights D on them, and the loss along a step.

    All sums are exact and thus independent of the order of the rows and of the number of threads.
    """

    def __init__(
        self,
        labels: LabelSigns,
        weights: FloatArray | None,
        loss: MarginLoss,
        n_threads: int,
    ) -> None:
        self.loss = loss
        self.n_threads = n_threads
        self.labels = labels
        self.state = MarginState(labels, NO_WEIGHTS if weights is None else weights)
        self.total_weight: float = self.state.total_weight
        self._native_name = loss.name if isinstance(loss, NativeLoss) else None

    @property
    def has_closed_form(self) -> bool:
        """Whether Deep Boosting's closed-form step lowers this objective."""
        return self._native_name is not None

    def reweigh(self) -> LossState:
        """Renews D (equation (5)) and its quantised forms."""
        if self._native_name is not None:
            sums = self.state.reweigh(self._native_name, self.n_threads)
        else:
            values, derivatives = self._evaluate(1.0 - self.labels * self.state.scores())
            sums = self.state.reweigh_from(values, derivatives, self.n_threads)
        m = self.total_weight
        return LossState(sums.loss / m, sums.slope / m, sums.error / m)

    def along(self, predictions: FloatArray, eta: float) -> tuple[float, float]:
        """Mean loss at scores + eta h, and its derivative in eta."""
        if self._native_name is not None:
            loss, derivative = self.state.along(self._native_name, predictions, eta, self.n_threads)
        else:
            margins = self.labels * (self.state.scores() + eta * predictions)
            values, derivatives = self._evaluate(1.0 - margins)
            loss = self.state.weighted_sum(values, self.n_threads)
            derivative = self.state.weighted_sum(-self.labels * predictions * derivatives, self.n_threads)
        return loss / self.total_weight, derivative / self.total_weight

    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        """scores += eta h."""
        columns.step(slot, eta, self.state, self.n_threads)

    def _evaluate(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
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
