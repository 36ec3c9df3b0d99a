"""Fitted models: hypotheses, weights, and of boosted ones the steps that led to them."""

from radboost.ensemble.boosted import Ensemble
from radboost.ensemble.sparse import SparseEnsemble

__all__ = ["Ensemble", "SparseEnsemble"]
