"""Training rows of gradient boosting: mean loss at the scores and along a step, with a native or a NumPy loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import CutTree, GradientScores, RegressionTrees, current
from radboost.losses import NamedTargetLoss, NativeTargetLoss, TargetLoss, ask
from radboost.losses.own import checked_numbers
from radboost.rows.weights import RowWeights


class LossRows(ABC):
    """Base: mean loss of the training rows at the current scores and after a step."""

    def __init__(self, scores: GradientScores, weights: RowWeights, loss: TargetLoss, n_threads: int) -> None:
        self.scores = scores
        self.weighting = current().gradient_weighting(scores)
        self.weights = weights
        self.loss = loss
        self.n_threads = n_threads

    def mean(self, values: FloatArray) -> float:
        """Weighted mean of values, shape (n_rows,)."""
        return self.scores.mean(values, self.n_threads)

    @property
    @abstractmethod
    def mean_loss(self) -> float: ...

    @property
    @abstractmethod
    def error(self) -> float:
        """Weighted fraction of misclassified rows; meaningless in regression."""

    @abstractmethod
    def set_scores(self, scores: FloatArray) -> None: ...

    def losses_after(self, grower: RegressionTrees, cuts: Sequence[CutTree], steps: FloatArray) -> FloatArray:
        """Mean loss after each of several alternative steps; none is taken."""
        pairs = zip(cuts, steps.tolist(), strict=True)
        return np.array([self.along(grower, cut, step)[0] for cut, step in pairs])

    @abstractmethod
    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        """The mean loss after a step along a tree, and its derivative there."""

    @abstractmethod
    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None: ...

    def lower_bound(self, weights: FloatArray, predictions: Iterable[FloatArray]) -> float | None:
        """Lower bound of the loss over sums of hypotheses with weights of the same total size; None: not known."""
        return None

    def history_entry(self) -> dict[str, float]:
        """Further entries of the history for a round."""
        return {}


class NativeRows(LossRows):
    """Rows with a native loss."""

    @property
    def mean_loss(self) -> float:
        return self.scores.loss

    @property
    def error(self) -> float:
        return self.scores.error

    def set_scores(self, scores: FloatArray) -> None:
        self.scores.set(np.ascontiguousarray(scores).reshape(-1), self.weighting, self.n_threads)

    def losses_after(self, grower: RegressionTrees, cuts: Sequence[CutTree], steps: FloatArray) -> FloatArray:
        return self.scores.losses_after(grower, list(cuts), steps, self.n_threads)

    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        return self.scores.along(grower, cut, step, self.n_threads)

    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None:
        self.scores.step(grower, cut, step, self.weighting, self.n_threads)


class OwnLossRows(LossRows):
    """Rows with a loss in NumPy: user-defined, or a named one without a native kernel."""

    def __init__(
        self, scores: GradientScores, weights: RowWeights, loss: TargetLoss, targets: FloatArray, n_threads: int
    ) -> None:
        super().__init__(scores, weights, loss, n_threads)
        self.targets = targets
        self._scores = np.zeros(len(targets))
        self._mean_loss = math.nan

    @property
    def mean_loss(self) -> float:
        return self._mean_loss

    @property
    def error(self) -> float:
        return self.mean((self.targets * self._scores <= 0).astype(np.float64))

    def set_scores(self, scores: FloatArray) -> None:
        self._scores = np.array(scores, dtype=np.float64)
        self.scores.set(self._scores, self.weighting, self.n_threads)
        self.weighting.take(self._derivative(self._scores), self.n_threads)
        self._mean_loss = self.mean(self._value(self._scores))

    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        direction = grower.answers(cut)
        scores = self._scores + step * direction
        return self.mean(self._value(scores)), self.mean(self._derivative(scores) * direction)

    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None:
        self.set_scores(self._scores + step * grower.answers(cut))

    def _value(self, scores: FloatArray) -> FloatArray:
        return checked_numbers(self.loss, "value", ask(self.loss, "value", self.targets, scores), scores)

    def _derivative(self, scores: FloatArray) -> FloatArray:
        return checked_numbers(self.loss, "derivative", ask(self.loss, "derivative", self.targets, scores), scores)


def make_rows(loss: TargetLoss, targets: FloatArray, weights: RowWeights, n_outputs: int, n_threads: int) -> LossRows:
    """Training rows with their loss; call `set_scores` next."""
    if isinstance(loss, NativeTargetLoss):
        scores = current().gradient_scores(loss.name, loss.parameter, n_outputs, targets.reshape(-1), weights.native)
        return NativeRows(scores, weights, loss, n_threads)
    return OwnLossRows(
        current().gradient_scores("given", 0.0, 1, targets, weights.native), weights, loss, targets, n_threads
    )


def loss_to_gain(rows: LossRows, targets: FloatArray, scores: FloatArray) -> float:
    """Mean loss at these scores minus its infimum: the unit of complexity penalties."""
    loss = rows.loss
    costs = ask(loss, "value", targets, scores)
    if isinstance(loss, NamedTargetLoss):
        costs = costs - loss.lowest(targets)
    gain = abs(rows.mean(np.ascontiguousarray(costs)))
    return coarse(gain) if gain > 0.0 else 1.0


def coarse(number: float) -> float:
    """Number rounded to 24 bits, because further bits depend on the logarithms of NumPy on the machine."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(round(mantissa * 2.0**24), exponent - 24)
