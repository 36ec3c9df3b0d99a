"""The native tree engine: binned data, growth, and prediction."""

from radboost.trees.binner import bin_rows
from radboost.trees.given_weights import GivenTrees, quantize
from radboost.trees.grower import Constraints, GrowthSettings, make_gradient_grower, make_grower
from radboost.trees.options import TreeOptions, read_tree_options, with_tree_options
from radboost.trees.row_blocks import RowBlocks
from radboost.trees.tree import Tree, forest_of

__all__ = [
    "Constraints",
    "GivenTrees",
    "GrowthSettings",
    "RowBlocks",
    "Tree",
    "TreeOptions",
    "bin_rows",
    "forest_of",
    "make_gradient_grower",
    "make_grower",
    "quantize",
    "read_tree_options",
    "with_tree_options",
]
