"""Boosting with structural sparsity (Duchi and Singer, 2009): where features come from, and what models are made of."""

from radboost.ensemble.sparse import SparseEnsemble
from radboost.families.base import Hypothesis
from radboost.families.centres import Centre
from radboost.families.centres import KernelFeatures as Kernel
from radboost.families.columns import Column, Product, Products
from radboost.families.generators import GENERATORS, Generator, LastLook, Training
from radboost.families.thresholds import Stump
from radboost.families.thresholds import StumpFeatures as Stumps
from radboost.families.tree_features import TreeFeatures as Trees

__all__ = [
    "GENERATORS",
    "Centre",
    "Column",
    "Generator",
    "Hypothesis",
    "Kernel",
    "LastLook",
    "Product",
    "Products",
    "SparseEnsemble",
    "Stump",
    "Stumps",
    "Training",
    "Trees",
]
