"""Prices, directions and steps of DeepBoost in float64, for two classes and for more.

Deep Boosting, Figure 2 on objective (4); Multi-Class Deep Boosting, section 3.3 on any of (6)-(9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import rademacher
from .multiclass import Objective, Sums
from .steps import closed_form, golden

GRAIN = 2.0**-20  # steps of several classes are multiples of this, cut towards zero


@dataclass(frozen=True)
class Settings:
    """The parameters of one run; the names are the estimator's, `lam` and `beta` the paper's."""

    rounds: int = 10
    loss: str = "exponential"
    family: str = "trees"
    max_depth: int = 3
    lam: float = 0.0
    beta: float = 0.0
    learning_rate: float = 1.0
    criterion: str = "edge"
    step: str = "closed_form"
    max_bins: int = 255
    cap: float = 16.0
    objective: str = "sum"
    growth: str = "layers"
    max_leaves: int | None = None


def complexity(family: str, n_splits: int, m: float, columns: int) -> float:
    """r of a candidate, equations (7), (8), (9); `columns` counts a column with missing values twice."""
    if family == "trees":
        return rademacher.trees(m, columns, n_splits)
    if n_splits <= 1:
        return rademacher.stumps(m, columns)
    return rademacher.stump_pairs(m, columns)


def member_direction(eps: float, alpha: float, q: float) -> float:
    """d_j of Figure 2, lines 5-9, with q = Lambda_j m / S."""
    if alpha != 0:
        return (eps - 0.5) + np.sign(alpha) * q / 2
    if abs(eps - 0.5) <= q / 2:
        return 0.0
    return (eps - 0.5) - np.sign(eps - 0.5) * q / 2


def flawless_step(edge: float, price: float, m: float) -> float | None:
    """Errata 29: no error and no price ask for an infinite step; taken is that of half an error among m rows."""
    if price == 0 and abs(edge) > 1 - 2e-9:
        return math.copysign(0.5 * math.log(max(4.0, 2 * m)), edge)
    return None


def direction(growing: float, shrinking: float, alpha: float, q: float) -> float:
    """Half of what F' is in units of S/m, signed: negative where the weight grows. q is Lambda m / S.

    For smooth objectives both edges are equal and this is epsilon - 1/2 + q/2, projected at alpha = 0; for Max it is
    (28): growing has the smaller edge, so at a kink neither side may go down.
    """
    if growing > q:
        return (q - growing) / 2
    if alpha > 0 and shrinking < q:
        return (q - shrinking) / 2
    return 0.0


def projected_closed_form(alpha: float, eps: float, q: float, cap: float) -> float:
    """Figure 1, lines 6-8, in the form of errata 29."""
    eps = min(max(eps, 0.0), 1.0)
    if (1 - eps) * math.exp(alpha) - eps * math.exp(-alpha) <= q:
        return -alpha
    return closed_form(alpha, eps, q, cap)


def projected_line_search(
    objective: Objective, at: Sums, h: np.ndarray, alpha: float, Lambda: float, cap: float
) -> float:
    """argmin over eta >= -alpha of F, by golden sections, or the end where the weight is cancelled."""

    def whole(eta: float) -> float:
        return objective.value(at.moved(eta, h, objective.y)) + Lambda * eta

    eta = golden(whole, -alpha, cap, 80)
    if objective.name == "max":  # kinks lie on the grid of steps, and a step must not miss one by rounding
        near = [GRAIN * (round(eta / GRAIN) + k) for k in range(-3, 4)]
        eta = min((e for e in near if -alpha <= e <= cap), key=whole, default=eta)
    return -alpha if whole(-alpha) <= whole(eta) else eta


def slope_along(objective: Objective, at: Sums, h: np.ndarray) -> Callable[[float], float]:
    """The derivative of the loss along h, that far from here."""

    def slope(step: float) -> float:
        there = at.moved(step, h, objective.y)
        return -objective.edge(there, h) * objective.normaliser(there) / objective.m

    return slope
