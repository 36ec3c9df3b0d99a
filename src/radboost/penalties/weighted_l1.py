"""The penalty of Deep Boosting: every hypothesis pays for its weight by its complexity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from radboost._native import exp, log

# Steps are multiples of this. Sums of such numbers are exact in double precision (up to 2^13), so the score of a row
# is the same whether it was added up step by step in training or tree by tree in prediction.
STEP_GRID = 2.0**-40
# With no penalty a hypothesis without an error asks for an infinite step; this one divides its loss by nine million.
LARGEST_STEP = 16.0
# The line search stops when its bracket is this small; 60 halvings reach it from any start.
BRACKET_WIDTH = 1e-12
BISECTIONS = 60


def on_grid(step: float) -> float:
    """The step cut to the grid, towards zero: a shorter step along a convex function still goes down."""
    return math.trunc(step / STEP_GRID) * STEP_GRID


@dataclass(frozen=True)
class WeightedL1:
    """sum over j of Lambda_j |alpha_j| with Lambda_j = lambda r_j + beta. Deep Boosting, equations (3) and (4)."""

    complexity_penalty: float
    l1_penalty: float

    def price(self, complexity: float) -> float:
        """Lambda_j of equation (3)."""
        return self.complexity_penalty * complexity + self.l1_penalty


def slope(edge: float, weight: float, threshold: float) -> float:
    """d_j of Deep Boosting, Figure 2, lines 5-9: the steepest descent of F along a coordinate, times -m / 2S.

    `edge` is the expectation of y h under D, so epsilon - 1/2 = -edge / 2; `threshold` is Lambda_j m / S.
    """
    loss_part = -edge / 2
    if weight != 0.0:
        return loss_part + math.copysign(threshold, weight) / 2
    if abs(loss_part) <= threshold / 2:
        return 0.0
    return loss_part - math.copysign(threshold, loss_part) / 2


def closed_form_step(edge: float, weight: float, threshold: float) -> float:
    """The minimum over eta of (1 - eps) e^-eta + eps e^eta + (Lambda m / S) |weight + eta|.

    Deep Boosting, Figure 2, lines 12-16, in the form that survives eps near 0 and 1. This is F itself for hypotheses
    with values -1 and +1 and the exponential loss, and an upper bound that touches F at 0 otherwise.
    """
    error = min(max((1.0 - edge) / 2.0, 0.0), 1.0)
    pull = (1.0 - error) * exp(weight) - error * exp(-weight)
    if abs(pull) <= threshold:
        return -weight
    root = math.sqrt(threshold * threshold + 4.0 * error * (1.0 - error))
    side, scale = (1.0 - error if pull > 0 else error), threshold + root
    size = log(2.0 * side / scale) if 2.0 * side < scale * exp(LARGEST_STEP) else LARGEST_STEP
    return size if pull > 0 else -size


def line_search_step(derivative: Callable[[float], float], weight: float, price: float) -> float:
    """argmin over eta of L(eta) + price |weight + eta|. Deep Boosting, caption of Figure 2.

    `derivative` is L', increasing because L is convex. The kink at eta = -weight is tried first; away from it the
    derivative of the whole is continuous and its root is bracketed by doubling and then bisected.
    """
    at_kink = derivative(-weight)
    if abs(at_kink) <= price:
        return -weight
    direction = -1.0 if at_kink > 0 else 1.0  # the sign that weight + eta has at the minimum

    def whole(eta: float) -> float:
        return derivative(eta) + direction * price

    # The minimum lies beyond the kink in `direction`; whole() points there at the kink and back at the far end.
    near, width = -weight, 0.5
    far = near + direction * width
    while whole(far) * direction < 0:
        if far * direction >= LARGEST_STEP:
            return far
        near, width = far, 2.0 * width
        far = near + direction * width
        if far * direction > LARGEST_STEP:
            far = direction * LARGEST_STEP
    for _ in range(BISECTIONS):
        middle = (near + far) / 2
        if abs(far - near) <= BRACKET_WIDTH * max(1.0, abs(middle)):
            break
        if whole(middle) * direction < 0:
            near = middle
        else:
            far = middle
    return near
