"""The fitted model: hypotheses, weights, and the steps that led to them."""

from radboost.ensemble.model import Ensemble

__all__ = ["Ensemble"]
