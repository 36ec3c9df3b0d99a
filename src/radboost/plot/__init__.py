"""Pictures of models. Every function draws into ``ax`` (or a new figure) and returns the Axes.

Needs matplotlib, which is an extra: ``pip install "radboost[plot]"``.
"""

from radboost.plot.costs import cost_confusion
from radboost.plot.models import learning_curve, margins, tree_sizes
from radboost.plot.noise import noise_robustness

__all__ = ["cost_confusion", "learning_curve", "margins", "noise_robustness", "tree_sizes"]
