"""The linear problem of boosting with structural sparsity: columns, their prices, and solvers."""

from radboost.linear.bounds import NEEDS, progress, solve_by_bounds
from radboost.linear.columns import DesignMatrix, canonical_rows
from radboost.linear.induction import Induced, Induction, InductionSettings
from radboost.linear.newton import solve_by_newton
from radboost.linear.problem import Certificate, Point, SparseProblem, Trail

__all__ = [
    "NEEDS",
    "Certificate",
    "DesignMatrix",
    "Induced",
    "Induction",
    "InductionSettings",
    "Point",
    "SparseProblem",
    "Trail",
    "canonical_rows",
    "progress",
    "solve_by_bounds",
    "solve_by_newton",
]
