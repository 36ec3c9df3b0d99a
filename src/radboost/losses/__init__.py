"""Losses: Phi and losses of scores, their derivatives, and the names they go by."""

from __future__ import annotations

from radboost._validation import resolve
from radboost.losses.base import MarginLoss, NativeLoss
from radboost.losses.epsilon_insensitive import EpsilonInsensitiveScores
from radboost.losses.exponential import ExponentialLoss
from radboost.losses.logistic import LogisticLoss
from radboost.losses.margin_scores import ExponentialScores, LogisticScores
from radboost.losses.multinomial import MultinomialScores
from radboost.losses.scores import ScoreLoss

LOSSES: dict[str, type[NativeLoss]] = {"exponential": ExponentialLoss, "logistic": LogisticLoss}
SCORE_LOSSES: dict[str, type[ScoreLoss]] = {
    loss.name: loss for loss in (LogisticScores, ExponentialScores, MultinomialScores, EpsilonInsensitiveScores)
}


def get_loss(loss: str | MarginLoss) -> MarginLoss:
    """The loss of a name, or the user's own loss, checked for the methods it needs."""
    return resolve("loss", loss, LOSSES, MarginLoss, "an object with the methods value(u) and derivative(u)")  # type: ignore[type-abstract]


__all__ = [
    "LOSSES",
    "SCORE_LOSSES",
    "EpsilonInsensitiveScores",
    "ExponentialLoss",
    "ExponentialScores",
    "LogisticLoss",
    "LogisticScores",
    "MarginLoss",
    "MultinomialScores",
    "NativeLoss",
    "ScoreLoss",
    "get_loss",
]
