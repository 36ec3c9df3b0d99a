"""Penalties: their value, the exact update of one coordinate, and the distance to optimality along it."""

from radboost._native import descents, slope
from radboost.penalties.weighted_l1 import WeightedL1, closed_form_step, line_search_step, on_grid

__all__ = ["WeightedL1", "closed_form_step", "descents", "line_search_step", "on_grid", "slope"]
