"""Conversion of an ensemble to arrays for model files, and back with checks of untrusted arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category
from radboost.families.kinds import Shape
from radboost.families.stored import read_hypotheses, write_hypotheses
from radboost.model_file.checks import read_array, read_integer, read_names, require

if TYPE_CHECKING:
    from radboost.ensemble.boosted import Ensemble

STEP_TYPE = np.dtype([("round", "<i4"), ("hypothesis", "<i4"), ("eta", "<f8")])
MOST_CATEGORIES = 255
LARGEST_INDEX = 2**31 - 1
LARGEST_STEP = 2.0**512  # of steps and weights, so that no sum of them is infinite


def write_ensemble(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """A JSON-able header and the arrays."""
    kinds, stored = write_hypotheses(ensemble.entered, ensemble.n_features, boosted=True)
    header: dict[str, Any] = {
        "n_rounds": ensemble.n_rounds,
        "n_features": ensemble.n_features,
        "n_outputs": ensemble.n_outputs,
        "n_families": ensemble.n_families,
        "sample_size": ensemble.sample_size,
        "feature_names": None if ensemble.feature_names is None else list(ensemble.feature_names),
        "categories": [
            {"column": column, "values": list(values)} for column, values in sorted(ensemble.categories.items())
        ],
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "is_tree": kinds,  # kind of each hypothesis; 1: a tree
        "complexities": ensemble.entered_complexities,
        "step_round": ensemble.steps["round"].copy(),
        "step_hypothesis": ensemble.steps["hypothesis"].copy(),
        "step_eta": ensemble.steps["eta"].copy(),
    }
    return {**header, **stored.header}, {**arrays, **stored.arrays}


def read_ensemble(cls: type[Ensemble], header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Ensemble:
    n_features = read_integer(header, "n_features", 1)
    n_outputs = read_integer(header, "n_outputs", 1, LARGEST_INDEX)
    categories = _read_categories(header, n_features)
    shape = Shape(n_features, n_outputs, categories)
    hypotheses = read_hypotheses("is_tree", header, arrays, shape, boosted=True)
    n_hypotheses = len(hypotheses)
    complexities = read_array(arrays, "complexities", "<f8", n_hypotheses)
    require(bool(np.isfinite(complexities).all() and (complexities >= 0).all()), "a complexity is not a finite number")
    names = read_names(header, n_features)
    size = header.get("sample_size")
    require(
        isinstance(size, int | float) and not isinstance(size, bool) and math.isfinite(size) and size > 0,
        f"sample_size is {size!r}, not a positive number",
    )
    n_rounds = read_integer(header, "n_rounds", 0)
    ensemble = cls(
        hypotheses,
        list(complexities),
        _read_steps(arrays, n_hypotheses, n_rounds),
        n_rounds=n_rounds,
        n_features=n_features,
        n_families=read_integer(header, "n_families", 1),
        sample_size=float(size),  # type: ignore[arg-type]
        feature_names=names,
        n_outputs=n_outputs,
        categories=categories,
    )
    if n_outputs > 1:
        require(bool((ensemble.weights >= 0).all()), "a weight is negative, and there are more than two classes")
    return ensemble


def _read_steps(arrays: Mapping[str, npt.NDArray[Any]], n_hypotheses: int, n_rounds: int) -> npt.NDArray[np.void]:
    rounds = read_array(arrays, "step_round", "<i4")
    indices = read_array(arrays, "step_hypothesis", "<i4", len(rounds))
    etas = read_array(arrays, "step_eta", "<f8", len(rounds))
    require(bool((np.abs(etas) <= LARGEST_STEP).all()), "a step is infinite or absurdly large")
    in_range = (indices >= 0) & (indices < n_hypotheses) & (rounds >= 0) & (rounds < n_rounds)
    require(bool(in_range.all()), "a step names a hypothesis or a round that does not exist")
    require(bool((np.diff(rounds) >= 0).all()), "the steps are not in the order of their rounds")
    steps = np.empty(len(rounds), dtype=STEP_TYPE)
    steps["round"], steps["hypothesis"], steps["eta"] = rounds, indices, etas
    return steps


def _read_categories(header: Mapping[str, Any], n_features: int) -> dict[int, tuple[Category, ...]]:
    """Columns in ascending order, their categories all different."""
    entries = header.get("categories")
    require(isinstance(entries, list), "the list of categorical columns is missing")
    categories: dict[int, tuple[Category, ...]] = {}
    for entry in entries or ():
        described = isinstance(entry, dict) and set(entry) == {"column", "values"}
        require(described, "a categorical column has no number or no values")
        column, values = read_integer(entry, "column", max(categories, default=-1) + 1, n_features - 1), entry["values"]
        plain = isinstance(values, list) and all(type(value) in (bool, int, float, str) for value in values)
        require(plain, f"the categories of column {column} are not strings, numbers or booleans")
        require(len(values) <= MOST_CATEGORIES, f"column {column} has more than {MOST_CATEGORIES} categories")
        require(len(set(values)) == len(values), f"two categories of column {column} are equal")
        categories[column] = tuple(values)
    return categories
