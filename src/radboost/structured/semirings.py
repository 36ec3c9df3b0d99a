"""Semirings: how the costs of several paths of an automaton add up to one.

Storcheus, PhD thesis (NYU, 2021), section 6.3 and appendix D.1. Weights are costs, finite or +inf; along a path they
are added. The log semiring is the thesis's probability semiring in terms of -log(weight), which keeps sums over long
strings within the range of floats. The -inf of the thesis's tropical semiring is left out, because inf - inf is no
number.
"""

from __future__ import annotations

import math
import numbers
from enum import Enum

from radboost._validation import check_choice


class Semiring(Enum):
    """Cost of several paths with the costs c: -log of the sum of exp(-c) ("log"), or the smallest c ("tropical")."""

    LOG = "log"
    TROPICAL = "tropical"


LOG = Semiring.LOG
"""Cost of several paths: -log of the sum of exp(-cost)."""
TROPICAL = Semiring.TROPICAL
"""Cost of several paths: the smallest."""


def get_semiring(semiring: str | Semiring) -> Semiring:
    """The semiring of a name; a semiring itself is let through."""
    if isinstance(semiring, Semiring):
        return semiring
    return Semiring(check_choice("semiring", semiring, tuple(one.value for one in Semiring)))


def check_cost(cost: object, what: str) -> float:
    """A cost as a float, refused where it is NaN, -inf or no number. `what` is its name in the message."""
    if type(cost) is float and cost > -math.inf:  # the usual case, several times faster than what follows
        return cost
    if isinstance(cost, bool) or not isinstance(cost, numbers.Real):
        raise TypeError(f"{what} must be a finite number or +inf; got {cost!r}.")
    try:
        number = float(cost)
        shown = repr(number)
    except OverflowError:
        number, shown = math.nan, "a number beyond the range of floats"
    if not number > -math.inf:
        raise ValueError(
            f"{what} must be a finite number or +inf; got {shown}. Where a path must not be taken, leave it out or "
            "give it +inf."
        )
    return number
