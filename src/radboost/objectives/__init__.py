"""Objectives: from labels and scores to row weights, values and line searches."""

from __future__ import annotations

import numpy as np

from radboost._typing import ClassIds, FloatArray
from radboost._validation import check_choice
from radboost.losses.base import MarginLoss, NativeLoss
from radboost.objectives.base import LossState, Objective
from radboost.objectives.classes import (
    ClassObjective,
    CompSumObjective,
    MaxObjective,
    MaxSumObjective,
    SumObjective,
)
from radboost.objectives.margin import MarginObjective
from radboost.objectives.minimisers import of_margins

OBJECTIVES: dict[str, type[ClassObjective]] = {
    "sum": SumObjective,
    "compsum": CompSumObjective,
    "maxsum": MaxSumObjective,
    "max": MaxObjective,
}


def resolve_name(name: object, loss: MarginLoss) -> str:
    """The objective that a parameter stands for: "auto" is compsum for the logistic loss and sum for all others."""
    chosen = check_choice("objective", name, ["auto", *OBJECTIVES])
    if chosen == "auto":
        return "compsum" if isinstance(loss, NativeLoss) and loss.name == "logistic" else "sum"
    OBJECTIVES[chosen].check_loss(loss)
    return chosen


def make_objective(
    name: object, loss: MarginLoss, class_ids: ClassIds, n_classes: int, weights: FloatArray | None, n_threads: int
) -> Objective:
    """The objective of a name for training rows that are sorted by class; with two classes they are all the same."""
    chosen = resolve_name(name, loss)
    if n_classes == 2:
        labels = np.where(class_ids == 1, 1, -1).astype(np.int8)
        return MarginObjective(labels, weights, loss, n_threads, chosen)
    classes = np.ascontiguousarray(class_ids, dtype=np.uint16)
    return OBJECTIVES[chosen](loss, classes, n_classes, weights, n_threads)


def probabilities(name: str, loss: MarginLoss, scores: FloatArray) -> FloatArray:
    """Rows x classes from the scores of a model: one column of them for two classes, otherwise one for each class."""
    return of_margins(loss, scores) if scores.ndim == 1 else OBJECTIVES[name].from_scores(loss, scores)


__all__ = ["OBJECTIVES", "LossState", "MarginObjective", "Objective", "make_objective", "probabilities", "resolve_name"]
