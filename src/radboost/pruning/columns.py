"""An ensemble over the columns that it asks about alone.

Sparse rows may have a hundred thousand columns, of which trees ask about a few hundred: dense copies of these are
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

Places = npt.NDArray[np.intp]


def asked_columns(ensemble: Ensemble) -> Places:
    """In ascending order: one at least, and all of them where a hypothesis is no tree."""
    trees = [one for one in ensemble.hypotheses if isinstance(one, Tree)]
    if len(trees) < len(ensemble):
        return np.arange(ensemble.n_features)
    asked = sorted({column for tree in trees for column in tree.columns})
    return np.array(asked or [0], dtype=np.intp)


def narrowed(whole: Ensemble, columns: Places) -> Ensemble:
    """The same sum of trees for rows that have these columns alone; its columns have no names."""
    if len(columns) == whole.n_features:
        return whole
    places = np.full(whole.n_features, -1)
    places[columns] = np.arange(len(columns))
    trees = _moved(whole.hypotheses, places, len(columns))
    return of_one_round(whole, trees, whole.weights, whole.complexities, n_features=len(columns))


def widened(narrow: Ensemble, whole: Ensemble, columns: Places) -> Ensemble:
    """What was made of the narrowed ensemble, for rows that have all columns, with their names."""
    if narrow.n_features == whole.n_features:
        return narrow
    trees = _moved(narrow.hypotheses, columns, whole.n_features)
    return of_one_round(whole, trees, narrow.weights, narrow.complexities, n_features=whole.n_features)


def of_one_round(
    like: Ensemble, hypotheses: Sequence[Any], weights: FloatArray, complexities: FloatArray, *, n_features: int
) -> Ensemble:
    """These hypotheses, each of which takes its step in one round; all else as in another ensemble."""
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


def _moved(trees: Sequence[Any], places: Places, n_features: int) -> list[Tree]:
    """The same trees, whose column j is column places[j] of n_features."""
    return [tree.with_columns(places, n_features) for tree in trees]
