"""Losses: Phi and losses of scores, their derivatives, and their names.

Each loss has its file and registers itself (`radboost.losses.base`). Classes can be imported from here.
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
"""Losses of margins by name: values of `loss` of `DeepBoostClassifier`."""
SCORE_LOSSES: dict[str, type[ScoreLoss]] = REGISTRY["scores"]
"""Losses of scores by name, for the sparse estimators."""
TWO_CLASS_LOSSES: dict[str, type[NamedTargetLoss]] = REGISTRY["signs"]
"""Losses of gradient boosting for targets -1 and +1, by name. More classes have the multinomial loss."""
REGRESSION_LOSSES: dict[str, type[NamedTargetLoss]] = REGISTRY["numbers"]
"""Losses of regression by name: values of `loss` of `RGBRegressor`."""


def get_loss(loss: str | MarginLoss | TargetLoss) -> MarginLoss:
    """Loss of margins for a name, or a user-defined loss, wrapped and checked for its methods."""
    if isinstance(loss, NamedTargetLoss):
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(f"loss={loss!r} is for gradient boosting; here it may be one of {names}, or {CONTRACT}.")
    resolved: Any = resolve("loss", loss, LOSSES, TargetLoss, CONTRACT)  # type: ignore[arg-type, type-abstract]
    return resolved if isinstance(resolved, MarginLoss) else OwnMarginLoss(resolved)


def get_target_loss(loss: str | TargetLoss, known: dict[str, type[NamedTargetLoss]]) -> TargetLoss:
    """Loss of gradient boosting for a name, or a user-defined one, checked."""
    if isinstance(loss, NamedTargetLoss) and type(loss) not in known.values():
        names = ", ".join(kind.__name__ for kind in known.values())
        raise ValueError(f"loss={loss!r} is for other targets; here it may be one of {names}, or {CONTRACT}.")
    resolved = resolve("loss", loss, known, TargetLoss, CONTRACT)  # type: ignore[type-abstract]
    if isinstance(resolved, NamedTargetLoss):
        resolved.validate()
        return resolved
    check_contract(resolved)
    lipschitz = getattr(resolved, "lipschitz", None)
    if lipschitz is not None:
        name = f"{type(resolved).__name__}.lipschitz (None: steps by a line search)"
        check_real(name, lipschitz, low=0.0, open_low=True)
    return resolved


def __getattr__(name: str) -> Any:
    """Class of a registered loss."""
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
