"""Objectives: from classes and scores to row weights, values, line searches and probabilities."""

from radboost._typing import ClassIds, FloatArray
from radboost.losses.base import MarginLoss
from radboost.objectives.base import LossState, Objective
from radboost.objectives.classes import ClassObjective
from radboost.objectives.margin import MarginObjective
from radboost.objectives.names import OBJECTIVES, resolve_objective
from radboost.objectives.population import probabilities
from radboost.objectives.row_losses import margins_of, row_losses


def make_objective(
    name: str, loss: MarginLoss, class_ids: ClassIds, n_classes: int, weights: FloatArray | None, n_threads: int
) -> Objective:
    """The objective of that name on rows sorted by class. With two classes all names stand for the same one."""
    resolved = resolve_objective(name, loss)
    if n_classes == 2:
        return MarginObjective(resolved, loss, class_ids, weights, n_threads)
    return ClassObjective(resolved, loss, class_ids, n_classes, weights, n_threads)


__all__ = [
    "OBJECTIVES",
    "ClassObjective",
    "LossState",
    "MarginObjective",
    "Objective",
    "make_objective",
    "margins_of",
    "probabilities",
    "resolve_objective",
    "row_losses",
]
