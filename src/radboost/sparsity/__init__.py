"""Boosting with structural sparsity (Duchi and Singer, 2009): features enter, are weighed again, and leave."""

from radboost.sparsity.columns import Columns, canonical_rows
from radboost.sparsity.generators import GENERATORS, Generator, Kernel, Products, Stumps, Training, Trees, get_generator
from radboost.sparsity.hypotheses import Centre, Column, GrownTree, Hypothesis, Product, Stump
from radboost.sparsity.induction import Induced, Induction, InductionSettings
from radboost.sparsity.model import SparseEnsemble
from radboost.sparsity.newton import solve_by_newton
from radboost.sparsity.plain import progress, solve_by_bounds
from radboost.sparsity.problem import Certificate, Point, Problem, Trail

__all__ = [
    "GENERATORS",
    "Centre",
    "Certificate",
    "Column",
    "Columns",
    "Generator",
    "GrownTree",
    "Hypothesis",
    "Induced",
    "Induction",
    "InductionSettings",
    "Kernel",
    "Point",
    "Problem",
    "Product",
    "Products",
    "SparseEnsemble",
    "Stump",
    "Stumps",
    "Trail",
    "Training",
    "Trees",
    "canonical_rows",
    "get_generator",
    "progress",
    "solve_by_bounds",
    "solve_by_newton",
]
