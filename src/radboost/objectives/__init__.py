"""Objectives: from labels and scores to row weights, values, line searches and probabilities."""

from radboost.objectives.margin import LossState, MarginObjective
from radboost.objectives.names import OBJECTIVES, resolve_objective
from radboost.objectives.population import probabilities

__all__ = ["OBJECTIVES", "LossState", "MarginObjective", "probabilities", "resolve_objective"]
