"""Losses for the evaluation of a model by several losses at once (AgnosticClassifier, AgnosticBoostClassifier).

With two classes there is one score f and y is -1 or +1; with more there is a score for each class. Storcheus (2021),
Table C.1. `lipschitz_of_value` is M_k, the Lipschitz constant of the loss in the scores (Euclidean norm).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost._validation import check_real
from radboost.losses.base import REGISTRY, Loss, ask
from radboost.losses.logistic import Logistic
from radboost.losses.multinomial import MultinomialScores
from radboost.losses.own import CONTRACT, check_contract, checked_numbers
from radboost.losses.smoothing import covariances, diagonals, smooth_maximum

EVALUATION_LOSSES: dict[str, type[EvaluationLoss]] = REGISTRY["evaluation"]
# The zero-one loss has no slope; it is trained as 1 / (1 + e^(STEEPNESS margin)), whose largest slope is 1.
STEEPNESS = 4.0
LOGISTIC = Logistic()


class EvaluationLoss(Loss):
    """A loss of all scores of a row. Scores and gradients have a line for each output and a column for each row."""

    states_slope = True  # False: a user's loss for which M_k = 1 is assumed

    def __init__(self, class_ids: ClassIds, n_classes: int) -> None:
        self.n_classes = n_classes
        self.class_ids = np.asarray(class_ids, dtype=np.intp)
        self.signs = np.where(self.class_ids == 1, 1.0, -1.0)
        self.rows = np.arange(len(self.class_ids))

    def of(self, class_ids: ClassIds) -> EvaluationLoss:
        """Loss of the same kind for other rows."""
        return type(self)(class_ids, self.n_classes)

    @property
    def two(self) -> bool:
        return self.n_classes == 2

    @property
    def lipschitz_of_value(self) -> float:
        """M_k; of losses whose slope by the margin is at most 1."""
        return 1.0 if self.two else math.sqrt(2.0)

    @abstractmethod
    def value(self, scores: FloatArray) -> FloatArray:
        """The loss of each row, as it is trained."""

    @abstractmethod
    def gradient(self, scores: FloatArray) -> FloatArray:
        """Its derivative by each score, or one of its subgradients."""

    @property
    def convex(self) -> bool:
        """Whether its gradients give lower bounds; for other losses `least` does."""
        return True

    @property
    def least(self) -> float:
        """Number that the loss does not go below."""
        return 0.0

    def smoothed(self, scores: FloatArray, width: float) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Values, gradients and Hessians of a smooth loss; shapes (n,), (k, n) and (k, k, n). None: there is none.

        It tends to this loss as `width` goes to 0, and its gradients are convex combinations of subgradients.
        """
        return None

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """sup over the scores of <slopes, scores> - loss, for each row, at gradients of `smoothed`."""
        raise NotImplementedError

    def _own_slopes(self, slopes: FloatArray) -> FloatArray:
        """Slopes by the margin y f, or by the score of the own class."""
        return np.asarray(self.signs * slopes[0] if self.two else slopes[self.class_ids, self.rows])

    def reported(self, scores: FloatArray) -> FloatArray:
        """The loss of each row, as it is reported."""
        return self.value(scores)

    def _margins(self, scores: FloatArray) -> tuple[FloatArray, Any]:
        """y f, or the own score less the largest other one; and which one that is."""
        if self.two:
            return self.signs * scores[0], None
        others = scores.copy()
        others[self.class_ids, self.rows] = -np.inf
        rival = others.argmax(axis=0)
        return scores[self.class_ids, self.rows] - others[rival, self.rows], rival

    def _from_margins(self, slopes: FloatArray, rival: Any, n_outputs: int) -> FloatArray:
        """The gradient of a function of the margin with these slopes."""
        if rival is None:
            return np.asarray((slopes * self.signs)[None])
        gradient = np.zeros((n_outputs, len(slopes)))
        gradient[self.class_ids, self.rows] = slopes
        gradient[rival, self.rows] -= slopes
        return gradient


