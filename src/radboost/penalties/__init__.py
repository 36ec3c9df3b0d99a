"""Penalties: their value, the exact update of one coordinate or one row, and how much it violates optimality."""

from __future__ import annotations

from typing import Any

from radboost._members import class_named, import_members
from radboost._validation import resolve
from radboost.engine import descents, slope
from radboost.penalties.base import EnsemblePenalty, check_linear
from radboost.penalties.rows import ROW_PENALTIES, RowPenalty
from radboost.penalties.weighted_l1 import WeightedL1, closed_form_step, on_grid


def get_row_penalty(penalty: str) -> RowPenalty:
    """The penalty of a name."""
    return resolve("penalty", penalty, ROW_PENALTIES, RowPenalty, "an object of radboost.penalties")  # type: ignore[type-abstract]


def __getattr__(name: str) -> Any:
    """The class of a registered penalty."""
    return class_named(name, __name__, ROW_PENALTIES)


__all__ = [
    "ROW_PENALTIES",
    "EnsemblePenalty",
    "RowPenalty",
    "WeightedL1",
    "check_linear",
    "closed_form_step",
    "descents",
    "get_row_penalty",
    "on_grid",
    "slope",
]

import_members(__name__, __path__)
