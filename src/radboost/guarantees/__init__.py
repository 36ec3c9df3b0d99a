"""Reasons to trust a model: its margins, and a bound on its true error (``docs/theory.md``)."""

from radboost.guarantees.bounds import MarginBound, bound
from radboost.guarantees.kernel_projection import ProjectionBound, projection_bound
from radboost.guarantees.margins import RHO_GRID, margins
from radboost.guarantees.several_losses import AgnosticBound, agnostic_bound

__all__ = [
    "RHO_GRID",
    "AgnosticBound",
    "MarginBound",
    "ProjectionBound",
    "agnostic_bound",
    "bound",
    "margins",
    "projection_bound",
]
