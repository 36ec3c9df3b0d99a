"""Objectives: from classes and scores to row weights, values, line searches and probabilities."""

from radboost.objectives.base import LossState, Objective
from radboost.objectives.names import OBJECTIVES, resolve_objective
from radboost.objectives.population import probabilities
from radboost.objectives.row_losses import margins_of, row_losses

__all__ = [
    "OBJECTIVES",
    "LossState",
    "Objective",
    "margins_of",
    "probabilities",
    "resolve_objective",
    "row_losses",
]
