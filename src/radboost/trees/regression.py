"""Regression trees for ensembles."""

from __future__ import annotations

from typing import Final

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import CutTree, RegressionTrees
from radboost.trees.tree import Tree, leaf_tree

GAIN: Final = 6  # index of the gains among the arrays of a tree


def regression_tree(
    grower: RegressionTrees, cut: CutTree, n_features: int, n_outputs: int, scale: float, factors: FloatArray
) -> Tree:
    """A tree after some of its splits; its gains are divided by `scale`.

    With several outputs the values of leaves are multiplied by `factors`, one for each output.
    """
    arrays = grower.arrays(cut)
    np.divide(arrays[GAIN], scale, out=arrays[GAIN])
    vectors = (arrays[-1].reshape(-1, n_outputs) * factors).reshape(-1) if n_outputs > 1 else None
    return Tree(arrays[:-3], n_features, cut.n_splits, n_outputs, *arrays[-3:-1], vectors)


def constant_tree(values: FloatArray, n_features: int, cover: float) -> Tree:
    """A tree without splits that predicts these values everywhere, one for each output."""
    if len(values) == 1:
        return leaf_tree(float(values[0]), n_features, cover=cover)
    return leaf_tree(0.0, n_features, cover=cover).with_values(np.zeros(1), len(values), values.copy())
