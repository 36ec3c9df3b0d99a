"""Directions of steps over several sources, for `multi_source`: effect on each source, upper bounds, blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.boosting.line_search import line_search_step
from radboost.boosting.members import Member
from radboost.engine import exp

BLOCK_GRID = 2.0**-10  # factors of hypotheses in a block are multiples of this
# Function of a step that returns losses of the sources and their derivatives; shape (n_sources,) each.
Model = Callable[[float], tuple[FloatArray, FloatArray]]


@dataclass
class Direction:
    """Members that step together: the weight of member j changes by eta times its factor, which may be negative."""

    members: list[Member]
    sources: list[int]
    factors: list[float]
    rates: FloatArray  # decrease of the loss of each source per unit of the step, at 0; shape (n_sources,)
    masses: FloatArray  # mean of Phi' times the change per unit of the step, in each source; shape (n_sources,)
    reach: float = 1.0  # largest change of a score per unit of the step
    weight: float = 0.0  # of a single member; the objective has a kink where it becomes 0
    price: float = 0.0  # of a single member
    real_valued: bool = False

    def price_slope(self, eta: float) -> float:
        """Derivative of the penalty at the step `eta`; at a kink the one-sided derivative along the factor."""
        return sum(
            member.price * factor * math.copysign(1.0, member.weight + eta * factor or factor)
            for member, factor in zip(self.members, self.factors, strict=True)
        )

    def price_change(self, eta: float) -> float:
        """Change of the penalty by the step `eta`."""
        return sum(
            member.price * (abs(member.weight + eta * factor) - abs(member.weight))
            for member, factor in zip(self.members, self.factors, strict=True)
        )


def minimum_along(direction: Direction, derivative: Callable[[float], float], signed: bool, tolerance: float) -> float:
    """Step with the least sum of loss and penalty, from the derivative of the loss; not negative for a block."""
    if len(direction.members) == 1:
        return line_search_step(derivative, direction.weight, direction.price, signed, tolerance)

    def total_slope(eta: float) -> float:
        return derivative(eta) + direction.price_slope(eta)

    eta = max(0.0, line_search_step(total_slope, 0.0, 0.0, True, tolerance))
    if signed:
        return eta
    pairs = zip(direction.members, direction.factors, strict=True)
    return min([eta, *(-member.weight / factor for member, factor in pairs if factor < 0.0)])


def bounds_along(direction: Direction, losses: FloatArray, curvatures: FloatArray | None) -> list[Model]:
    """Upper bounds on the losses after a step, with their derivatives; exact at 0, where all of them touch."""
    rates, masses, reach = direction.rates, direction.masses, max(direction.reach, 1e-300)
    down, up = 0.5 * (masses + rates) / reach, 0.5 * (masses - rates) / reach

    def by_chords(eta: float) -> tuple[FloatArray, FloatArray]:
        """Lemma 4.3, with a lower chord where Q is small.

        The argument of a row changes by v = -eta d, abs(d) <= q, the reach. Phi(u + v) - Phi(u) <= Phi'(u) (e^v - 1).
        The chord from 1 to e^(eta q) or e^(-eta q) bounds e^v: e^v - 1 <= abs(d) / q (e^(+-eta q) - 1).
        """
        falling, rising = exp(min(max(-eta * reach, -700.0), 700.0)), exp(min(max(eta * reach, -700.0), 700.0))
        return (
            losses + down * (falling - 1.0) + up * (rising - 1.0),
            reach * (up * rising - down * falling),
        )

    if curvatures is None or direction.real_valued:
        return [by_chords]

    def by_parabolas(eta: float) -> tuple[FloatArray, FloatArray]:
        """Bound by `curvatures`, the largest second derivatives; tighter than chords where Phi' is large."""
        return losses - eta * rates + 0.5 * eta**2 * curvatures, eta * curvatures - rates

    return [by_chords, by_parabolas]


def solve_game(gains: FloatArray) -> tuple[float, FloatArray]:
    """Maximum over factors of the minimum of gains @ factors; value and factors, which sum to 1."""
    n_rows, n_columns = gains.shape
    scale, uniform = float(np.abs(gains).max()), np.full(n_columns, 1.0 / n_columns)
    if scale == 0.0:
        return 0.0, uniform
    from scipy.optimize import linprog  # slow to import

    # Variables: the factors, and the value t, the minimum over rows.
    solved = linprog(
        np.append(np.zeros(n_columns), -1.0),
        A_ub=np.column_stack([-gains / scale, np.ones(n_rows)]),
        b_ub=np.zeros(n_rows),
        A_eq=np.append(np.ones(n_columns), 0.0)[None, :],
        b_eq=np.ones(1),
        bounds=[*[(0.0, 1.0)] * n_columns, (None, None)],
        method="highs",
    )
    if not solved.success:
        return 0.0, uniform
    factors = np.rint(solved.x[:-1] / BLOCK_GRID) * BLOCK_GRID
    return float((gains @ factors).min()), factors
