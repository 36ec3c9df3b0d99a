"""Line searches of the round makers.

There are four, because they promise different things.

- `line_search_step`: at the minimum or just before it, never beyond, so that weights that should be zero become zero.
  It uses slopes only, which cost half as much as losses.
- `convex_search`: near the minimum, on either side; returns the best evaluated point.
- `damped_search`: descent only, usually with one evaluation, for steps of which a fraction is taken.
- `falling_search`: descent on a function that is not convex, the risk of soft-max boosting.

The first two use the Illinois method: false position that halves the value at an end which stays twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from radboost.penalties.weighted_l1 import LARGEST_STEP

# `line_search_step`:
BRACKET_WIDTH = 1e-12  # at which it stops
EVALUATIONS = 120  # at most, which suffice from any start
# `damped_search`:
SHORT_OF = 0.75  # fraction of the expected step that is evaluated
# `convex_search`:
MOST_TRIALS = 80  # evaluations
PATIENT_TRIALS = 15  # in one direction, after which steps change faster and faster: targets may be of any size
LONGEST_STEP = 1e150
STEEP = 1e3  # largest slope that false position uses, in units of the slope at the start
# `falling_search`:
SHORTEST_FALL, LONGEST_FALL = 2.0**-20, 64.0  # steps
FALLING_TRIALS = 12  # evaluations


def line_search_step(
    derivative: Callable[[float], float],
    weight: float,
    price: float,
    signed: bool,
    tolerance: float = BRACKET_WIDTH,
) -> float:
    """argmin over eta of L(eta) + price |weight + eta|. Cortes et al. (2014, Deep Boosting), caption of Figure 2.

    `derivative` is L', increasing because L is convex. The kink at eta = -weight is tried first. Away from it the
    derivative of the objective is continuous; its root is bracketed by doubling. The result lies at most
    `tolerance` * max(1, |eta|) before the minimum, never beyond it. `signed`: weights may be negative.
    """
    at_kink = derivative(-weight)
    if abs(at_kink) <= price or (at_kink > 0 and not signed):
        return -weight
    direction = -1.0 if at_kink > 0 else 1.0  # the sign that weight + eta has at the minimum

    def total_slope(eta: float) -> float:
        return direction * (derivative(eta) + direction * price)

    # The minimum lies beyond the kink in `direction`: total_slope() is negative at the kink and positive at `far`.
    near, width = -weight, 0.5
    value_near = direction * at_kink + price
    far = near + direction * width
    value_far = total_slope(far)
    while value_far < 0:
        if far * direction >= LARGEST_STEP:
            return far
        near, value_near, width = far, value_far, 2.0 * width
        far = near + direction * width
        if far * direction > LARGEST_STEP:
            far = direction * LARGEST_STEP
        value_far = total_slope(far)
    return _before_the_root(total_slope, near, value_near, far, value_far, tolerance)


def damped_search(
    derivative: Callable[[float], float], slope: float, price: float, signed: bool, fraction: float, first: float
) -> float:
    """Approximate argmin over eta of L(eta) + price |eta|, for a new hypothesis; only a `fraction` of it is taken.

    `derivative` is L', increasing, and `slope` is L'(0). Usually one point is evaluated: `first`, short of the expected
    minimum. If the derivative is negative there, it is negative at every shorter step. The chord from 0 predicts the
    minimum; the result is limited so that the taken fraction of it ends at the evaluated point at most. So the taken
    step goes down, for any convex L. If the point is beyond the minimum, a shorter one is tried.
    """
    if abs(slope) <= price or (slope > 0 and not signed):
        return 0.0
    direction = -1.0 if slope > 0 else 1.0
    start, at = direction * slope + price, first
    for _ in range(EVALUATIONS):
        there = direction * derivative(direction * at) + price
        predicted = at * (start / (start - there)) if there > start else math.inf
        if there <= 0:
            return direction * min(predicted, at / fraction, LARGEST_STEP)
        at = SHORT_OF * predicted
    return 0.0


def _before_the_root(
    function: Callable[[float], float],
    near: float,
    value_near: float,
    far: float,
    value_far: float,
    tolerance: float,
) -> float:
    """End on the side of `near` of a bracket of the root of an increasing function, with relative width `tolerance`."""
    # The Illinois method: the root of the chord, where the value at an end that stays twice is halved. A chord that
    # keeps landing beside one end gives way to bisection, so that kinks cost no more than that.
    halve, moved_near = False, None
    for _ in range(EVALUATIONS):
        width = abs(far - near)
        enough = tolerance * max(1.0, abs(near))
        if width <= enough:
            break
        at = near + (far - near) * (0.5 if halve or value_far <= value_near else -value_near / (value_far - value_near))
        # At least half of the required width from either end: then a root close to that end closes the bracket.
        at = _between(at, near, far, min(enough, width) / 2)
        value = function(at)
        if value < 0:
            near, value_near = at, value
            value_far = value_far / 2 if moved_near is True else value_far
        else:
            far, value_far = at, value
            value_near = value_near / 2 if moved_near is False else value_near
        moved_near = value < 0
        halve = abs(far - near) > 0.5 * width and not halve
    return near


def _between(point: float, one: float, other: float, distance: float) -> float:
    low, high = min(one, other) + distance, max(one, other) - distance
    return min(max(point, low), high)


def convex_search(
    along: Callable[[float], tuple[float, float]], start: float, slope: float, first: float, tolerance: float
) -> float:
    """Step that minimizes a convex loss along a descent direction; `along(step)` returns the loss and its slope.

    Finds the root of the slope by the Illinois method, until the slope is `tolerance` times the one at 0. Returns the
    best evaluated step, or 0.
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
    """Step with a lower risk: the best one tried on the way to a change of the sign of the slope; 0 if none is lower.

    `along(step)` returns the risk and its slope, positive while the risk falls. The risk is smooth and bounded, but not
    always convex.
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
