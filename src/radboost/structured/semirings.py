"""Semirings: how the costs of several paths of an automaton add up to one.

Storcheus, PhD thesis (NYU, 2021), section 6.3 and appendix D.1. Weights are costs, finite or +inf; along a path they
are added. In the tropical semiring the cheapest path counts. The log semiring is the thesis's probability semiring in
terms of -log(weight), which keeps sums over long strings within the range of floats. The -inf of the thesis's tropical
semiring is left out, because inf - inf is no number.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from radboost._validation import check_choice


@dataclass(frozen=True)
class Semiring:
    """Costs with their sum over paths, which is `math.inf` over none (Storcheus (2021), appendix D.1)."""

    name: str
    sum: Callable[[Iterable[float]], float] = field(repr=False)

    def __reduce__(self) -> tuple[Callable[[str], Semiring], tuple[str]]:
        """Copies and pickles of a semiring are the semiring itself, by its name."""
        return get_semiring, (self.name,)


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


def _log_sum(weights: Iterable[float]) -> float:
    """-log of the sum of exp(-weight), with the largest exponential taken out."""
    costs = list(weights)
    least = min(costs, default=math.inf)
    return least if least == math.inf else least - math.log(math.fsum(math.exp(least - cost) for cost in costs))


def _smallest(weights: Iterable[float]) -> float:
    return min(weights, default=math.inf)


LOG = Semiring("log", _log_sum)
"""Costs -log(p): a sum is -log(exp(-a) + exp(-b)), a product is a + b."""

TROPICAL = Semiring("tropical", _smallest)
"""Costs, of which the smallest counts: (R and +inf, min, +, +inf, 0)."""

SEMIRINGS: dict[str, Semiring] = {semiring.name: semiring for semiring in (LOG, TROPICAL)}


def get_semiring(semiring: str | Semiring) -> Semiring:
    """The semiring of a name; a semiring itself is let through."""
    if isinstance(semiring, Semiring):
        return semiring
    return SEMIRINGS[check_choice("semiring", semiring, tuple(SEMIRINGS))]
