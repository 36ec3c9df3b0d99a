"""Searches along one direction.

`line_search_step` and `convex_search` are false position in the variant that halves the value at an end which stays
(Illinois), and they stay apart because they promise different things. `line_search_step` must end at the minimum or
just before it, never beyond: weights that should be zero have to become zero, and a shorter step still goes down. It
sees slopes alone, which cost half as much. `convex_search` may end on either side, and returns the lowest of its
points. It stops where the slope is small, because its direction is given up after one step. One method
with both endings would take other points, and models would be others in their last bits. `damped_search` is for steps
of which only a fraction is taken: as a rule it evaluates one point, and promises descent alone. The risk of soft-max
boosting is not convex: `falling_search` asks for descent and not for the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from radboost.penalties.weighted_l1 import LARGEST_STEP

# `line_search_step` stops when its bracket is this small; so many evaluations reach it from any start.
BRACKET_WIDTH = 1e-12
EVALUATIONS = 120
# `damped_search` looks at this share of the step that it expects.
SHORT_OF = 0.75
# `convex_search`: most points that it looks at, and how much steeper than at the start a slope may be to be used.
MOST_TRIALS = 80
# After so many in one direction steps grow, or shrink, faster and faster: targets may be of any size.
PATIENT_TRIALS = 15
LONGEST_STEP = 1e150
STEEP = 1e3
# `falling_search`: its shortest and longest step, and most points.
SHORTEST_FALL, LONGEST_FALL = 2.0**-20, 64.0
FALLING_TRIALS = 12


def line_search_step(
    derivative: Callable[[float], float],
    weight: float,
    price: float,
    signed: bool,
    tolerance: float = BRACKET_WIDTH,
) -> float:
    """argmin over eta of L(eta) + price |weight + eta|. Deep Boosting, caption of Figure 2.

    `derivative` is L', increasing because L is convex. The kink at eta = -weight is tried first. Away from it the
    derivative of the whole is continuous; its root is bracketed by doubling and then closed in on. The result lies
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


def damped_search(
    derivative: Callable[[float], float], slope: float, price: float, signed: bool, share: float, first: float
) -> float:
    """About argmin over eta of L(eta) + price |eta|, for a new hypothesis of whose step only a `share` is taken.

    `derivative` is L', increasing, and `slope` is L'(0). One evaluation does as a rule: at `first`, short of where
    the minimum is expected. While the derivative of the whole is negative there, it is so at every shorter step. The
    chord from 0 predicts the minimum; the result is cut so that the part that is taken ends at that point at most.
    So the step that is taken goes down, whatever the shape of L. Beyond the minimum a shorter step is tried.
    """
    if abs(slope) <= price or (slope > 0 and not signed):
        return 0.0
    direction = -1.0 if slope > 0 else 1.0
    start, at = direction * slope + price, first
    for _ in range(EVALUATIONS):
        there = direction * derivative(direction * at) + price
        whole = at * (start / (start - there)) if there > start else math.inf
        if there <= 0:
            return direction * min(whole, at / share, LARGEST_STEP)
        at = SHORT_OF * whole
    return 0.0


def _before_the_root(
    function: Callable[[float], float],
    near: float,
    at_near: float,
    far: float,
    at_far: float,
    tolerance: float,
) -> float:
    """End on the side of `near` of a bracket, of width `tolerance`, of the root of an increasing function."""
    # The Illinois method: the root of the chord, where the value at an end that stays twice is halved. A chord that
    # keeps landing beside one end gives way to bisection, so that kinks cost no more than that.
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


def convex_search(
    along: Callable[[float], tuple[float, float]], start: float, slope: float, first: float, tolerance: float
) -> float:
    """The step of least loss along a direction that goes down; `along` gives the loss at a step and its slope there.

    The loss is convex. The search brackets the root of the slope and closes in on it by false position, in the variant
    that halves the weight of an end which stays (Illinois). It returns the lowest point it has evaluated, or 0.
    """
    low, slope_low, high, slope_high, last = 0.0, slope, math.inf, math.inf, 0
    best_step, best_value, step = 0.0, start, first
    longer, shorter = 0, 0
    for _ in range(MOST_TRIALS):
        value, slope_there = along(step)
        if value < best_value:
            best_step, best_value = step, value
        if abs(slope_there) <= tolerance * abs(slope):
            break
        side = -1 if slope_there < 0.0 else 1
        if side < 0:
            low, slope_low = step, slope_there
            slope_high *= 0.5 if last == side else 1.0
        else:
            high, slope_high = step, slope_there
            slope_low *= 0.5 if last == side else 1.0
        last = side
        if high == math.inf:
            longer += 1
            step = min(4.0 ** max(1, longer - PATIENT_TRIALS) * step, LONGEST_STEP)
            continue
        if high - low <= tolerance * high:
            break
        step = low + (high - low) * (slope_low / (slope_low - slope_high))
        if slope_high > STEEP * abs(slope):  # an exponential far beyond its minimum, where chords say nothing
            shorter += 1
            step = low + 0.1 ** max(1, shorter - PATIENT_TRIALS) * (high - low)
        elif not low < step < high:
            step = 0.5 * (low + high)
    return best_step


def falling_search(along: Callable[[float], tuple[float, float]], start: float, slope: float, first: float) -> float:
    """A step with a lower risk: the best of those tried on the way to where the slope changes its sign.

    `along` gives the risk at a step and the slope there, positive while it falls. The risk is smooth and
    bounded and need not be convex, so the search asks for descent and not for the minimum.
    """
    if slope <= 0.0:
        return 0.0
    low, high, step = 0.0, None, max(first, SHORTEST_FALL)
    best_step, best_value = 0.0, start
    for _ in range(FALLING_TRIALS):
        value, slope_there = along(step)
        if value < best_value:
            best_step, best_value = step, value
        if slope_there > 0.0 and value < start:
            low = step
        else:
            high = step
        if high is None:
            step = min(4.0 * step, LONGEST_FALL)
            if step == low:
                break
        else:
            step = 0.5 * (low + high)
            if high - low < 0.1 * high:
                break
    return best_step
