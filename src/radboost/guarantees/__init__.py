"""Reasons to trust a model: its margins, and a bound on its true error (``docs/theory.md``)."""

from radboost.guarantees.bounds import MarginBound, bound
from radboost.guarantees.conformal import ConformalPredictor, conformal
from radboost.guarantees.holdout import HoldoutLimit, holdout
from radboost.guarantees.kernel_projection import projection_bound
from radboost.guarantees.margins import RHO_GRID, margins
from radboost.guarantees.several_losses import AgnosticBound, agnostic_bound
from radboost.guarantees.sources import MixtureBound, SourcesBound, sources_bound

__all__ = [
    "RHO_GRID",
    "AgnosticBound",
    "ConformalPredictor",
    "HoldoutLimit",
    "MarginBound",
    "MixtureBound",
    "SourcesBound",
    "agnostic_bound",
    "bound",
    "conformal",
    "holdout",
    "margins",
    "projection_bound",
    "sources_bound",
]
