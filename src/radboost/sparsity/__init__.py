"""Boosting with structural sparsity (Duchi and Singer, 2009): features enter, are weighed again, and leave."""

from radboost.sparsity.columns import Columns, canonical_rows
from radboost.sparsity.newton import solve_by_newton
from radboost.sparsity.plain import TEMPLATES, solve_by_bounds
from radboost.sparsity.problem import Certificate, Point, Problem, Trail

__all__ = [
    "TEMPLATES",
    "Certificate",
    "Columns",
    "Point",
    "Problem",
    "Trail",
    "canonical_rows",
    "solve_by_bounds",
    "solve_by_newton",
]
