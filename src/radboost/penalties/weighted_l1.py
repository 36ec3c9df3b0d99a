"""The penalty of Deep Boosting: every hypothesis pays for its weight by its complexity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from radboost._validation import check_real
from radboost.engine import exp, log
from radboost.model_file import storable_value
from radboost.penalties.base import EnsemblePenalty

# With no penalty a hypothesis without an error asks for an infinite step; this one divides its loss by nine million.
LARGEST_STEP = 16.0


def on_grid(step: float, grid: float, slack: float = 0.0) -> float:
    """The step cut to a multiple of `grid`, towards zero: a shorter step along a convex function still goes down.

    Sums of such steps are exact: training, step by step, and prediction, tree by tree, give the same score. A step that
    falls short of a multiple by no more than `slack`, in units of the grid, becomes that multiple. The kinks of an
    objective lie on the grid, and a line search stops just before them.
    """
    return math.trunc(step / grid + math.copysign(slack, step)) * grid


@storable_value
@dataclass(frozen=True)
class WeightedL1(EnsemblePenalty):
    """sum over j of Lambda_j |alpha_j| with Lambda_j = lambda r_j + beta. Cortes et al. (2014), equations (3) and (4).

    Coordinates are of two kinds. A signed one may have a weight of either sign: h and its mirror image -h are the same
    coordinate (Deep Boosting). The weight of another must not be negative (Kuznetsov et al. (2014), section 3.3).
    """

    complexity_penalty: float
    l1_penalty: float = 0.0

    def validate(self) -> None:
        check_real("complexity_penalty of WeightedL1", self.complexity_penalty, low=0.0)
        check_real("l1_penalty of WeightedL1", self.l1_penalty, low=0.0)

    def price(self, complexity: float) -> float:
        return self.complexity_penalty * complexity + self.l1_penalty


def closed_form_step(edge: float, weight: float, threshold: float, signed: bool) -> float:
    """The minimum over eta of (1 - eps) e^-eta + eps e^eta + (Lambda m / S) |weight + eta|.

    Cortes et al. (2014), Figure 2, lines 12-16, and Kuznetsov et al. (2014), Figure 1, lines 6-8, in a form that is
    stable for eps near 0 and 1. This is F itself for hypotheses with values -1 and +1 and the exponential loss, and
    otherwise an upper bound that touches F at 0.
    """
    error = min(max((1.0 - edge) / 2.0, 0.0), 1.0)
    pull = (1.0 - error) * exp(weight) - error * exp(-weight)
    if abs(pull) <= threshold or (pull < 0 and not signed):
        return -weight
    root = math.sqrt(threshold * threshold + 4.0 * error * (1.0 - error))
    side, scale = (1.0 - error if pull > 0 else error), threshold + root
    size = log(2.0 * side / scale) if 2.0 * side < scale * exp(LARGEST_STEP) else LARGEST_STEP
    return size if pull > 0 else -size
