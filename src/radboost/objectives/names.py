"""The objectives' names. With two classes all of them are the one margin column of Deep Boosting."""

from __future__ import annotations

from radboost._validation import check_choice
from radboost.losses import LogisticLoss

OBJECTIVES = ("sum", "compsum", "maxsum", "max")


def resolve_objective(objective: object, loss: object) -> str:
    """One of OBJECTIVES, if it goes with the loss."""
    name = check_choice("objective", objective, list(OBJECTIVES))
    logistic = isinstance(loss, LogisticLoss) or (isinstance(loss, str) and loss == LogisticLoss.name)
    if name == "compsum" and not logistic:
        raise ValueError(
            f'objective="compsum" is log2(1 + a sum of exponentials) and goes with loss="logistic" only; got '
            f'loss={loss!r}. Use objective="sum" with this loss, or loss="logistic".'
        )
    return name
