"""Three margin bounds for one margin rho, of which `bound` takes the best (docs/theory.md, section 7).

`one_set` is the standard margin bound for the convex hull of one set of functions, (7b), with structural risk
minimization over the sets that it might have been. With another kappa it is (7h): every tree pays for its own size.
`several_families` is Theorem 1 of Cortes et al. (2014), corrected, (7f): every hypothesis pays for its own family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from radboost.guarantees.prices import Prices
from radboost.guarantees.tree_counts import log_multisets

# Values of s / rho in Theorem 1, fixed in advance. s is the allowed distance between the ensemble and a random sample
# of its hypotheses. The value 1/4 gives the factor 4 / rho of the papers.
DISTANCES = tuple(2.0**-k for k in range(2, 9))
# Values of n s^2 / 2 from which the number n of draws is chosen, independently of the sample.
EXPONENTS = np.linspace(0.25, 30.0, 240)


@dataclass(frozen=True)
class Statement:
    """Terms of a bound, except the empirical error."""

    factor: float  # of the complexity: 2 / rho, or 2 / (rho - 2 s)
    complexity: float
    drawing: float  # c exp(-n s^2 / 2)
    chance: float
    n_draws: int  # 0: none; the empirical error is then the mean of a ramp, not a fraction of the rows

    @property
    def price(self) -> float:
        return self.factor * self.complexity + self.drawing + self.chance


def one_set(kappa: float, choices: float, rho: float, delta: float, m: float, *, from_sample: bool) -> Statement:
    """Every f in the hull of one of the sets: 2/rho kappa + sqrt((log(1/delta) + choices)/2m). (7b), (7c), (7h)."""
    chance = deviation(math.log(1.0 / delta) + choices, m, from_sample=from_sample)
    return Statement(2.0 / rho, kappa, 0.0, float(chance), 0)


def several_families(prices: Prices, rho: float, delta: float, m: float, n_classes: int) -> Statement:
    """Every f in the hull of the union of p families, at the price of the mean complexity. (7f).

    Each s has an equal part of delta. n is the best for s, p, m and delta, which do not depend on the sample.
    """
    statements = []
    for ratio in DISTANCES:
        s = ratio * rho
        draws = np.ceil(2.0 * EXPONENTS / s**2)
        log_choices = math.log(len(DISTANCES) / delta) + prices.family_choices + log_multisets(prices.n_families, draws)
        drawing = n_classes * np.exp(-draws * s**2 / 2.0)
        chance = deviation(log_choices, m, from_sample=prices.from_sample)
        best = int(np.argmin(drawing + chance))
        factor = 2.0 / (rho - 2.0 * s)
        statements.append(
            Statement(factor, prices.mean, float(drawing[best]), float(chance[best]), int(min(draws[best], 2**62)))
        )
    return min(statements, key=lambda one: one.price)


def deviation(log_inverse: float | np.ndarray, m: float, *, from_sample: bool) -> np.ndarray:
    """sqrt(log(1/delta) / 2m), or 3 sqrt(log(2/delta) / 2m) if the complexity depends on this sample. (7a)."""
    if from_sample:
        return np.asarray(3.0 * np.sqrt((log_inverse + math.log(2.0)) / (2.0 * m)))
    return np.asarray(np.sqrt(log_inverse / (2.0 * m)))
