"""Objectives: from classes and scores to row weights, values, line searches and probabilities.

Each objective stands in a file of its own and registers itself (`radboost.objectives.base`).
"""

from radboost._members import import_members
from radboost.objectives.base import OBJECTIVES, CostOfAnyLoss, RowCost, margins_of
from radboost.objectives.objective import LossState, Objective, resolve_objective, row_cost

__all__ = [
    "OBJECTIVES",
    "CostOfAnyLoss",
    "LossState",
    "Objective",
    "RowCost",
    "margins_of",
    "resolve_objective",
    "row_cost",
]

import_members(__name__, __path__)
