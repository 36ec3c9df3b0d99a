"""Reasons to trust a model: its margins, and a bound on its true error (``docs/theory.md``)."""

from radboost.guarantees.bounds import RHO_GRID, MarginBound, bound
from radboost.guarantees.margins import margins

__all__ = ["RHO_GRID", "MarginBound", "bound", "margins"]
