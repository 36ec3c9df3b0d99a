"""An ensemble as arrays, and back from arrays that nobody vouches for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray
from radboost.families.base import Hypothesis
from radboost.families.kernel import KERNELS, KernelHypothesis
from radboost.model_file.checks import read_array, read_integer, read_names, require
from radboost.trees.arrays import read_trees, write_trees
from radboost.trees.tree import Tree

if TYPE_CHECKING:
    from radboost.ensemble.model import Ensemble

STEP_TYPE = np.dtype([("round", "<i4"), ("hypothesis", "<i4"), ("eta", "<f8")])
MOST_CATEGORIES = 255
LARGEST_INDEX = 2**31 - 1
LARGEST_STEP = 2.0**512  # no sum of these is infinite


def write_ensemble(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """A JSON-able header and the arrays."""
    trees = [h for h in ensemble.entered if isinstance(h, Tree)]
    kernels = [h for h in ensemble.entered if isinstance(h, KernelHypothesis)]
    if len(trees) + len(kernels) != len(ensemble.entered):
        raise ValueError("Only trees and kernel hypotheses can be stored; this ensemble has others.")
    real = any(_holds_numbers(tree) for tree in trees)
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
        "kernels": [h.kernel if isinstance(h.kernel, str) else None for h in kernels],
    }
    if real:
        header["leaves"] = "numbers"  # otherwise signs, or votes
    arrays: dict[str, npt.NDArray[Any]] = {
        "is_tree": np.array([isinstance(h, Tree) for h in ensemble.entered], dtype="u1"),
        "complexities": ensemble.entered_complexities,
        "step_round": ensemble.steps["round"].copy(),
        "step_hypothesis": ensemble.steps["hypothesis"].copy(),
        "step_eta": ensemble.steps["eta"].copy(),
        "kernel_gammas": np.array([h.gamma for h in kernels], dtype="<f8"),
        "kernel_classes": np.array([h.class_index or 0 for h in kernels], dtype="<i4"),
        "kernel_centres": np.array([h.centre for h in kernels], dtype="<f8").reshape(len(kernels), ensemble.n_features),
    }
    arrays |= write_trees(trees)
    return header, arrays


def _holds_numbers(tree: Tree) -> bool:
    """Whether the leaves are neither signs nor votes."""
    return tree.vectors is not None or (
        tree.n_outputs == 1 and bool((np.abs(tree.value[tree.feature < 0]) != 1.0).any())
    )


class MissingKernel:
    """Stands in for a kernel function that was not stored with the model."""

    def __call__(self, centres: FloatArray, rows: FloatArray) -> FloatArray:
        raise ValueError(
            "This model uses a kernel function of its author's that the file does not contain, so it cannot score. "
            "Put the function back: for h in model.ensemble_.hypotheses: h.kernel = your_kernel"
        )


def read_ensemble(cls: type[Ensemble], header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Ensemble:
    n_features = read_integer(header, "n_features", 1)
    n_outputs = read_integer(header, "n_outputs", 1, LARGEST_INDEX)
    is_tree = read_array(arrays, "is_tree", "u1")
    n_hypotheses = len(is_tree)
    categories = _read_categories(header, n_features)
    real = header.get("leaves", "signs") == "numbers"
    trees = read_trees(arrays, n_features, n_outputs, int((is_tree != 0).sum()), categories, real)
    kernels = _read_kernels(header, arrays, n_features, n_outputs, n_hypotheses - len(trees))
    tree_queue, kernel_queue = iter(trees), iter(kernels)
    hypotheses: list[Hypothesis] = [next(tree_queue) if flag else next(kernel_queue) for flag in is_tree]
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


def _read_kernels(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], n_features: int, n_outputs: int, n_kernels: int
) -> list[KernelHypothesis]:
    names = header.get("kernels")
    require(isinstance(names, list) and len(names) == n_kernels, "the list of kernels does not fit")
    gammas = read_array(arrays, "kernel_gammas", "<f8", n_kernels)
    classes = read_array(arrays, "kernel_classes", "<i4", n_kernels)
    require(bool(((classes >= 0) & (classes < n_outputs)).all()), "a kernel speaks for a class that does not exist")
    require("kernel_centres" in arrays, "the array 'kernel_centres' is missing")
    centres = arrays["kernel_centres"]
    require(
        centres.dtype == np.dtype("<f8")
        and centres.shape == (n_kernels, n_features)
        and bool(np.isfinite(centres).all()),
        "the centres of the kernels do not fit",
    )
    require(bool(np.isfinite(gammas).all()), "a kernel parameter is not a finite number")
    kernels = []
    for name, gamma, centre, index in zip(names or [], gammas.tolist(), centres, classes.tolist(), strict=True):
        require(name is None or name in KERNELS, f"unknown kernel {str(name)[:40]!r}")
        kernel = name if name is not None else MissingKernel()
        class_index = None if n_outputs == 1 else index
        kernels.append(KernelHypothesis(kernel, gamma, centre.copy(), class_index, n_outputs))
    return kernels
