"""The native tree engine: binned data, growth, and prediction."""

from radboost.trees.binner import bin_rows
from radboost.trees.given_weights import GivenTrees, quantise
from radboost.trees.grower import GrowthSettings, TreeOptions, make_gradient_grower, make_grower
from radboost.trees.regression import constant_tree, regression_tree
from radboost.trees.tree import Tree, forest_of

__all__ = [
    "GivenTrees",
    "GrowthSettings",
    "Tree",
    "TreeOptions",
    "bin_rows",
    "constant_tree",
    "forest_of",
    "make_gradient_grower",
    "make_grower",
    "quantise",
    "regression_tree",
]
