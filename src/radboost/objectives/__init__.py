"""Objectives: from labels and scores to row weights, values and line searches."""

from radboost.objectives.margin import LossState, MarginObjective

__all__ = ["LossState", "MarginObjective"]
