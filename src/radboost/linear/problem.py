"""Objective of boosting with structural sparsity, and its optimality certificate (violation and duality gap)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from radboost._typing import FloatArray
from radboost.linear.columns import DesignMatrix, Indices, matrix_times
from radboost.losses import ScoreLoss
from radboost.losses.gaps import GAP_ROUNDING
from radboost.penalties import RowPenalty

INTERCEPT_STEPS, BRACKET_STEPS = 50, 200


class Point:
    """Weights of shape (n_columns, n_outputs), one intercept per output, and the scores that both give.

    A solver that has just computed the slopes of all columns may keep them in `slopes`. They belong to these scores:
    setting other ones (`point.scores = ...`, `point.scores += ...`) makes them None.
    """

    slopes: FloatArray | None

    def __init__(self, weights: FloatArray, intercept: FloatArray, scores: FloatArray) -> None:
        self.weights = weights
        self.intercept = intercept
        self.scores = scores

    @property
    def scores(self) -> FloatArray:
        """Scores of the rows; shape (n_outputs, n_rows)."""
        return self._scores

    @scores.setter
    def scores(self, scores: FloatArray) -> None:
        self._scores = scores
        self.slopes = None

    def copy(self) -> Point:
        return Point(self.weights.copy(), self.intercept.copy(), self.scores.copy())

    @property
    def used(self) -> Indices:
        """The columns with a weight."""
        return np.flatnonzero(self.weights.any(axis=1))


@dataclass
class Trail:
    """Record of the steps of a solver."""

    objective: list[float] = field(default_factory=list)
    n_features: list[int] = field(default_factory=list)
    stop_reason: str = "n_rounds"
    # Called after every step with the objective and the number of features.
    callback: Callable[[float, int], None] | None = None

    def note(self, objective: float, n_features: int) -> None:
        self.objective.append(objective)
        self.n_features.append(n_features)
        if self.callback is not None:
            self.callback(objective, n_features)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the distance of a point from the optimum."""

    violation: float  # of the termination conditions of section 8
    duality_gap: float  # the objective at the point exceeds the minimum by at most this


