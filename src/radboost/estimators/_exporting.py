"""Outputs of exported models: labels, and the link from scores to probabilities or regression predictions."""

from __future__ import annotations

from typing import Any

from radboost._typing import FloatArray
from radboost.calibration import Calibration
from radboost.export.parts import ExportedOutput, refuse_model
from radboost.losses import Link, MarginLoss, NamedTargetLoss, TargetLoss
from radboost.losses.link import EXPONENTIAL, IDENTITY
from radboost.losses.own import OwnMarginLoss
from radboost.objectives import row_cost

NO_LINK = "its loss is one of your own, which no other program knows"


def class_output(model: Any, link: Link | str, costs: FloatArray | None = None) -> ExportedOutput:
    """Outputs of a classifier with its calibration; `link`: a text is the reason why there is none."""
    if len(model.classes_) == 1:
        refuse_model(
            type(model).__name__, f"it holds only one class, {model.classes_.tolist()[0]!r}: nothing to compute"
        )
    calibration = getattr(model, "calibration_", None) or Calibration()
    return ExportedOutput(tuple(model.classes_), link, calibration, costs)


def margin_link(objective: str, loss: MarginLoss | None, n_classes: int) -> Link | str:
    """Link of an objective with a loss of margins (None: not stored in the file), or the reason why there is none."""
    link = row_cost(objective, n_classes).link(loss)
    if link is not None:
        return link
    if loss is None or isinstance(loss, OwnMarginLoss):
        return NO_LINK
    return f"objective={objective!r} with loss={loss.name!r} has no link that other programs know"


def target_link(loss: TargetLoss | None, n_classes: int) -> Link | str:
    """Link of gradient boosting for classification, or the reason why there is none."""
    if not isinstance(loss, NamedTargetLoss):
        return NO_LINK
    of_classes = loss.for_classes() if n_classes > 2 else loss
    link = None if of_classes is None else of_classes.link
    return link or f"loss={loss.name!r} has no link that other programs know"


def regression_output(model: Any, loss: TargetLoss) -> ExportedOutput:
    """Outputs of a regressor."""
    link = loss.link if isinstance(loss, NamedTargetLoss) else None if hasattr(loss, "inverse_link") else IDENTITY
    if link not in (IDENTITY, EXPONENTIAL):
        refuse_model(type(model).__name__, "its loss has an inverse_link of your own, which no other program knows")
    return ExportedOutput(exponential=link == EXPONENTIAL)
