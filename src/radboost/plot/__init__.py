"""Charts of models. Every function draws into the Axes ``ax``, or a new figure where it is None, and returns it.

Needs matplotlib, which is an extra: ``pip install "radboost[plot]"``.
"""

from radboost.plot.costs import cost_confusion
from radboost.plot.curves import learning_curve, mixture, size_curve
from radboost.plot.explaining import dependence, explanation, importance
from radboost.plot.models import margins, tree_sizes
from radboost.plot.noise import noise_robustness
from radboost.plot.probabilities import reliability
from radboost.plot.sources import sources
from radboost.plot.trees import tree
from radboost.plot.tuning import tuning

__all__ = [
    "cost_confusion",
    "dependence",
    "explanation",
    "importance",
    "learning_curve",
    "margins",
    "mixture",
    "noise_robustness",
    "reliability",
    "size_curve",
    "sources",
    "tree",
    "tree_sizes",
    "tuning",
]
