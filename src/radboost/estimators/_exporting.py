"""The outputs of exported models: labels, and the rule that makes probabilities of scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from radboost._typing import FloatArray
from radboost.export.parts import ExportedAnswer, Rule, refuse_model
from radboost.losses import ExponentialLoss, ExponentialTargetLoss, LogisticLoss, LogisticTargetLoss

NO_RULE = "its loss is one of your own, which no other program knows"


def class_answer(model: Any, rule: Rule | str, costs: FloatArray | None = None) -> ExportedAnswer:
    """The outputs of a classifier with this rule and its own calibration."""
    if len(model.classes_) == 1:
        refuse_model(
            type(model).__name__, f"it holds only one class, {model.classes_.tolist()[0]!r}: nothing to compute"
        )
    found = getattr(model, "calibration_", None)
    calibration = {} if found is None else asdict(found)
    return ExportedAnswer(tuple(model.classes_), rule, costs=costs, **calibration)


def margin_rule(objective: str, loss: object, n_classes: int) -> Rule | str:
    """The probabilities of radboost.objectives, for a loss of margins."""
    if n_classes > 2 and objective != "sum":
        return Rule("compsum")
    if isinstance(loss, ExponentialLoss):
        return Rule("logistic" if n_classes == 2 else "softmax", 2.0)
    if isinstance(loss, LogisticLoss):
        return Rule("offset_logistic" if n_classes == 2 else "balance")
    return NO_RULE


def target_rule(loss: object, n_classes: int) -> Rule | str:
    """The probabilities of gradient boosting."""
    if n_classes > 2:
        return Rule("softmax")
    if isinstance(loss, LogisticTargetLoss):
        return Rule("logistic")
    return Rule("logistic", 2.0) if isinstance(loss, ExponentialTargetLoss) else NO_RULE
