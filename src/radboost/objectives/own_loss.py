"""Objectives with a loss of the user's own, which sees NumPy arrays."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost.losses.base import MarginLoss
from radboost.objectives.row_losses import margins_of


def evaluate(loss: MarginLoss, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Phi and Phi', looked over."""
    values = np.ascontiguousarray(loss.value(u), dtype=np.float64)
    derivatives = np.ascontiguousarray(loss.derivative(u), dtype=np.float64)
    for what, array in (("value", values), ("derivative", derivatives)):
        if array.shape != u.shape:
            raise ValueError(
                f"{loss!r}.{what} returned an array of shape {array.shape} for an input of shape {u.shape}; "
                "it must keep the shape."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{loss!r}.{what} returned NaN or infinity; it must be finite everywhere.")
    if (derivatives < 0).any():
        raise ValueError(f"{loss!r}.derivative is negative somewhere; Phi must be increasing.")
    return values, derivatives


def arguments(name: str, scores: FloatArray, margins: FloatArray, class_ids: ClassIds) -> FloatArray:
    """What Phi is taken of: u(y) for every row and class, or one number for each row.

    `scores` have the shape (n_rows,) with two classes, otherwise (n_rows, n_classes); `margins` are the s of "maxsum".
    """
    if scores.ndim == 2 and name == "maxsum":
        return 1.0 - margins
    if scores.ndim == 1 or name == "max":
        return 1.0 - margins_of(scores, class_ids)
    rows = np.arange(len(scores))
    return 1.0 - scores[rows, class_ids][:, None] + scores


def terms_along(
    name: str,
    loss: MarginLoss,
    scores: FloatArray,
    margins: FloatArray,
    predictions: FloatArray,
    eta: float,
    class_ids: ClassIds,
) -> tuple[FloatArray, FloatArray]:
    """The loss of each row at scores + eta predictions, and its derivative in eta."""
    own_margins = margins_of(predictions, class_ids)
    moved = scores + eta * predictions
    several = scores.ndim == 2
    moved_margins = margins + eta * own_margins if several and name == "maxsum" else margins
    values, derivatives = evaluate(loss, arguments(name, moved, moved_margins, class_ids).ravel())
    rows = np.arange(len(class_ids))
    if not several or name == "maxsum":
        return values, -derivatives * own_margins
    if name == "sum":
        directions = predictions - predictions[rows, class_ids][:, None]
        values = values.reshape(scores.shape).copy()
        values[rows, class_ids] = 0.0
        return values.sum(axis=1), (derivatives.reshape(scores.shape) * directions).sum(axis=1)
    others = moved.copy()
    others[rows, class_ids] = -np.inf
    # To the right of a kink the steepest of the tied classes counts.
    tied = others == others.max(axis=1, keepdims=True)
    steepest = np.where(tied, predictions, -np.inf).max(axis=1)
    return values, derivatives * (steepest - predictions[rows, class_ids])
