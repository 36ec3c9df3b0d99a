"""The linear problem of boosting with structural sparsity: columns, their prices, and solvers."""

from radboost.linear.bounds import NEEDS, progress, solve_by_bounds
from radboost.linear.columns import Columns, canonical_rows
from radboost.linear.induction import Induced, Induction, InductionSettings
from radboost.linear.newton import solve_by_newton
from radboost.linear.problem import Certificate, Point, Problem, Trail

__all__ = [
    "NEEDS",
    "Certificate",
    "Columns",
    "Induced",
    "Induction",
    "InductionSettings",
    "Point",
    "Problem",
    "Trail",
    "canonical_rows",
    "progress",
    "solve_by_bounds",
    "solve_by_newton",
]