class CrossEntropyLoss(EvaluationLoss, name="cross_entropy", of="evaluation"):
    """log(1 + e^(-y f)), and for several classes -log of the softmax of the own one."""

    def value(self, scores: FloatArray) -> FloatArray:
        if self.two:
            return LOGISTIC.value(-self.signs * scores[0])
        return MultinomialScores(self.class_ids, self.n_classes).value(scores)

    def gradient(self, scores: FloatArray) -> FloatArray:
        if self.two:
            return np.asarray((-self.signs * LOGISTIC.derivative(-self.signs * scores[0]))[None])
        return MultinomialScores(self.class_ids, self.n_classes).gradient(scores)

    def smoothed(self, scores: FloatArray, width: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        if self.two:
            return self.value(scores), self.gradient(scores), LOGISTIC.curvature(scores)[None]
        probabilities = MultinomialScores(self.class_ids, self.n_classes).probabilities(scores)
        return self.value(scores), self.gradient(scores), covariances(probabilities)

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        if self.two:
            return LOGISTIC.conjugate(-self._own_slopes(slopes))
        return MultinomialScores(self.class_ids, self.n_classes).conjugate(slopes)


class Hinge(EvaluationLoss, name="hinge", of="evaluation"):
    """max(0, 1 - margin); the margin of several classes is that over the best rival."""

    def value(self, scores: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - self._margins(scores)[0])

    def gradient(self, scores: FloatArray) -> FloatArray:
        margins, rival = self._margins(scores)
        return self._from_margins(-(margins < 1.0).astype(np.float64), rival, len(scores))

    def smoothed(self, scores: FloatArray, width: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        if self.two:
            violations = 1.0 - self.signs * scores[0]
            values, shares, hessian = smooth_maximum(np.stack([np.zeros_like(violations), violations]), width)
            return values, (-self.signs * shares[1])[None], hessian[1:, 1:]
        pieces = scores - scores[self.class_ids, self.rows] + 1.0
        pieces[self.class_ids, self.rows] = 0.0
        values, shares, hessian = smooth_maximum(pieces, width)
        shares[self.class_ids, self.rows] -= 1.0
        return values, shares, hessian

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        return self._own_slopes(slopes)


class ZeroOne(EvaluationLoss, name="zero_one", of="evaluation"):
    """1 where the margin is not positive. It is trained by a sigmoid, which has slopes, and reported as it is."""

    def value(self, scores: FloatArray) -> FloatArray:
        return LOGISTIC.derivative(-STEEPNESS * self._margins(scores)[0])

    def gradient(self, scores: FloatArray) -> FloatArray:
        margins, rival = self._margins(scores)
        return self._from_margins(-STEEPNESS * LOGISTIC.curvature(-STEEPNESS * margins), rival, len(scores))

    def reported(self, scores: FloatArray) -> FloatArray:
        return (self._margins(scores)[0] <= 0.0).astype(np.float64)

    @property
    def convex(self) -> bool:
        return False


class L1Distance(EvaluationLoss, name="l1", of="evaluation"):
    """|f - y|, and for several classes the sum of |f_c - 1| of the own class and |f_c| of the others."""

    @property
    def lipschitz_of_value(self) -> float:
        return 1.0 if self.two else math.sqrt(self.n_classes)

    def _residuals(self, scores: FloatArray) -> FloatArray:
        if self.two:
            return scores - self.signs
        residuals = scores.copy()
        residuals[self.class_ids, self.rows] -= 1.0
        return residuals

    def value(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self._residuals(scores)).sum(axis=0))

    def gradient(self, scores: FloatArray) -> FloatArray:
        return np.sign(self._residuals(scores))

    def smoothed(self, scores: FloatArray, width: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        residuals = self._residuals(scores)
        flat = residuals.ravel()
        values, shares, hessian = smooth_maximum(np.stack([flat, -flat]), width)
        curvatures = (4.0 * hessian[0, 0]).reshape(residuals.shape)
        slopes = (shares[0] - shares[1]).reshape(residuals.shape)
        return values.reshape(residuals.shape).sum(axis=0), slopes, diagonals(curvatures)

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        return self._own_slopes(slopes)


class OwnEvaluationLoss(EvaluationLoss, name=None, of="evaluation"):
    """A loss of the user's: value(targets, scores) and derivative(targets, scores).

    Targets are -1 and +1 with two classes, otherwise 0, 1, ...; `lipschitz_of_value` is M_k, 1 where it says nothing.
    """

    def __init__(self, loss: Any, class_ids: ClassIds, n_classes: int) -> None:
        super().__init__(class_ids, n_classes)
        self._loss = loss
        self.states_slope = hasattr(loss, "lipschitz_of_value")
        self._targets = self.signs if self.two else self.class_ids.astype(np.float64)

    def of(self, class_ids: ClassIds) -> EvaluationLoss:
        return OwnEvaluationLoss(self._loss, class_ids, self.n_classes)

    @property
    def lipschitz_of_value(self) -> float:
        return float(getattr(self._loss, "lipschitz_of_value", 1.0))

    @property
    def convex(self) -> bool:
        return bool(getattr(self._loss, "convex", False))

    @property
    def least(self) -> float:
        return -math.inf

    def value(self, scores: FloatArray) -> FloatArray:
        given = ask(self._loss, "value", self._targets, self._as_theirs(scores))
        return checked_numbers(self._loss, "value", given, self._targets)

    def gradient(self, scores: FloatArray) -> FloatArray:
        theirs = self._as_theirs(scores)
        result = checked_numbers(self._loss, "derivative", ask(self._loss, "derivative", self._targets, theirs), theirs)
        return np.ascontiguousarray(result[None] if self.two else result.T)

    def _as_theirs(self, scores: FloatArray) -> FloatArray:
        return scores[0] if self.two else np.ascontiguousarray(scores.T)


def check_evaluation_losses(losses: Any) -> list[tuple[str, Any]]:
    """Names and losses: those of ours by their names, others as objects."""
    if isinstance(losses, str) or not isinstance(losses, tuple | list) or not losses:
        raise ValueError(
            f"losses must be a tuple or list of one or more of {', '.join(map(repr, EVALUATION_LOSSES))}, or of "
            f"{CONTRACT}; got {losses!r}."
        )
    result: list[tuple[str, Any]] = []
    for loss in losses:
        if isinstance(loss, str):
            if loss not in EVALUATION_LOSSES:
                known = ", ".join(map(repr, EVALUATION_LOSSES))
                raise ValueError(f"losses has {loss!r}; known are {known}, and {CONTRACT}.")
            result.append((loss, loss))
            continue
        if not callable(getattr(loss, "value", None)) or not callable(getattr(loss, "derivative", None)):
            raise TypeError(f"losses has {loss!r}, which is no name and not {CONTRACT}.")
        check_contract(loss)
        name = type(loss).__name__
        check_real(f"{name}.lipschitz_of_value", getattr(loss, "lipschitz_of_value", 1.0), low=0.0, open_low=True)
        result.append((name, loss))
    names = [name for name, _ in result]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"losses has {twice[0]!r} more than once; each is to be weighed against the others.")
    return result


def make_evaluation_losses(losses: list[tuple[str, Any]], class_ids: ClassIds, n_classes: int) -> list[EvaluationLoss]:
    """The losses of these rows."""
    return [
        EVALUATION_LOSSES[loss](class_ids, n_classes)
        if isinstance(loss, str)
        else OwnEvaluationLoss(loss, class_ids, n_classes)
        for _, loss in losses
    ]
