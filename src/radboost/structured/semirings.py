"""Semirings: the weights of automata, with their sum and product.

Storcheus, PhD thesis (NYU, 2021), section 6.3 and appendix D.1. The thesis uses the probability and the tropical
semiring. The log semiring is the probability semiring in terms of -log(weight): it keeps sums over long strings within
the range of floats. Infinite weights of the thesis's probability semiring, and -inf of its tropical semiring, are left
out here, because inf * 0 and inf - inf are no numbers.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from radboost._validation import check_choice


@dataclass(frozen=True)
class Semiring:
    """A set of weights with a sum and a product (Storcheus (2021), appendix D.1); here both are commutative.

    `sum` adds the weights of paths, `times` multiplies the weights along a path; `zero` and `one` are their neutral
    elements. `idempotent` says that the sum of a and a is a. `contains` says whether a float is a weight. Only `check`
    calls it, where weights come in and where results go out, so that loops over many arcs are fast.
    """

    name: str
    zero: float
    one: float
    idempotent: bool
    times: Callable[[float, float], float] = field(repr=False)
    sum: Callable[[Iterable[float]], float] = field(repr=False)
    contains: Callable[[float], bool] = field(repr=False)
    members: str = field(repr=False)
    advice: str = field(repr=False)

    def __reduce__(self) -> tuple[Callable[[str], Semiring], tuple[str]]:
        """Copies and pickles of a semiring are the semiring itself, by its name."""
        return get_semiring, (self.name,)

    def check(self, weight: object, what: str = "weight") -> float:
        """A weight as a float, refused where it is no member of the semiring. `what` is its name in the message."""
        if type(weight) is float and self.contains(weight):  # the usual case, several times faster than what follows
            return weight
        if isinstance(weight, bool) or not isinstance(weight, numbers.Real):
            raise TypeError(f"{what} must be {self.members} in the {self.name} semiring; got {weight!r}.")
        try:
            number = float(weight)
            shown = repr(number)
        except OverflowError:
            number, shown = math.nan, "a number beyond the range of floats"
        if not self.contains(number):
            raise ValueError(f"{what} must be {self.members} in the {self.name} semiring; got {shown}. {self.advice}")
        return number


def _sum_of_weights(weights: Iterable[float]) -> float:
    """The correctly rounded sum, infinite where it exceeds the largest float."""
    try:
        return math.fsum(weights)
    except OverflowError:
        return math.inf


def _log_sum(weights: Iterable[float]) -> float:
    """-log of the sum of exp(-weight), with the largest exponential taken out."""
    costs = list(weights)
    least = min(costs, default=math.inf)
    return least if least == math.inf else least - math.log(math.fsum(math.exp(least - cost) for cost in costs))


def _smallest(weights: Iterable[float]) -> float:
    return min(weights, default=math.inf)


def _is_probability_weight(weight: float) -> bool:
    return 0.0 <= weight < math.inf


def _is_cost(weight: float) -> bool:
    return weight > -math.inf  # False for NaN too


_COSTS = "a finite number or +inf"
_COST_ADVICE = "Where a path must not be taken, leave it out or give it +inf."

PROBABILITY = Semiring(
    name="probability",
    zero=0.0,
    one=1.0,
    idempotent=False,
    times=operator.mul,
    sum=_sum_of_weights,
    contains=_is_probability_weight,
    members="a finite number of at least 0",
    advice="For weights beyond the range of floats take the log semiring, whose weights are -log of these.",
)
"""Sums and products of numbers of at least 0: (R+, +, x, 0, 1)."""

LOG = Semiring(
    name="log",
    zero=math.inf,
    one=0.0,
    idempotent=False,
    times=operator.add,
    sum=_log_sum,
    contains=_is_cost,
    members=_COSTS,
    advice=_COST_ADVICE,
)
"""The probability semiring in terms of -log(weight): a sum is -log(exp(-a) + exp(-b)), a product is a + b."""

TROPICAL = replace(LOG, name="tropical", idempotent=True, sum=_smallest)
"""Costs, of which the smallest counts: (R and +inf, min, +, +inf, 0)."""

SEMIRINGS: dict[str, Semiring] = {semiring.name: semiring for semiring in (PROBABILITY, LOG, TROPICAL)}


def get_semiring(semiring: str | Semiring) -> Semiring:
    """The semiring of a name; a semiring itself is let through."""
    if isinstance(semiring, Semiring):
        return semiring
    return SEMIRINGS[check_choice("semiring", semiring, tuple(SEMIRINGS))]
