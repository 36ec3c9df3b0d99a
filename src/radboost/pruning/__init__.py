"""Small models: fewer hypotheses with other weights, whose scores are close to those of the whole ensemble."""

from radboost.pruning.choosing import Evaluator, Limits, SizeSearch
from radboost.pruning.columns import asked_columns, narrowed, widened
from radboost.pruning.outputs import Outputs
from radboost.pruning.pruner import Pruner, most_rows
from radboost.pruning.rows import DistinctRows, distinct_rows

__all__ = [
    "DistinctRows",
    "Evaluator",
    "Limits",
    "Outputs",
    "Pruner",
    "SizeSearch",
    "asked_columns",
    "distinct_rows",
    "most_rows",
    "narrowed",
    "widened",
]
