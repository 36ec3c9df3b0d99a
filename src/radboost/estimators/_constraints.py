"""Constraints on what trees may do with columns, read from the options of the trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from radboost.families import Family
from radboost.rows.categories import Categories
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.trees import Constraints, TreeOptions

NAMES_SHOWN = 10  # of columns, in an error
NAMES = ("monotonic_constraints", "interaction_constraints")
# Interaction constraints by name: the most columns that may stand together.
MOST_COLUMNS = {"no_interactions": 1, "pairwise": 2}


def check_families(families: Sequence[Family], options: TreeOptions) -> None:
    """Refuses constraints where a family has hypotheses that would not keep to them."""
    given = [name for name in NAMES if getattr(options, name) is not None]
    for family in families:
        if given and not family.of_trees:
            raise ValueError(
                f"{given[0]} are for trees, and the family {family!r} proposes what would not keep to them. Take "
                'family="trees", "stumps" or "stump_pairs", or leave the constraints out.'
            )


def read_constraints(options: TreeOptions | None, rows: CheckedRows | PreparedRows, n_outputs: int) -> Constraints:
    """The constraints among the options, for the columns of these rows."""
    if options is None:
        return Constraints()
    names, n_features = rows.column_names, rows.n_features
    directions = read_directions(options.monotonic_constraints, names, n_features, rows.categories, n_outputs)
    return Constraints(directions, *read_groups(options.interaction_constraints, names, n_features))


def constraints_then_and_now(fitted: Any, now: Constraints) -> dict[str, tuple[Any, Any]]:
    """Options of constraints -> (value in the last fit, value now); equal for models from files, which keep no note."""
    then = getattr(fitted, "_constraints", now)
    return {
        "monotonic_constraints": (then.directions, now.directions),
        "interaction_constraints": ((then.groups, then.most_columns), (now.groups, now.most_columns)),
    }


def read_groups(given: Any, column_names: list[Any] | None, n_features: int) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The option `interaction_constraints` as groups of columns, and the most columns of a path (0: any number)."""
    if given is None:
        return (), 0
    if isinstance(given, str) and given in MOST_COLUMNS:
        return (), MOST_COLUMNS[given]
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed or not all(isinstance(group, list | tuple | set | frozenset) and group for group in given):
        raise ValueError(
            'interaction_constraints must be "pairwise", "no_interactions" or a list of groups of columns, such as '
            f"[[0, 1], [2, 3]]; got {given!r}."
        )
    groups = [{_column("interaction_constraints", key, column_names, n_features) for key in group} for group in given]
    rest = set(range(n_features)).difference(*groups)
    return tuple(sorted(tuple(sorted(group)) for group in [*groups, rest] if group)), 0


def read_directions(
    given: Any, column_names: list[Any] | None, n_features: int, categories: Categories, n_outputs: int
) -> tuple[int, ...]:
    """The option `monotonic_constraints` as one number per column; empty where there are none."""
    if given is None:
        return ()
    directions = [0] * n_features
    if isinstance(given, Mapping):
        for key, direction in given.items():
            column = _column("monotonic_constraints", key, column_names, n_features)
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


def _column(option: str, key: Any, column_names: list[Any] | None, n_features: int) -> int:
    """The index of a column that an option names, or gives by its index."""
    names = column_names or []
    column = names.index(key) if key in names else key
    if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < n_features:
        shown = f" ({names})" if names else ", without names"
        if len(names) > NAMES_SHOWN:
            shown = f", {len(names)} together, which begin with {names[:NAMES_SHOWN]}"
        raise ValueError(f"{option} names the column {key!r}; X has the columns 0 to {n_features - 1}{shown}.")
    return int(column)
