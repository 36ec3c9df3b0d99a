"""Base classes of objectives: the cost of a row at its scores and along a step, and the link to probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from radboost._members import register
from radboost._typing import ClassIds, FloatArray
from radboost.losses import Link, MarginLoss, NativeLoss

Scores = tuple[FloatArray, FloatArray]  # scores of rows, and their margins for "maxsum"


class RowCost(ABC):
    """Loss of a row as a function of its scores. `class Sum(CostOfAnyLoss, name="sum")` registers itself.

    With several classes `scores` have the shape (n_rows, n_classes), and `class_ids` are the class of each row.
    """

    name: ClassVar[str]
    # True: the native core has this objective (native/losses/class_objectives.cpp). False: the NumPy methods run, with
    # any loss.
    native: ClassVar[bool] = True
    # True: the loss is differentiable everywhere.
    smooth: ClassVar[bool] = True
    # True: with several classes trees can be grown with real-valued leaves.
    rates_leaves: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__()
        if name is not None:
            cls.name = name
            register(OBJECTIVES, name, cls)

    @classmethod
    @abstractmethod
    def check(cls, loss: object) -> None:
        """Raise ValueError for a loss (object or name) that the objective does not support."""

    @abstractmethod
    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Loss of each row, shape (n_rows,)."""

    def dual_values(
        self, loss: MarginLoss, points: Sequence[Scores], factor: float, class_ids: ClassIds
    ) -> FloatArray | None:
        """Lower bounds of row losses, plus the scores' linear terms: v a - Phi*(v), a the arguments at the start.

        v is Phi' at the arguments now, times the factor. `points` are scores and margins, now and at the start. None:
        no conjugate is known.
        """
        return None

    def link(self, loss: MarginLoss | None) -> Link | None:
        """Link to probabilities with a loss (None: unknown loss).

        None if exports have no formula for it: the probabilities of such a model are not exported.
        """
        return None if loss is None else loss.links.get(self.name)

    def probabilities(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """P(c | x) for each row and class, by the link.

        The p for which the given scores minimize the expected loss (docs/theory.md, section 8).
        """
        link = self.link(loss)
        if link is None:
            raise NotImplementedError(f"{type(self).__name__} has neither a link nor a method `probabilities`.")
        return link.probabilities(scores)


class CostOfAnyLoss(RowCost):
    """RowCost for any increasing Phi, including user-defined losses."""

    @classmethod
    def check(cls, loss: object) -> None:
        """Accept every loss."""

    def row_losses(self, loss: MarginLoss, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Phi(1 - margin) by default; shape (n_rows,)."""
        return loss.value(1.0 - margins_of(scores, class_ids))

    def arguments(self, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Arguments of Phi: u(y) for every row and class, or one number for each row.

        `margins`: weighted sums of the margins of single hypotheses, for "maxsum"; otherwise empty.
        """
        return 1.0 - margins_of(scores, class_ids)

    def costs(self, values: FloatArray, class_ids: ClassIds) -> FloatArray:
        """The cost of each row, from Phi at the arguments."""
        return values

    def weights(self, derivatives: FloatArray, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Derivative of each row's cost by u(y) of each class, from Phi' there; of objectives that are not native."""
        return derivatives

    def dual_values(
        self, loss: MarginLoss, points: Sequence[Scores], factor: float, class_ids: ClassIds
    ) -> FloatArray | None:
        if not self.smooth or not isinstance(loss, NativeLoss):
            return None
        now, start = (self.arguments(scores, margins, class_ids) for scores, margins in points)
        pulls = factor * loss.derivative(now)
        return self.costs(pulls * start - loss.conjugate(pulls), class_ids)

    @abstractmethod
    def slopes(
        self, derivatives: FloatArray, scores: FloatArray, predictions: FloatArray, class_ids: ClassIds
    ) -> FloatArray:
        """The derivative of the cost of each row along the predictions, from Phi' at the arguments of these scores."""

    def slopes_along(
        self,
        loss: MarginLoss,
        scores: FloatArray,
        margins: FloatArray,
        predictions: FloatArray,
        eta: float,
        class_ids: ClassIds,
    ) -> FloatArray:
        """Derivative in eta of the cost of each row at scores + eta predictions."""
        moved = scores + eta * predictions
        moved_margins = margins + eta * margins_of(predictions, class_ids) if len(margins) else margins
        u = self.arguments(moved, moved_margins, class_ids)
        return self.slopes(loss.derivative(u.ravel()).reshape(u.shape), moved, predictions, class_ids)


OBJECTIVES: dict[str, type[RowCost]] = {}


def margins_of(scores: FloatArray, class_ids: ClassIds) -> FloatArray:
    """Margin of each row: score of its class minus the largest other score; y f with two classes."""
    if scores.ndim == 1:
        return np.where(class_ids == 1, scores, -scores)
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, class_ids] = -np.inf
    return np.asarray(scores[rows, class_ids] - others.max(axis=1), dtype=np.float64)


def argument_of_each_class(scores: FloatArray, class_ids: ClassIds) -> FloatArray:
    """u(y) = 1 - f(y_i) + f(y)."""
    return 1.0 - scores[np.arange(len(scores)), class_ids][:, None] + scores
