"""Losses: Phi and losses of scores, their derivatives, and the names they go by.

Each loss stands in a file of its own and registers itself (`radboost.losses.base`). Classes can be imported from here.
"""

from __future__ import annotations

from typing import Any

from radboost._members import class_named, import_members
from radboost._validation import check_real, resolve
from radboost.losses.base import REGISTRY, Loss, MarginLoss, NativeLoss, TargetLoss, ask
from radboost.losses.link import Link
from radboost.losses.own import CONTRACT, OwnMarginLoss, check_contract
from radboost.losses.scores import ScoreLoss
from radboost.losses.target import NamedTargetLoss, NativeTargetLoss

LOSSES: dict[str, type[MarginLoss]] = REGISTRY["margins"]
"""Of margins, by name: what `loss` of `DeepBoostClassifier` may be."""
SCORE_LOSSES: dict[str, type[ScoreLoss]] = REGISTRY["scores"]
"""Of scores, by name: those of the sparse estimators."""
TWO_CLASS_LOSSES: dict[str, type[NamedTargetLoss]] = REGISTRY["signs"]
"""Of gradient boosting, for targets -1 and +1. More classes have the multinomial loss."""
REGRESSION_LOSSES: dict[str, type[NamedTargetLoss]] = REGISTRY["numbers"]
"""Of numbers, by name: what `loss` of `RGBRegressor` may be."""


def get_loss(loss: str | MarginLoss | TargetLoss) -> MarginLoss:
    """The loss of a name, or the user's own as a loss of margins, checked for the methods it needs."""
    if isinstance(loss, NamedTargetLoss):
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(f"loss={loss!r} is for gradient boosting; here it may be one of {names}, or {CONTRACT}.")
    found: Any = resolve("loss", loss, LOSSES, TargetLoss, CONTRACT)  # type: ignore[arg-type, type-abstract]
    return found if isinstance(found, MarginLoss) else OwnMarginLoss(found)


def get_target_loss(loss: str | TargetLoss, known: dict[str, type[NamedTargetLoss]]) -> TargetLoss:
    """Loss of gradient boosting for a name, or the user's own, checked."""
    if isinstance(loss, NamedTargetLoss) and type(loss) not in known.values():
        names = ", ".join(kind.__name__ for kind in known.values())
        raise ValueError(f"loss={loss!r} is for other targets; here it may be one of {names}, or {CONTRACT}.")
    found = resolve("loss", loss, known, TargetLoss, CONTRACT)  # type: ignore[type-abstract]
    if isinstance(found, NamedTargetLoss):
        found.validate()
        return found
    check_contract(found)
    lipschitz = getattr(found, "lipschitz", None)
    if lipschitz is not None:
        name = f"{type(found).__name__}.lipschitz (None: steps by a line search)"
        check_real(name, lipschitz, low=0.0, open_low=True)
    return found


def __getattr__(name: str) -> Any:
    """The class of a registered loss."""
    return class_named(name, __name__, *REGISTRY.values())


__all__ = [
    "LOSSES",
    "REGRESSION_LOSSES",
    "SCORE_LOSSES",
    "TWO_CLASS_LOSSES",
    "Link",
    "Loss",
    "MarginLoss",
    "NamedTargetLoss",
    "NativeLoss",
    "NativeTargetLoss",
    "ScoreLoss",
    "TargetLoss",
    "ask",
    "get_loss",
    "get_target_loss",
]

import_members(__name__, __path__)
