"""Losses: Phi, its derivative, and the names they go by."""

from __future__ import annotations

from radboost._validation import resolve
from radboost.losses.base import MarginLoss, NativeLoss
from radboost.losses.exponential import ExponentialLoss
from radboost.losses.logistic import LogisticLoss

LOSSES: dict[str, type[NativeLoss]] = {"exponential": ExponentialLoss, "logistic": LogisticLoss}


def get_loss(loss: str | MarginLoss) -> MarginLoss:
    """The loss of a name, or the user's own loss, checked for the methods it needs."""
    return resolve("loss", loss, LOSSES, MarginLoss, "an object with the methods value(u) and derivative(u)")  # type: ignore[type-abstract]


__all__ = ["LOSSES", "ExponentialLoss", "LogisticLoss", "MarginLoss", "NativeLoss", "get_loss"]
