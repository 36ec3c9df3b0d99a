"""The penalty of Deep Boosting: every hypothesis pays for its weight by its complexity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from radboost.engine import exp, log

# With no penalty a hypothesis without an error asks for an infinite step; this one divides its loss by nine million.
LARGEST_STEP = 16.0
# The line search stops when its bracket is this small; so many evaluations reach it from any start.
BRACKET_WIDTH = 1e-12
EVALUATIONS = 120


def on_grid(step: float, grid: float, slack: float = 0.0) -> float:
    """The step cut to a multiple of `grid`, towards zero: a shorter step along a convex function still goes down.

    Sums of such steps are exact, so the score of a row is the same whether it was added up step by step in training or
    tree by tree in prediction. A step that falls short of a multiple by no more than `slack` (a share of the grid)
    means that multiple: the kinks of an objective lie on the grid, and a line search stops just before them.
    """
    return math.trunc(step / grid + math.copysign(slack, step)) * grid


@dataclass(frozen=True)
class WeightedL1:
    """sum over j of Lambda_j |alpha_j| with Lambda_j = lambda r_j + beta. Deep Boosting, equations (3) and (4).

    Coordinates are of two kinds. A signed one may have a weight of either sign: h and its mirror image -h are the same
    coordinate (Deep Boosting). The weight of another must not be negative (Multi-Class Deep Boosting, section 3.3).
    """

    complexity_penalty: float
    l1_penalty: float

    def price(self, complexity: float) -> float:
        """Lambda_j of equation (3)."""
        return self.complexity_penalty * complexity + self.l1_penalty


def closed_form_step(edge: float, weight: float, threshold: float, signed: bool) -> float:
    """The minimum over eta of (1 - eps) e^-eta + eps e^eta + (Lambda m / S) |weight + eta|.

    Deep Boosting, Figure 2, lines 12-16, and Multi-Class Deep Boosting, Figure 1, lines 6-8, in the form that survives
    eps near 0 and 1. This is F itself for hypotheses with values -1 and +1 and the exponential loss, and an upper bound
    that touches F at 0 otherwise.
    """
    error = min(max((1.0 - edge) / 2.0, 0.0), 1.0)
    pull = (1.0 - error) * exp(weight) - error * exp(-weight)
    if abs(pull) <= threshold or (pull < 0 and not signed):
        return -weight
    root = math.sqrt(threshold * threshold + 4.0 * error * (1.0 - error))
    side, scale = (1.0 - error if pull > 0 else error), threshold + root
    size = log(2.0 * side / scale) if 2.0 * side < scale * exp(LARGEST_STEP) else LARGEST_STEP
    return size if pull > 0 else -size


def line_search_step(
    derivative: Callable[[float], float], weight: float, price: float, signed: bool, tolerance: float = BRACKET_WIDTH
) -> float:
    """argmin over eta of L(eta) + price |weight + eta|. Deep Boosting, caption of Figure 2.

    `derivative` is L', increasing because L is convex. The kink at eta = -weight is tried first; away from it the
    derivative of the whole is continuous and its root is bracketed by doubling and then closed in on. The result lies
    at most `tolerance` (relative to 1, or to itself if that is more) before the minimum, never beyond it.
    """
    at_kink = derivative(-weight)
    if abs(at_kink) <= price or (at_kink > 0 and not signed):
        return -weight
    direction = -1.0 if at_kink > 0 else 1.0  # the sign that weight + eta has at the minimum

    def whole(eta: float) -> float:
        return direction * (derivative(eta) + direction * price)

    # The minimum lies beyond the kink in `direction`: whole() is negative at the kink and positive at the far end.
    near, width = -weight, 0.5
    at_near = direction * at_kink + price
    far = near + direction * width
    at_far = whole(far)
    while at_far < 0:
        if far * direction >= LARGEST_STEP:
            return far
        near, at_near, width = far, at_far, 2.0 * width
        far = near + direction * width
        if far * direction > LARGEST_STEP:
            far = direction * LARGEST_STEP
        at_far = whole(far)
    return _before_the_root(whole, near, at_near, far, at_far, tolerance)


def _before_the_root(
    function: Callable[[float], float], near: float, at_near: float, far: float, at_far: float, tolerance: float
) -> float:
    """The end on the side of `near` of a bracket, as narrow as asked for, of the root of an increasing function.

    The Illinois method: the root of the chord, where the value at an end that stays twice is halved. A chord that keeps
    landing beside one end gives way to halving, so that kinks cost no more than bisection.
    """
    halve, moved_near = False, None
    for _ in range(EVALUATIONS):
        width = abs(far - near)
        enough = tolerance * max(1.0, abs(near))
        if width <= enough:
            break
        at = near + (far - near) * (0.5 if halve or at_far <= at_near else -at_near / (at_far - at_near))
        # Not closer to either end than half of the width asked for: then a root beside that end closes the bracket.
        at = _between(at, near, far, min(enough, width) / 2)
        value = function(at)
        if value < 0:
            near, at_near = at, value
            at_far = at_far / 2 if moved_near is True else at_far
        else:
            far, at_far = at, value
            at_near = at_near / 2 if moved_near is False else at_near
        moved_near = value < 0
        halve = abs(far - near) > 0.5 * width and not halve
    return near


def _between(point: float, one: float, other: float, distance: float) -> float:
    low, high = min(one, other) + distance, max(one, other) - distance
    return min(max(point, low), high)
