"""Constraints on what trees may do with columns, read from the options of the trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from radboost.families import Family
from radboost.rows.categories import Categories
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.trees import Constraints, TreeOptions


def check_families(families: Sequence[Family], options: TreeOptions) -> None:
    """Refuses constraints where a family has hypotheses that would not keep to them."""
    for family in families:
        if options.monotonic_constraints is not None and not family.of_trees:
            raise ValueError(
                f"monotonic_constraints are for trees, and the family {family!r} proposes what would not keep "
                'to them. Take family="trees", "stumps" or "stump_pairs", or leave the constraints out.'
            )


def read_constraints(options: TreeOptions | None, rows: CheckedRows | PreparedRows, n_outputs: int) -> Constraints:
    """The constraints among the options, for the columns of these rows."""
    if options is None:
        return Constraints()
    given = rows.rows if isinstance(rows, CheckedRows) else rows
    return Constraints(
        read_directions(options.monotonic_constraints, rows.column_names, given.n_features, given.categories, n_outputs)
    )


def check_same_constraints(fitted: Any, now: Constraints) -> None:
    """A warm start must go on with the constraints of the last fit; models from files have no note of them."""
    if getattr(fitted, "_constraints", now).directions != now.directions:
        raise ValueError(
            "warm_start=True continues the last fit, which had other monotonic_constraints. Set "
            "warm_start=False to start again."
        )


def read_directions(
    given: Any, column_names: list[Any] | None, n_features: int, categories: Categories, n_outputs: int
) -> tuple[int, ...]:
    """The option `monotonic_constraints` as one number per column; empty where there are none."""
    if given is None:
        return ()
    directions = [0] * n_features
    if isinstance(given, Mapping):
        names = column_names or []
        for key, direction in given.items():
            column = names.index(key) if key in names else key
            if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < n_features:
                raise ValueError(
                    f"monotonic_constraints names the column {key!r}; X has the columns 0 to {n_features - 1}"
                    f"{f' ({names[:10]})' if names else ', without names'}."
                )
            directions[column] = _direction(direction)
    else:
        listed = list(np.asarray(given, dtype=object).reshape(-1)) if not isinstance(given, str) else []
        if len(listed) != n_features:
            raise ValueError(
                "monotonic_constraints must be a list with -1, 0 or 1 for each of the "
                f"{n_features} columns, or a dict from columns to these; got {given!r}."
            )
        directions = [_direction(entry) for entry in listed]
    if not any(directions):
        return ()
    if n_outputs > 1:
        raise ValueError(
            "monotonic_constraints are for one target or two classes: more classes or targets have no order."
        )
    for column in categories:
        if directions[column]:
            raise ValueError(f"monotonic_constraints names column {column}, which is categorical and has no order.")
    return tuple(directions)


def _direction(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or value not in (-1, 0, 1):
        raise ValueError(f"An entry of monotonic_constraints must be -1, 0 or 1; got {value!r}.")
    return int(value)
