"""Reasons to trust a model: its margins, and a bound on its true error (``docs/theory.md``)."""

from radboost.guarantees.bounds import MarginBound, bound
from radboost.guarantees.conformal import ConformalPredictor, conformal
from radboost.guarantees.holdout import HoldoutLimit, holdout
from radboost.guarantees.kernel_projection import ProjectionBound, projection_bound
from radboost.guarantees.margins import RHO_GRID, margins
from radboost.guarantees.several_losses import AgnosticBound, agnostic_bound

__all__ = [
    "RHO_GRID",
    "AgnosticBound",
    "ConformalPredictor",
    "HoldoutLimit",
    "MarginBound",
    "ProjectionBound",
    "agnostic_bound",
    "bound",
    "conformal",
    "holdout",
    "margins",
    "projection_bound",
]
