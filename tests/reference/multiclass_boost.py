"""Multi-class DeepBoost in float64: projected coordinate descent of section 3.3 on any of (6)-(9).

Members compete by the absolute derivative (errata 31), weights stay at or above zero, Max follows (28).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import deepboost
from .binning import bin_matrix
from .growth import Tree, grow_best_first, grow_layers, grow_stump_pair
from .losses import LOSSES
from .multiclass import Objective, Sums, make_objective, start, vertex
from .splits import Sample, sample_at
from .steps import closed_form, damped_search, golden

TIE = 1e-12
GRAIN = 2.0**-20  # steps are multiples of this, cut towards zero


@dataclass(frozen=True)
class Settings(deepboost.Settings):
    """The parameters of one run."""

    objective: str = "sum"
    growth: str = "layers"
    max_leaves: int | None = None


@dataclass
class Member:
    tree: Tree
    h: np.ndarray
    r: float
    alpha: float = 0.0


@dataclass
class Fit:
    at: Sums
    members: list[Member] = field(default_factory=list)
    steps: list[tuple[int, int, float]] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    converged: bool = False

    def alive(self) -> list[Member]:
        return [member for member in self.members if member.alpha > 0]


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


def step_size(
    settings: Settings, objective: Objective, at: Sums, member: Member, edge: float, S: float, last: float
) -> float:
    """The step before damping; `last` is that of the round before."""
    Lambda = settings.lam * member.r + settings.beta
    capped = deepboost.flawless_step(edge, Lambda, objective.m)
    if capped is not None and capped > 0:
        return capped
    if settings.step == "closed_form" and objective.loss.closed_form and objective.name != "max":
        return projected_closed_form(member.alpha, (1 - edge) / 2, Lambda * objective.m / S, settings.cap)
    if member.alpha == 0 and settings.learning_rate <= 0.5 and objective.name != "max":
        return damped_search(slope_along(objective, at, member.h), Lambda, settings.learning_rate, last)
    return projected_line_search(objective, at, member.h, member.alpha, Lambda, settings.cap)


def damped(settings: Settings, eta: float, alpha: float) -> float:
    return eta if alpha > 0 and eta == -alpha else math.trunc(eta * settings.learning_rate / GRAIN) * GRAIN


def grower_of(settings: Settings) -> Callable[[Sample], list[Tree]]:
    if settings.family == "stump_pairs":
        return lambda sample: grow_stump_pair(sample, tie=TIE)
    if settings.family == "stumps":
        return lambda sample: grow_layers(sample, 1, "edge", tie=TIE)
    tie = TIE if settings.criterion == "edge" else 0
    if settings.growth == "best_first":
        leaves = settings.max_leaves or 2**settings.max_depth
        return lambda sample: grow_best_first(sample, leaves, settings.max_depth, settings.criterion, tie=tie)
    return lambda sample: grow_layers(sample, settings.max_depth, settings.criterion, tie=tie)


def fit(
    X: np.ndarray, y: np.ndarray, settings: Settings, w: np.ndarray | None = None, n_classes: int | None = None
) -> Fit:
    """Labels are 0 ... C-1."""
    X = np.asarray(X, dtype=float)
    objective = make_objective(settings.objective, LOSSES[settings.loss], y, w, n_classes)
    columns, codes = bin_matrix(X, objective.w.tolist(), settings.max_bins)
    d = sum(2 if c.has_missing else 1 for c in columns)
    grow = grower_of(settings)
    out = Fit(start(len(X), objective.n_classes))
    index: dict[tuple[object, ...], int] = {}
    for t in range(settings.rounds):
        S = objective.normaliser(out.at)
        trees = grow(sample_at(objective, out.at, columns, codes.tolist()))
        j = choose(settings, objective, out, trees, index, S, d)
        if j is None:
            out.converged = True
            break
        member = out.members[j]
        edge = objective.edge(out.at, member.h)
        last = abs(out.steps[-1][2]) / settings.learning_rate if out.steps else 1.0
        eta = damped(settings, step_size(settings, objective, out.at, member, edge, S, last), member.alpha)
        if eta == 0:  # below the grid of steps
            out.converged = True
            break
        member.alpha += eta
        out.at = out.at.moved(eta, member.h, objective.y)
        out.steps.append((t, j, eta))
        out.objectives.append(objective.value(out.at) + penalty(settings, out.members))
    return out


def penalty(settings: Settings, members: list[Member]) -> float:
    return sum((settings.lam * k.r + settings.beta) * k.alpha for k in members)


def choose(
    settings: Settings,
    objective: Objective,
    state: Fit,
    trees: list[Tree],
    index: dict[tuple[object, ...], int],
    S: float,
    d: int,
) -> int | None:
    """The steepest coordinate; damped steps let members grow only where nothing new moves. Ties: the oldest."""
    scale = objective.m / S
    new_size, new = settings.tolerance, None
    for tree in trees:
        r = deepboost.complexity(settings.family, tree.n_splits, objective.m, d)
        h = vertex(np.array(tree.train_value), objective.n_classes)
        edge = objective.edge(state.at, h)
        size = abs(direction(edge, edge, 0.0, (settings.lam * r + settings.beta) * scale))
        if size > new_size + TIE:
            new_size, new = size, Member(tree, h, r)
    old_size, old = settings.tolerance, None
    for j, member in enumerate(state.members):
        if member.alpha <= 0:
            continue
        q = (settings.lam * member.r + settings.beta) * scale
        edges = objective.edge(state.at, member.h), objective.edge(state.at, member.h, shrinking=True)
        slope = direction(*edges, member.alpha, q)
        if settings.learning_rate < 1 and slope <= 0 and new is not None:
            continue
        if abs(slope) > old_size + TIE:
            old_size, old = abs(slope), j
    if new is None or (old is not None and old_size >= new_size - TIE):
        return old
    key = new.tree.key()
    if key not in index:
        index[key] = len(state.members)
        state.members.append(new)
    return index[key]
