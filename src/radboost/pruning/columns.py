"""Ensembles over the columns that their trees split on.

Sparse rows may have a hundred thousand columns, of which trees split on a few hundred: dense copies of these are
small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.trees.tree import Tree

Indices = npt.NDArray[np.intp]


def asked_columns(ensemble: Ensemble) -> Indices:
    """Indices of columns that trees split on, ascending, at least one; all columns if a hypothesis is not a tree."""
    trees = [one for one in ensemble.hypotheses if isinstance(one, Tree)]
    if len(trees) < len(ensemble):
        return np.arange(ensemble.n_features)
    asked = sorted({column for tree in trees for column in tree.columns})
    return np.array(asked or [0], dtype=np.intp)


def narrowed(whole: Ensemble, columns: Indices) -> Ensemble:
    """Ensemble for rows with only these columns, without column names."""
    if len(columns) == whole.n_features:
        return whole
    new_index = np.full(whole.n_features, -1)
    new_index[columns] = np.arange(len(columns))
    trees = _moved(whole.hypotheses, new_index, len(columns))
    return of_one_round(whole, trees, whole.weights, whole.complexities, n_features=len(columns))


def widened(narrow: Ensemble, whole: Ensemble, columns: Indices) -> Ensemble:
    """Inverse: ensemble for rows with all columns, with their names."""
    if narrow.n_features == whole.n_features:
        return narrow
    trees = _moved(narrow.hypotheses, columns, whole.n_features)
    return of_one_round(whole, trees, narrow.weights, narrow.complexities, n_features=whole.n_features)


def of_one_round(
    like: Ensemble, hypotheses: Sequence[Any], weights: FloatArray, complexities: FloatArray, *, n_features: int
) -> Ensemble:
    """Ensemble of these hypotheses, entered in one round; everything else as in `like`."""
    steps = np.zeros(len(hypotheses), dtype=STEP_TYPE)
    steps["hypothesis"], steps["eta"] = np.arange(len(hypotheses)), weights
    same_columns = n_features == like.n_features
    return Ensemble(
        hypotheses,
        complexities.tolist(),
        steps,
        n_rounds=1,
        n_features=n_features,
        n_families=like.n_families,
        sample_size=like.sample_size,
        feature_names=like.feature_names if same_columns else None,
        n_outputs=like.n_outputs,
        categories=like.categories if same_columns else None,
    )


def _moved(trees: Sequence[Any], new_index: Indices, n_features: int) -> list[Tree]:
    """Trees whose column j is column new_index[j] of n_features."""
    return [tree.with_columns(new_index, n_features) for tree in trees]
