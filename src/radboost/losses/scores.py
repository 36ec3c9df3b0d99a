"""Losses of all scores of a row, for boosting with structural sparsity."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.base import Loss
from radboost.losses.link import Link


class ScoreLoss(Loss):
    """A convex loss of the scores of a row: one score, or one for each class or task.

    Scores, gradients and curvatures have a line for each output and a column for each row of the data; values have one
    number for each row. Rows are not weighted here: who takes the mean multiplies by the weights. `lipschitz`, the
    largest second derivative along one score, gives the quadratic bounds of GradBoost.
    """

    # From scores to probabilities, where it is a loss of classes.
    link: ClassVar[Link | None] = None
    # Whether the Hessian of a row is diag(p) - p p^T instead of a diagonal matrix.
    coupled: ClassVar[bool] = False
    # What the row sums of |x| count in the exponential bounds of AdaBoost: 2 where a feature moves two scores of a row.
    budget: ClassVar[float] = 1.0

    n_outputs: int
    n_rows: int

    @abstractmethod
    def value(self, scores: FloatArray) -> FloatArray:
        """The loss of each row."""

    @abstractmethod
    def gradient(self, scores: FloatArray) -> FloatArray:
        """The derivative by each score."""

    @abstractmethod
    def curvature(self, scores: FloatArray) -> FloatArray:
        """The diagonal of the Hessian of each row; the probabilities p where the loss is coupled."""

    def safe_curvature(self, scores: FloatArray) -> FloatArray:
        """At least the curvature, and enough of it where the loss is nearly straight for a step not to fly off."""
        return self.curvature(scores)

    def middle(self, row_weights: FloatArray) -> float:
        """A score that is neither high nor low: zero between classes, the median among numbers."""
        return 0.0

    @abstractmethod
    def halves(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient as `down` - `up`, both at least zero.

        Where no other score of the row moves, a step v raises its loss by at most up (e^-v - 1) + down (e^v - 1).
        """

    @abstractmethod
    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """sup over the scores of <slopes, scores> - loss, for each row; `slopes` are gradients times at most 1."""

    def balanced(self, slopes: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Slopes near the given ones that have a conjugate and weighted sums of zero, a sum for each output.

        Those of the sign that has the larger sum are shrunk.
        """
        sums = [(np.maximum(sign * slopes, 0.0) * row_weights).sum(axis=1) for sign in (1.0, -1.0)]
        less = np.minimum(*sums)
        above, below = (np.divide(less, one, out=np.zeros_like(less), where=one > 0.0)[:, None] for one in sums)
        return np.asarray(slopes * np.where(slopes > 0.0, above, below))
