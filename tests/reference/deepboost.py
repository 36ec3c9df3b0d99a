"""DeepBoost, Figure 2 on objective (4), in float64: all features, best thresholds, all rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import rademacher
from .binning import bin_matrix
from .growth import Tree, grow_layers, grow_stump_pair
from .losses import LOSSES, Loss
from .splits import make_sample
from .steps import along, closed_form, damped_search, exact_line_search, objective

TIE = 1e-12  # differences below this are rounding: sums equal on paper need not be equal in floats
GRAIN = 2.0**-40  # steps are multiples of this, cut towards zero


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
    tolerance: float = 1e-9
    cap: float = 16.0


@dataclass
class Member:
    """One coordinate: a hypothesis, its complexity and its present weight."""

    tree: Tree
    h: np.ndarray
    r: float
    alpha: float = 0.0


@dataclass
class Fit:
    """What a run leaves behind. `steps` are (round, member, eta); `objectives[t]` is F after round t + 1."""

    members: list[Member] = field(default_factory=list)
    steps: list[tuple[int, int, float]] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.zeros(0))
    converged: bool = False

    def alive(self) -> list[Member]:
        return [m for m in self.members if m.alpha != 0.0]


def complexity(family: str, n_splits: int, m: float, columns: int) -> float:
    """r of a candidate, equations (7), (8), (9); `columns` counts a column with missing values twice."""
    if family == "trees":
        return rademacher.trees(m, columns, n_splits)
    if n_splits <= 1:
        return rademacher.stumps(m, columns)
    return rademacher.stump_pairs(m, columns)


def distribution(loss: Loss, f: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """D and S of equation (5), S_1 from the derivative too (errata 1)."""
    raw = w * loss.derivative(1 - y * f)
    return raw / raw.sum(), float(raw.sum())


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


def coordinate_step(
    settings: Settings,
    loss: Loss,
    f: np.ndarray,
    h: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    alpha: float,
    eps: float,
    q: float,
    Lambda: float,
    last: float,
) -> float:
    """Lines 12-16 or a line search, damped unless the step cancels the weight, on the grid of steps.

    `last` is the whole step of the round before.
    """
    capped = flawless_step(1 - 2 * eps, Lambda, float(w.sum()))
    if capped is not None:
        eta = capped
    elif settings.step == "closed_form" and loss.closed_form:
        eta = closed_form(alpha, eps, q, settings.cap)
    elif alpha == 0 and settings.learning_rate <= 0.5:
        eta = damped_search(
            lambda step: float(-np.sum(w * y * h * loss.derivative(1 - y * (f + step * h))) / np.sum(w)),
            Lambda,
            settings.learning_rate,
            last,
        )
    else:
        eta = exact_line_search(along(loss, f, h, y, w, alpha, Lambda), alpha, settings.cap)
    if eta == -alpha:
        return eta
    return math.trunc(eta * settings.learning_rate / GRAIN) * GRAIN


Proposer = Callable[[np.ndarray], list[Tree]]


def make_proposer(settings: Settings, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[Proposer, int]:
    """The new candidates h_1*, h_2*, ... for a distribution D; the root alone where no split is useful."""
    columns, codes = bin_matrix(X, w.tolist(), settings.max_bins)
    d = sum(2 if c.has_missing else 1 for c in columns)

    def propose(D: np.ndarray) -> list[Tree]:
        sample = make_sample(columns, codes.tolist(), D.tolist(), y.tolist(), w.tolist())
        if settings.family == "stump_pairs":
            return grow_stump_pair(sample, settings.criterion, tie=TIE)
        depth = 1 if settings.family == "stumps" else settings.max_depth
        return grow_layers(sample, depth, settings.criterion, tie=TIE)

    return propose, d


def fit(X: np.ndarray, y: np.ndarray, settings: Settings, sample_weight: np.ndarray | None = None) -> Fit:
    """Run Figure 2. Labels are -1 and +1."""
    y = np.asarray(y, dtype=float)
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    m, loss = float(w.sum()), LOSSES[settings.loss]
    propose, d = make_proposer(settings, np.asarray(X, dtype=float), y.astype(int), w)
    out = Fit(scores=np.zeros(len(y)))
    index: dict[tuple[object, ...], int] = {}
    for t in range(settings.rounds):
        D, S = distribution(loss, out.scores, y, w)
        choice = choose(settings, out, propose(D), index, D, S, y, m, d)
        if choice is None:
            out.converged = True
            break
        j = choice
        member = out.members[j]
        eps = float(0.5 * (1 - np.sum(D * y * member.h)))
        Lambda = settings.lam * member.r + settings.beta
        last = abs(out.steps[-1][2]) / settings.learning_rate if out.steps else 1.0
        q = Lambda * m / S
        eta = coordinate_step(settings, loss, out.scores, member.h, y, w, member.alpha, eps, q, Lambda, last)
        member.alpha += eta
        out.scores = out.scores + eta * member.h
        out.steps.append((t, j, eta))
        penalty = sum((settings.lam * k.r + settings.beta) * abs(k.alpha) for k in out.members)
        out.objectives.append(objective(loss, out.scores, y, w, penalty))
    return out


def choose(
    settings: Settings,
    state: Fit,
    proposals: list[Tree],
    index: dict[tuple[object, ...], int],
    D: np.ndarray,
    S: float,
    y: np.ndarray,
    m: float,
    d: int,
) -> int | None:
    """Lines 4-10: the coordinate with the largest abs(d_j), None when all are below the tolerance.

    A proposal that equals a member (up to sign) is that member. Damped steps: a member that nobody proposes competes
    only when its step shrinks its weight, or when no proposal moves. Ties go to the oldest member, then to the
    proposal with the fewest splits.
    """
    new_size, new = settings.tolerance, None
    for tree in proposals:
        r = complexity(settings.family, tree.n_splits, m, d)
        h = np.array(tree.train_value, dtype=float)
        eps = float(0.5 * (1 - np.sum(D * y * h)))
        size = abs(member_direction(eps, 0.0, (settings.lam * r + settings.beta) * m / S))
        if size > new_size + TIE:
            new_size, new = size, Member(tree, h, r)
    old_size, old = settings.tolerance, None
    for j, member in enumerate(state.members):
        if member.alpha == 0:
            continue
        eps = float(0.5 * (1 - np.sum(D * y * member.h)))
        direction = member_direction(eps, member.alpha, (settings.lam * member.r + settings.beta) * m / S)
        shrinks = direction * member.alpha > 0
        if settings.learning_rate < 1 and not shrinks and new is not None:
            continue
        if abs(direction) > old_size + TIE:
            old_size, old = abs(direction), j
    if new is None or (old is not None and old_size >= new_size - TIE):
        return old
    key = new.tree.key()
    if key not in index:
        index[key] = len(state.members)
        state.members.append(new)
    return index[key]
