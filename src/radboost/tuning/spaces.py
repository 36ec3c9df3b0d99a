"""Settings that a search tries: ones that are good on most data, and neighbors of the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from radboost.estimators._rgb_trials import SMALL_SIZES, most_rounds
from radboost.estimators.deepboost import AUTOMATIC, AUTOMATIC_RATE, AUTOMATIC_ROUNDS
from radboost.families import TreeFamilies, Trees, get_families
from radboost.losses import get_loss
from radboost.objectives import OBJECTIVES
from radboost.trees import TreeOptions

# Values of parameters and tree options of an estimator, by name.
Setting = dict[str, Any]

# Parameters that cannot differ between settings, with the reason, for messages.
FIXED = {
    "n_jobs": "it is a parameter of the search",
    "random_state": "it is a parameter of the search",
    "verbose": "it is a parameter of the search",
    "early_stopping": "the number of rounds is read off the folds",
    "warm_start": "settings are fitted from scratch",
    "calibration": "give it to the estimator",
    "categorical_features": "rows are prepared once, for all settings: give it to the estimator",
    "class_weight": "rows are prepared once, for all settings: give it to the estimator",
    "max_bins": "rows are prepared once, for all settings: give it to the estimator",
    "cost": "it says what is to be minimised: give it to the estimator",
    "decision": "it says what is to be minimised: give it to the estimator",
}
# Smaller steps: the factor on rounds and divisor of the rate, the largest number of rounds, and the rate to stop at.
SLOWER, MOST_ROUNDS, SLOW = 3, 4000, 0.04
DEEPEST, SHALLOWEST, MOST_LEAVES = 14, 2, 1024


def used_by_deepboost(model: Any) -> Setting:
    """Setting of a fitted model, with the resolved values of "auto"."""
    return dict(model.chosen_)


def used_by_rgb(model: Any) -> Setting:
    chosen = dict(model.chosen_)
    largest = chosen.pop("largest_size")
    if model.family is None:
        chosen["family"] = TreeFamilies(sizes=[size for size in TreeFamilies().sizes if size <= largest])
    return chosen


def used_by_softmax(model: Any) -> Setting:
    return {"n_rounds": model.n_rounds, "learning_rate": model.learning_rate_}


def around_deepboost(used: Setting, base: Any, n_classes: int) -> list[Setting]:
    """Votes and leaves that hold numbers, with more and less penalty, depth and randomness."""
    several = n_classes > 2
    penalty, depth = AUTOMATIC["complexity_penalty"][several], int(AUTOMATIC["max_depth"][several])
    steps = used if used["leaves"] == "votes" else {"n_rounds": AUTOMATIC_ROUNDS, "learning_rate": AUTOMATIC_RATE}
    votes = {
        "n_rounds": steps["n_rounds"],
        "learning_rate": steps["learning_rate"],
        "complexity_penalty": penalty,
        "max_depth": depth,
        "thresholds": "random",
        "leaves": "votes",
    }
    rated = {**votes, "n_rounds": 400, "learning_rate": 0.05, "complexity_penalty": 0.003, "leaves": "rated"}
    exact = {"thresholds": "best", "subsample": 0.5}
    changes: list[tuple[Setting, Setting]] = [
        (votes, {"split_criterion": "edge"}),
        (votes, {**exact, "complexity_penalty": penalty / 3}),
        (rated, exact),
        (votes, {"max_depth": depth // 2}),
        (rated, {"complexity_penalty": 0.02}),
        (votes, {}),
        (rated, {"thresholds": "best"}),
        (votes, {"split_criterion": "edge", "subsample": 0.5}),
        (rated, {}),
        (votes, exact),
        (votes, {"complexity_penalty": 3 * penalty}),
        (votes, {"complexity_penalty": penalty / 3}),
        (rated, {"complexity_penalty": 0.0005}),
        (votes, {"max_features": None}),
        (rated, {"subsample": 0.5, "max_depth": depth - 2}),
        (rated, {"max_depth": depth + 3}),
        (votes, {"max_depth": depth + 3}),
        (rated, {"complexity_penalty": 0.02, "max_depth": depth - 2}),
        (votes, {"split_criterion": "edge", "complexity_penalty": penalty / 3}),
        (votes, {"max_depth": depth + 3, "complexity_penalty": penalty / 3}),
    ]
    may_rate = _leaves_may_hold_numbers(base)
    return [{**used, **start, **change} for start, change in changes if start is votes or may_rate]


def _leaves_may_hold_numbers(base: Any) -> bool:
    """Return True if auto-tuning of this estimator could choose numbers in leaves."""
    families = get_families(base.family)
    return (
        len(families) == 1
        and isinstance(families[0], Trees)
        and get_loss(base.loss).native
        and OBJECTIVES[base.objective].rates_leaves
        and base.step in ("auto", "line_search")
    )


def beside_deepboost(setting: Setting, base: Any) -> Iterator[Setting]:
    """Neighbors of a setting, which differ in one parameter."""
    votes = setting["leaves"] == "votes"
    penalty, depth, fraction = setting["complexity_penalty"], setting["max_depth"], setting.get("subsample", 1.0)
    yield {**setting, "complexity_penalty": penalty * 3 or 0.001}
    yield {**setting, "complexity_penalty": penalty / 3}
    yield {**setting, "subsample": 0.5 if fraction > 0.5 else 1.0}
    yield {**setting, "max_depth": min(DEEPEST, depth + 2)}
    yield {**setting, "max_depth": max(SHALLOWEST, depth - 2)}
    if votes:
        criterion = setting.get("split_criterion", "gini")
        yield {**setting, "split_criterion": "edge" if criterion == "gini" else "gini"}
    yield {**setting, "thresholds": "best" if setting["thresholds"] == "random" else "random"}
    yield {**setting, "subsample": fraction / 2}
    yield {**setting, "max_features": None if setting.get("max_features", 0) is not None else 1.0 / 3.0}
    yield {**setting, "max_features": "sqrt"}


def around_rgb(used: Setting, base: Any, n_classes: int) -> list[Setting]:
    """Trees of other sizes, other penalties, and more and less randomness."""
    most = most_rounds(max(1, n_classes) if n_classes > 2 else 1)
    start = {**used, "n_rounds": min(most, max(100, round(1.5 * used["n_rounds"])))}
    other = "best" if used["thresholds"] == "random" else "random"
    changes: list[Setting] = [
        {},
        {"complexity_penalty": 0.0 if used["complexity_penalty"] else 0.3},
        {"thresholds": other},
        {"subsample": 0.6},
        {"complexity_penalty": 1.0},
        {"family": TreeFamilies(sizes=SMALL_SIZES[:3])},
        {"family": TreeFamilies()},
        {"max_features": 1.0 / 3.0},
        {"min_leaf_weight": 5.0},
        {"thresholds": other, "complexity_penalty": 0.0 if used["complexity_penalty"] else 0.3},
        {"thresholds": other, "max_features": 1.0 / 3.0},
        {"family": TreeFamilies(sizes=SMALL_SIZES[:3]), "complexity_penalty": 0.0},
        {"family": TreeFamilies(), "complexity_penalty": 0.0},
        {"min_leaf_weight": 10.0, "subsample": 0.6},
    ]
    free = {"family"} if base.family is None else set()
    return [{**start, **change} for change in changes if "family" not in change or free]


def beside_rgb(setting: Setting, base: Any) -> Iterator[Setting]:
    penalty, fraction, leaf_weight = setting["complexity_penalty"], setting["subsample"], setting["min_leaf_weight"]
    yield {**setting, "complexity_penalty": 3 * penalty or 0.03}
    yield {**setting, "complexity_penalty": penalty / 3}
    yield {**setting, "subsample": min(1.0, 2 * fraction)}
    yield {**setting, "subsample": fraction / 2}
    yield {**setting, "min_leaf_weight": max(1.0, 2.5 * leaf_weight)}
    yield {**setting, "min_leaf_weight": leaf_weight / 2.5}
    yield {**setting, "thresholds": "best" if setting["thresholds"] == "random" else "random"}
    yield {**setting, "max_features": 0.5}
    yield {**setting, "max_features": None}


def around_softmax(used: Setting, base: Any, n_classes: int) -> list[Setting]:
    """Trees of other sizes, and larger learning rates."""
    leaves, rate = base.max_leaves, used["learning_rate"]
    changes: list[Setting] = [
        {"learning_rate": 2 * rate},
        {"max_leaves": max(2, leaves // 2)},
        {"max_leaves": 2 * leaves},
        {"thresholds": "best"},
        {"max_leaves": max(2, leaves // 4)},
        {"learning_rate": 4 * rate},
        {"thresholds": "best", "max_leaves": max(2, leaves // 2)},
        {"max_features": None},
        {"min_leaf_weight": 10.0},
        {"max_leaves": 4 * leaves},
    ]
    return [{**used, **change} for change in changes]


def beside_softmax(setting: Setting, base: Any) -> Iterator[Setting]:
    leaves = setting.get("max_leaves", base.max_leaves)
    yield {**setting, "max_leaves": min(MOST_LEAVES, 2 * leaves)}
    yield {**setting, "max_leaves": max(2, leaves // 2)}
    yield {**setting, "thresholds": "best" if setting.get("thresholds", "random") == "random" else "random"}
    yield {**setting, "min_leaf_weight": 3.0 * setting.get("min_leaf_weight", 3.0)}
    yield {**setting, "min_leaf_weight": setting.get("min_leaf_weight", 3.0) / 3.0}
    yield {**setting, "max_features": None}


def smaller_steps(setting: Setting) -> Setting | None:
    """Setting with smaller and more steps; None if they are already small, or would be too many."""
    n_rounds = SLOWER * setting["n_rounds"]
    if n_rounds > MOST_ROUNDS or setting["learning_rate"] <= SLOW:
        return None
    return {**setting, "n_rounds": n_rounds, "learning_rate": setting["learning_rate"] / SLOWER}


def in_grid(param_grid: Any, base: Any, allowed: Sequence[str]) -> list[Setting]:
    """Settings of a grid: the combinations of the values of a dict of lists, or of each of several such dicts."""
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    if not isinstance(grids, list | tuple) or not all(isinstance(grid, Mapping) for grid in grids):
        raise TypeError(
            f"param_grid must be a dict from names to lists of values, or a list of such dicts; got {param_grid!r}."
        )
    settings: list[Setting] = []
    for grid in grids:
        for name, values in grid.items():
            if name in FIXED:
                raise ValueError(f"param_grid has {name!r}, which cannot differ between settings: {FIXED[name]}.")
            if name not in allowed:
                known = ", ".join(one for one in allowed if one not in FIXED)
                raise ValueError(
                    f"param_grid has {name!r}, which {type(base).__name__} does not have. Allowed are {known}."
                )
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                raise ValueError(f"param_grid[{name!r}] must be a list with one value or more; got {values!r}.")
        settings += [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not any(grid for grid in grids):
        raise ValueError("param_grid is empty: there is nothing to choose from. Give it a name and a list of values.")
    return settings


def names_of(estimator: type[Any]) -> list[str]:
    """Names allowed in a setting: parameters of the estimator, and the tree options that it reads."""
    parameters = [name for name in signature(estimator).parameters if name != "self"]
    return [*parameters, *(name for name in estimator._tree_options_read if name not in parameters)]


def given_options(base: Any) -> Setting:
    """Tree options that differ from their defaults."""
    options = base.tree_options
    if not isinstance(options, TreeOptions):
        return {}
    plain = TreeOptions()
    return {name: getattr(options, name) for name in base._tree_options_read if _differ(options, plain, name)}


def _differ(one: TreeOptions, other: TreeOptions, name: str) -> bool:
    return bool(getattr(one, name) is not getattr(other, name) and getattr(one, name) != getattr(other, name))


def fixed_by_user(base: Any, names: Sequence[str]) -> Setting:
    """Parameters and tree options that differ from their defaults: a search without a grid leaves them alone."""
    plain = type(base)()
    parameters = base.get_params(deep=False)
    fixed = {
        name: value
        for name, value in parameters.items()
        if name in names and name != "tree_options" and not _same(value, getattr(plain, name))
    }
    return {**fixed, **given_options(base)}


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(np.all(one == other)))


@dataclass(frozen=True)
class Space:
    """Search space: the setting of a default fit, settings around it, and neighbors of one of them.

    The last argument of `around` is the number of classes. `slower` returns a setting with smaller steps, or None.
    """

    used: Callable[[Any], Setting]
    around: Callable[[Setting, Any, int], list[Setting]]
    neighbors: Callable[[Setting, Any], Iterator[Setting]]
    slower: Callable[[Setting], Setting | None] | None = None


DEEPBOOST = Space(used_by_deepboost, around_deepboost, beside_deepboost, smaller_steps)
RGB = Space(used_by_rgb, around_rgb, beside_rgb, smaller_steps)
SOFTMAX = Space(used_by_softmax, around_softmax, beside_softmax)
