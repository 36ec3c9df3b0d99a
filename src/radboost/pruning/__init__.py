"""Small models: fewer hypotheses with other weights, whose scores are close to those of the whole ensemble."""

from radboost.pruning.choosing import Choice, Limits
from radboost.pruning.columns import asked_columns, narrowed, widened
from radboost.pruning.judging import Judge
from radboost.pruning.outputs import Outputs
from radboost.pruning.pruner import Pruner, most_rows
from radboost.pruning.rows import DistinctRows, distinct_rows

__all__ = [
    "Choice",
    "DistinctRows",
    "Judge",
    "Limits",
    "Outputs",
    "Pruner",
    "asked_columns",
    "distinct_rows",
    "most_rows",
    "narrowed",
    "widened",
]
