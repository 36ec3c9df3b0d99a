"""Bound on the true agnostic loss of a linear model. Storcheus (2021), section 5.3, corrected (``docs/theory.md``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost._validation import check_real
from radboost.estimators import AgnosticClassifier
from radboost.guarantees.bounds import numbers_of_draws
from radboost.guarantees.holdout import probability, warn_of_copies
from radboost.losses.model_evaluation import EvaluationLoss

# Radii are 2^j. Radius j gets the fraction 1 / (RADII (1 + |j|)^2) of delta; these fractions sum to less than 1.
RADII = 3.0


@dataclass(frozen=True)
class AgnosticBound:
    """Bound on the agnostic loss: with probability at least 1 - delta it is at most `total`."""

    empirical_loss: float  # the worst mixture of the mean losses on the sample
    complexity: float  # 2 beta R_S(H): of linear functions in a ball
    chance: float  # 3 B sqrt(log(2 / delta') / 2m): what the draw of the sample may have hidden
    radius: float  # of the ball, a power of two
    largest_loss: float  # B: no loss in the ball is larger
    sample_size: float
    delta: float

    @property
    def total(self) -> float:
        return self.empirical_loss + self.complexity + self.chance

    @property
    def vacuous(self) -> bool:
        """True if the bound is not below the largest loss, so that it says nothing."""
        return self.total >= self.largest_loss

    def __str__(self) -> str:
        rows = (
            ("worst mixture of losses on the sample", self.empirical_loss),
            (f"+ complexity (weights in a ball of radius {self.radius:g})", self.complexity),
            (f"+ chance ({100 * (1 - self.delta):g}% confidence)", self.chance),
            ("= true agnostic loss is at most", self.total),
        )
        return "\n".join(f"{name:<56}{value:>9.4f}" for name, value in rows)


def agnostic_bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    largest_row: float,
    delta: float = 0.05,
    sample_weight: ArrayLike | None = None,
) -> AgnosticBound:
    """Bound the true agnostic loss of an `AgnosticClassifier`, with every term named.

    With probability at least 1 - delta over the draw of the rows (28) of docs/theory.md, section 13, holds for all
    linear models at once. They are in the smallest ball of radius 2^j that holds the weights and intercepts, in the
    units of X. The losses are those that are trained: of "zero_one" the sigmoid. Your own must state
    ``lipschitz_of_value`` and never be below 0.

    Parameters
    ----------
    model : fitted AgnosticClassifier
    X, y, sample_weight : the training rows, or others from the same source
        Whole numbers: a row of weight w stands for w equal rows that were drawn.
    largest_row : float
        A number that the Euclidean length of no row of the source exceeds. It is of the source, and cannot be read off
        the sample.
    delta : float
        The probability that the bound fails, in (0, 1).
    """
    if not isinstance(model, AgnosticClassifier):
        raise TypeError(f"Expected a fitted AgnosticClassifier, got {model!r}.")
    check_is_fitted(model)
    check_real("largest_row", largest_row, low=0.0, open_low=True)
    delta = probability("delta", delta, "that the bound fails")
    named, corners = model._read_parameters()
    rows, scores, losses = model._evaluated(X, y)
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    counts = numbers_of_draws(sample_weight, len(rows))
    warn_of_copies(X, "bounds")
    _check_losses({name: loss for (name, _), loss in zip(named, losses, strict=True)}, scores)
    m = float(counts.sum())
    lengths = np.linalg.norm(rows, axis=1)
    if lengths.max(initial=0.0) > largest_row * (1.0 + 1e-12):
        raise ValueError(
            f"A row has the length {lengths.max():g}, and largest_row={largest_row:g} must not be exceeded by any row "
            "of the source."
        )
    n_classes = len(model.classes_)
    steepness = np.array([loss.lipschitz_of_value for loss in losses])
    units = steepness if model.normalize else np.ones(len(losses))
    vertices = np.eye(len(losses)) if corners is None else corners
    means = np.array([float(counts @ loss.value(scores)) / m for loss in losses]) / units
    of_classes, zeros = np.arange(n_classes, dtype=np.uint16), np.zeros((len(scores), n_classes))
    at_zero = np.array([float(loss.of(of_classes).value(zeros).max()) for loss in losses]) / units
    norm = math.sqrt(float(np.square(model.coef_).sum() + np.square(model.intercept_).sum()))
    exponent = math.ceil(math.log2(norm)) if norm > 0.0 else 0
    radius = 2.0**exponent
    beta = float((vertices @ (steepness / units)).max())
    outputs = 1.0 if n_classes == 2 else 2.0 * n_classes
    rademacher = radius * math.sqrt(outputs * float(counts @ (lengths**2 + 1.0))) / m
    largest = float(at_zero.max()) + beta * radius * math.sqrt(largest_row**2 + 1.0)
    part = delta / (len(vertices) * RADII * (1.0 + abs(exponent)) ** 2)
    return AgnosticBound(
        float((vertices @ means).max()),
        2.0 * beta * rademacher,
        3.0 * largest * math.sqrt(math.log(2.0 / part) / (2.0 * m)),
        radius,
        largest,
        m,
        delta,
    )


def _check_losses(losses: Mapping[str, EvaluationLoss], scores: FloatArray) -> None:
    """Refuse losses of users whose slope is not stated, or that are below 0 at the scores of the sample."""
    for name, loss in losses.items():
        if not loss.states_slope:
            raise ValueError(
                f"{name} does not state lipschitz_of_value, the largest slope of its values in the scores, which the "
                "bound needs. Set it; a loss without one, such as a square, has no such bound."
            )
        if float(loss.value(scores).min()) < 0.0:
            raise ValueError(
                f"{name} is below 0 on a row, and the bound is for losses from 0 on. Add a constant to it."
            )
