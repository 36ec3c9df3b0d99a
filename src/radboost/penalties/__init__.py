"""Penalties: their value, the exact update of one coordinate, and the distance to optimality along it."""

from radboost.penalties.weighted_l1 import WeightedL1, closed_form_step, line_search_step, on_grid, slope

__all__ = ["WeightedL1", "closed_form_step", "line_search_step", "on_grid", "slope"]