@dataclass(frozen=True)
class SparseProblem:
    """(1/m) sum of loss_i(W^T x_i + b) + sum over j of price_j size(w_j).

    Duchi and Singer (2009), equations (2) to (4), with a mean instead of the sum: alpha is the paper's
    lambda divided by the number of rows. `row_weights` sum to 1.
    """

    columns: DesignMatrix
    loss: ScoreLoss
    penalty: RowPenalty
    row_weights: FloatArray
    prices: FloatArray
    fit_intercept: bool = True

    @property
    def everything(self) -> Indices:
        return self.columns.everything

    def start(self) -> Point:
        """Point with zero weights, and the best intercept for these."""
        k = self.loss.n_outputs
        point = Point(np.zeros((self.columns.n_columns, k)), np.zeros(k), np.zeros((k, self.columns.n_rows)))
        self.fit_the_intercept(point)
        return point

    def fit_the_intercept(self, point: Point) -> None:
        """Set the intercept to the best one for the weights."""
        if self.fit_intercept:
            shift = self._shift_of_classes(point) if self.loss.coupled else self._shift_of_outputs(point)
            point.intercept, point.scores = point.intercept + shift, point.scores + shift[:, None]

    def _shift_of_classes(self, point: Point) -> FloatArray:
        """Shift that brings the mean probability of each class to its fraction of the rows."""
        # A step is exact where all rows have the same scores; it is halved until the loss falls.
        shift, scores, value = np.zeros(self.loss.n_outputs), point.scores, self.mean_loss(point.scores)
        for _ in range(INTERCEPT_STEPS):
            slopes = self.residual(scores).sum(axis=1)
            means = np.maximum(matrix_times(self.loss.curvature(scores), self.row_weights), 1e-300)
            step = np.log1p(np.maximum(-slopes / means, -1.0 + 1e-12))
            decrement = float(-slopes @ step)
            if decrement <= 1e-15 * max(1.0, abs(value)):  # too short a step to be seen in the loss
                return np.asarray(shift + step)
            fraction = 1.0
            while fraction > 1e-6:
                moved = scores + fraction * step[:, None]
                moved_value = self.mean_loss(moved)
                if moved_value <= value - 1e-4 * fraction * decrement:
                    break
                fraction *= 0.5
            else:
                return shift
            shift, scores, value = shift + fraction * step, moved, moved_value
        return shift

    def _shift_of_outputs(self, point: Point) -> FloatArray:
        """The root of the slope along each output, by Newton's steps within a bracket that only closes."""
        # The slope rises with the shift. Steps that leave the bracket are replaced by its middle. While one side is
        # open, they are at most four times as long as the last one: the loss may be straight.
        k = self.loss.n_outputs
        shift, low, high, longest = np.zeros(k), np.full(k, -np.inf), np.full(k, np.inf), np.ones(k)
        for _ in range(BRACKET_STEPS):
            scores = point.scores + shift[:, None]
            slopes, curvatures = self.residual(scores).sum(axis=1), self.diagonal(scores).sum(axis=1)
            low, high = np.where(slopes <= 0.0, shift, low), np.where(slopes >= 0.0, shift, high)
            step = np.clip(-slopes / np.maximum(curvatures, 1e-300), -longest, longest)
            closed = np.isfinite(low) & np.isfinite(high)
            middle = np.where(closed, 0.5 * np.where(closed, low + high, 0.0), 0.0)
            outside = closed & ((shift + step < low) | (shift + step > high))
            moved = np.where(slopes == 0.0, shift, np.where(outside, middle, shift + step))
            longest = 4.0 * np.maximum(longest, np.abs(step))
            if (np.abs(moved - shift) <= 1e-15 * np.maximum(1.0, np.abs(shift))).all():
                return moved
            shift = moved
        return shift

    def mean_loss(self, scores: FloatArray) -> float:
        return float(self.row_weights @ self.loss.value(scores))

    def objective(self, point: Point) -> float:
        return self.mean_loss(point.scores) + self.price_of(point.used, point.weights[point.used])

    def price_of(self, columns: Indices, weights: FloatArray) -> float:
        return float(self.prices[columns] @ self.penalty.size(weights)) if len(columns) else 0.0

    def residual(self, scores: FloatArray) -> FloatArray:
        """The derivative of the mean loss by each score."""
        return np.ascontiguousarray(self.row_weights * self.loss.gradient(scores))

    def diagonal(self, scores: FloatArray) -> FloatArray:
        """A diagonal matrix above the Hessian by the scores of each row.

        For a coupled loss twice the diagonal. The matrix diag(p) - p p^T has p_r (1 - p_r) on the diagonal, and its
        rows sum to zero. By Gershgorin's theorem 2 diag(p (1 - p)) lies above it.
        """
        curvature = self.loss.safe_curvature(scores)
        if self.loss.coupled:
            curvature = 2.0 * curvature * (1.0 - curvature)
        return np.ascontiguousarray(self.row_weights * curvature)

    def slopes(self, residual: FloatArray, columns: Indices) -> FloatArray:
        """The derivatives of the mean loss by the weights: mu- minus mu+."""
        return self.columns.correlate(columns, residual)

    def violations(
        self, weights: FloatArray, slopes: FloatArray, residual: FloatArray, columns: Indices
    ) -> tuple[FloatArray, float]:
        """Violation of section 8 by each column, shape (n_columns,), and the largest, with that of the intercept."""
        violations = self.penalty.violation(weights, slopes, self.prices[columns])
        worst = float(violations.max(initial=0.0))
        return violations, max(worst, float(np.abs(residual.sum(axis=1)).max())) if self.fit_intercept else worst

    def certify(self, point: Point) -> Certificate:
        """Both certificates, from the slopes at this point."""
        residual = self.residual(point.scores)
        slopes = self.slopes(residual, self.everything) if point.slopes is None else point.slopes
        _, worst = self.violations(point.weights, slopes, residual, self.everything)
        return Certificate(worst, self._duality_gap(point))

    def _duality_gap(self, point: Point) -> float:
        """The objective at this point minus a dual one, plus what rounding may hide of the difference."""
        # The dual is -(1/m) sum of loss_i*(u_i), less the conjugate of the penalty at X^T u. With an intercept the
        # outputs of u sum to zero: the slopes at the best intercept nearly do, `balanced` ones do. A factor of at most
        # 1 brings them to where the conjugate of the penalty is finite.
        fitted = point.copy()
        self.fit_the_intercept(fitted)
        slopes = self.loss.gradient(fitted.scores)
        if self.fit_intercept:
            slopes = self.loss.balanced(slopes, self.row_weights)
        by_column = self.slopes(np.ascontiguousarray(self.row_weights * slopes), self.everything)
        factor = self.penalty.feasible_fraction(by_column, self.prices)
        losses, conjugates = self.loss.value(point.scores), self.loss.conjugate(factor * slopes)
        prices = [self.price_of(point.used, point.weights[point.used])]
        prices.append(self.penalty.conjugate(factor * by_column, self.prices))
        gap = float(self.row_weights @ (losses + conjugates)) + sum(prices)
        size = float(self.row_weights @ (np.abs(losses) + np.abs(conjugates))) + sum(map(abs, prices))
        return max(gap, 0.0) + GAP_ROUNDING * size

    def price_of_entry(self) -> float:
        """The smallest alpha, for prices of alpha = 1, at which the empty model is optimal (section 8 at zero)."""
        slopes = self.slopes(self.residual(self.start().scores), self.everything)
        norms = self.penalty.dual_norm(slopes)
        return float(np.divide(norms, self.prices, out=np.zeros_like(norms), where=self.prices > 0).max(initial=0.0))
