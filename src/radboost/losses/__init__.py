"""Losses: Phi and losses of scores, their derivatives, and the names they go by."""

from __future__ import annotations

from radboost._validation import resolve
from radboost.losses.absolute import AbsoluteLoss
from radboost.losses.base import MarginLoss, NativeLoss
from radboost.losses.epsilon_insensitive import EpsilonInsensitiveScores
from radboost.losses.exponential import ExponentialLoss
from radboost.losses.huber import HuberLoss
from radboost.losses.logistic import LogisticLoss
from radboost.losses.margin_scores import ExponentialScores, LogisticScores
from radboost.losses.multinomial import MultinomialLoss
from radboost.losses.multinomial_scores import MultinomialScores
from radboost.losses.poisson import PoissonLoss
from radboost.losses.quantile import QuantileLoss
from radboost.losses.scores import ScoreLoss
from radboost.losses.squared import SquaredLoss
from radboost.losses.target import NativeTargetLoss, TargetLoss
from radboost.losses.two_class import ExponentialTargetLoss, LogisticTargetLoss

LOSSES: dict[str, type[NativeLoss]] = {"exponential": ExponentialLoss, "logistic": LogisticLoss}
SCORE_LOSSES: dict[str, type[ScoreLoss]] = {
    loss.name: loss for loss in (LogisticScores, ExponentialScores, MultinomialScores, EpsilonInsensitiveScores)
}

TWO_CLASS_LOSSES: dict[str, type[NativeTargetLoss]] = {
    "logistic": LogisticTargetLoss,
    "exponential": ExponentialTargetLoss,
}
"""Of gradient boosting, for targets -1 and +1. More classes have the multinomial loss."""

REGRESSION_LOSSES: dict[str, type[NativeTargetLoss]] = {
    "squared": SquaredLoss,
    "absolute": AbsoluteLoss,
    "huber": HuberLoss,
    "quantile": QuantileLoss,
    "poisson": PoissonLoss,
}


def get_loss(loss: str | MarginLoss) -> MarginLoss:
    """The loss of a name, or the user's own loss, checked for the methods it needs."""
    return resolve("loss", loss, LOSSES, MarginLoss, "an object with the methods value(u) and derivative(u)")  # type: ignore[type-abstract]


def get_target_loss(loss: str | TargetLoss, known: dict[str, type[NativeTargetLoss]]) -> TargetLoss:
    """The same for losses of gradient boosting."""
    otherwise = "an object with the methods value(targets, scores) and derivative(targets, scores)"
    if isinstance(loss, NativeTargetLoss) and type(loss) not in known.values():
        names = ", ".join(kind.__name__ for kind in known.values())
        raise ValueError(f"loss={loss!r} is for other targets; here it may be one of {names}, or {otherwise}.")
    return resolve("loss", loss, known, TargetLoss, otherwise)  # type: ignore[type-abstract]


__all__ = [
    "LOSSES",
    "REGRESSION_LOSSES",
    "SCORE_LOSSES",
    "TWO_CLASS_LOSSES",
    "AbsoluteLoss",
    "EpsilonInsensitiveScores",
    "ExponentialLoss",
    "ExponentialScores",
    "ExponentialTargetLoss",
    "HuberLoss",
    "LogisticLoss",
    "LogisticScores",
    "LogisticTargetLoss",
    "MarginLoss",
    "MultinomialLoss",
    "MultinomialScores",
    "NativeLoss",
    "NativeTargetLoss",
    "PoissonLoss",
    "QuantileLoss",
    "ScoreLoss",
    "SquaredLoss",
    "TargetLoss",
    "get_loss",
    "get_target_loss",
]
