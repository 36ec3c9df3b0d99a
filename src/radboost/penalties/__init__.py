"""Penalties: their value, the exact update of one coordinate or one row, and the distance to optimality along it."""

from __future__ import annotations

from radboost._validation import resolve
from radboost.engine import descents, slope
from radboost.penalties.l1 import L1
from radboost.penalties.l1_l2 import L1L2
from radboost.penalties.l1_linf import L1Linf
from radboost.penalties.rows import RowPenalty
from radboost.penalties.squared_l2 import SquaredL2
from radboost.penalties.weighted_l1 import WeightedL1, closed_form_step, on_grid

ROW_PENALTIES: dict[str, type[RowPenalty]] = {penalty.name: penalty for penalty in (L1, L1L2, L1Linf, SquaredL2)}


def get_row_penalty(penalty: str) -> RowPenalty:
    """The penalty of a name."""
    return resolve("penalty", penalty, ROW_PENALTIES, RowPenalty, "an object of radboost.penalties")  # type: ignore[type-abstract]


__all__ = [
    "L1",
    "L1L2",
    "ROW_PENALTIES",
    "L1Linf",
    "RowPenalty",
    "SquaredL2",
    "WeightedL1",
    "closed_form_step",
    "descents",
    "get_row_penalty",
    "on_grid",
    "slope",
]
