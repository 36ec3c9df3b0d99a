"""Check of a fitted DeepBoost model, round by round: objective, choice and step.

Every round is compared with the best that could be done from where the model stood, so it does not matter how ties
were broken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from . import deepboost
from .binning import bin_matrix
from .deepboost import GRAIN, Settings, direction, projected_closed_form, projected_line_search, slope_along
from .growth import all_stump_answers, best_stump_edge
from .losses import LOSSES
from .multiclass import ABSTAIN, Objective, Sums, make_objective, start, vertex
from .splits import (
    Sample,
    best_split,
    class_sums,
    node_score,
    questions,
    sample_at,
    split_score,
    threshold_of,
)
from .steps import closed_form, damped_search, exact_line_search

SLACK = 1e-7  # of a total weight of 1: gradients are integers of about 30 bits


@dataclass
class Reached:
    """A node of a tree under audit, with the training rows that reach it."""

    index: int
    depth: int
    rows: list[int]


@dataclass
class Audit:
    objectives: list[float]  # after each step
    perturbed: int  # rounds that moved weights where nothing goes down (Max)
    at: Sums


def walk(tree: Any, X: np.ndarray) -> list[Reached]:
    """All nodes with the rows that reach them, parents first."""
    found, queue = [], [Reached(0, 0, list(range(len(X))))]
    while queue:
        node = queue.pop(0)
        found.append(node)
        i = node.index
        if tree.feature[i] >= 0:
            column = X[:, tree.feature[i]]
            left = [
                r
                for r in node.rows
                if (bool(tree.missing_left[i]) if math.isnan(column[r]) else column[r] <= tree.threshold[i])
            ]
            right = sorted(set(node.rows) - set(left))
            below = int(tree.left[i])
            queue += [Reached(below, node.depth + 1, left), Reached(below + 1, node.depth + 1, right)]
    return found


def is_tree(hypothesis: Any) -> bool:
    return hasattr(hypothesis, "feature")


def predictions(hypothesis: Any, X: np.ndarray, n_classes: int) -> np.ndarray:
    """h(x_i, c) of a tree by walking it; of anything else by asking it."""
    if not is_tree(hypothesis):
        return np.asarray(hypothesis.predict(X), dtype=float)
    answers = np.full(len(X), ABSTAIN)
    for node in walk(hypothesis, X):
        if hypothesis.feature[node.index] < 0:
            answers[node.rows] = answer_of(hypothesis, node.index, n_classes)
    return vertex(answers, n_classes)


def answer_of(tree: Any, index: int, n_classes: int) -> int:
    """The class that a leaf names, or -1; with two classes its value is a sign."""
    value = int(tree.value[index])
    return (value + 1) // 2 if n_classes == 2 else value


class Auditor:
    """One fitted model, at one point of its path."""

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        w: np.ndarray,
        settings: Settings,
        hypotheses: Sequence[Any],
        complexities: Sequence[float],
        n_classes: int,
        search: bool,
    ) -> None:
        self.X, self.settings, self.hypotheses, self.search = X, settings, hypotheses, search
        whole = all(is_tree(h) for h in hypotheses)
        self.signed = n_classes == 2  # one column of margins, whatever the objective is called (errata 10)
        self.slack = 1e-9 if self.signed else SLACK
        self.objective = make_objective(
            "sum" if self.signed else settings.objective,
            LOSSES[settings.loss],
            y,
            w,
            n_classes,
            tie=0.0 if whole else 1e-5,
        )
        self.columns, codes = bin_matrix(X, w.tolist(), settings.max_bins)
        self.codes = codes.tolist()
        self.d = sum(2 if c.has_missing else 1 for c in self.columns)
        self.h = [predictions(t, X, n_classes) for t in hypotheses]
        self.alpha = np.zeros(len(hypotheses))
        self.last = 1.0  # the whole step of the last round
        self.complexities = complexities
        self.at = start(len(y), n_classes)
        self.arrive()
        for tree, r in zip(hypotheses, complexities, strict=True):
            if is_tree(tree):
                assert math.isclose(
                    r, deepboost.complexity(settings.family, tree.n_splits, self.objective.m, self.d), rel_tol=1e-12
                )

    def price(self, r: float) -> float:
        return self.settings.lam * r + self.settings.beta

    def size(self, j: int) -> float:
        """The signed derivative of coordinate j in units of 2S/m, zero where it cannot go down."""
        q = self.price(self.complexities[j]) * self.scale
        growing = self.objective.edge(self.at, self.h[j])
        if self.signed:
            return deepboost.member_direction((1 - growing) / 2, float(self.alpha[j]), q)
        return direction(growing, self.objective.edge(self.at, self.h[j], shrinking=True), self.alpha[j], q)

    def arrive(self) -> None:
        """To be called when the weights have moved."""
        self.scale = self.objective.m / self.objective.normaliser(self.at)

    def check(self, j: int, eta: float, known: bool) -> None:
        """Checks one step before it is taken."""
        if self.signed:
            self.check_signed_step(j, eta)
        else:
            self.check_step(j, eta)
        if self.search:
            self.check_choice(j, abs(self.size(j)), known)

    def move(self, j: int, eta: float) -> None:
        self.alpha[j] += eta
        self.last = abs(eta) / self.settings.learning_rate
        assert self.signed or self.alpha[j] >= 0
        self.at = self.at.moved(eta, self.h[j], self.objective.y)
        self.arrive()

    def stuck(self) -> bool:
        """No member and no stump goes down, or not by a step that the grid of steps knows."""
        price = self.price(deepboost.complexity(self.settings.family, 1, self.objective.m, self.d))
        members = np.flatnonzero(self.alpha).tolist()
        if any(abs(self.size(k)) > SLACK and self.moves(self.h[k], k) for k in members):
            return False
        if not self.search:
            return True
        g = self.objective.gradients(self.at)
        for answers in all_stump_answers(self.binned(), self.objective.n_classes):
            edge = float(sum(g[i, c] for i, c in enumerate(answers) if c != ABSTAIN))
            if (edge - price * self.scale) / 2 > SLACK:
                h = vertex(np.array(answers), self.objective.n_classes)
                if abs(projected_line_search(self.objective, self.at, h, 0.0, price, 1.0)) > 2 * GRAIN:
                    return False
        return True

    def moves(self, h: np.ndarray, k: int) -> bool:
        price = self.price(self.complexities[k])
        return abs(projected_line_search(self.objective, self.at, h, float(self.alpha[k]), price, 1.0)) > 2 * GRAIN

    def value(self, prices: np.ndarray) -> float:
        return self.objective.value(self.at) + float(np.sum(prices * np.abs(self.alpha)))

    def check_signed_step(self, j: int, eta: float) -> None:
        """Deep Boosting, Figure 2, lines 12-16, or a line search; weights may have either sign."""
        settings, objective, alpha, h = self.settings, self.objective, float(self.alpha[j]), self.h[j]
        price, rate = self.price(self.complexities[j]), settings.learning_rate
        edge = objective.edge(self.at, h)
        capped = deepboost.flawless_step(edge, price, objective.m)
        if capped is not None:
            whole, slack = capped, 1e-9
        elif settings.step == "closed_form" and objective.loss.closed_form:
            whole = closed_form(alpha, (1 - edge) / 2, price * self.scale, settings.cap)
            slack = 1e-9 + 1e-9 * abs(whole)
        elif alpha == 0 and rate <= 0.5:
            whole, slack = damped_search(slope_along(objective, self.at, h), price, rate, self.last), 1e-9
        else:
            whole = exact_line_search(
                lambda step: objective.value(self.at.moved(step, h, objective.y)) + price * abs(alpha + step),
                alpha,
                3 * settings.cap,
            )
            whole = whole if whole == -alpha else max(-settings.cap, min(settings.cap, whole))
            slack = 1e-5  # golden sections know the minimum to about the root of the machine precision
        cancels = abs(whole + alpha) <= slack and alpha != 0
        rates = {1.0, rate} if cancels else {rate}
        assert any(abs(eta - share * whole) <= slack for share in rates), (eta, whole, alpha, edge)
        if alpha != 0 and eta == -alpha:
            assert cancels

    def check_step(self, j: int, eta: float) -> None:
        settings, objective, alpha = self.settings, self.objective, float(self.alpha[j])
        price, rate = self.price(self.complexities[j]), settings.learning_rate
        edge = objective.edge(self.at, self.h[j])
        assert eta >= -alpha
        if price == 0 and edge > 1 - 2e-9 - SLACK:
            capped = deepboost.flawless_step(1.0, 0.0, objective.m)
            assert capped is not None
            if abs(eta - rate * capped) <= 1e-5:
                return
            assert edge < 1 - 2e-9 + SLACK
        if settings.step == "closed_form" and objective.loss.closed_form and objective.name != "max":
            low, high = (
                projected_closed_form(alpha, (1 - e) / 2, price * self.scale, settings.cap)
                for e in (edge - SLACK, edge + SLACK)
            )
            cancels = low == -alpha
            near = rate * low - 2 * GRAIN <= eta <= rate * high + 2 * GRAIN
            assert near or (cancels and eta == -alpha), (eta, low, high, alpha)
            return
        if alpha == 0 and rate <= 0.5 and objective.name != "max":
            whole = damped_search(slope_along(objective, self.at, self.h[j]), price, rate, self.last)
            assert abs(eta - rate * whole) <= 2 * GRAIN, (eta, whole)
            return
        best = projected_line_search(objective, self.at, self.h[j], alpha, price, settings.cap)

        def after(step: float) -> float:
            return objective.value(self.at.moved(step, self.h[j], objective.y)) + price * step

        slack = 1e-12 + 4 * GRAIN / rate * (1 / self.scale + price)
        cancels = alpha > 0 and eta == -alpha and after(-alpha) <= after(best) + slack
        whole = min(max(eta / rate, -alpha), settings.cap)
        assert cancels or after(whole) <= after(best) + slack, (eta, best, alpha)

    def check_choice(self, j: int, chosen: float, known: bool) -> None:
        """As steep as every member that competes, as the best stump, and as the other sizes of its own tree."""
        settings = self.settings
        for k in np.flatnonzero(self.alpha).tolist():
            other = self.size(k)
            if settings.learning_rate == 1 or other * self.alpha[k] > 0:
                assert chosen >= abs(other) - self.slack
        if not all(is_tree(h) for h in self.hypotheses):
            return
        if settings.criterion == "edge" or settings.family != "trees":
            r = deepboost.complexity(settings.family, 1, self.objective.m, self.d)
            stump = best_stump_edge(self.objective, self.at, self.binned())[0]
            assert chosen >= (stump - self.price(r) * self.scale) / 2 - self.slack
        if not (known and self.alpha[j] != 0) and settings.family != "stump_pairs":
            check_tree(self, self.hypotheses[j], chosen)

    def binned(self) -> np.ndarray:
        """The codes as values: stumps may ask about bins only."""
        codes = np.array(self.codes, dtype=float)
        return np.where(codes < 0, math.nan, codes)


def check_tree(audit: Auditor, tree: Any, chosen: float) -> None:
    """Every split is the best for its node, every answer the best for its leaf, and the size the best on the way."""
    settings = audit.settings
    sample = sample_at(audit.objective, audit.at, audit.columns, audit.codes)
    nodes = {node.index: node for node in walk(tree, audit.X)}
    criterion = "edge" if settings.family == "stumps" else settings.criterion
    max_depth = 1 if settings.family == "stumps" else settings.max_depth
    for node in nodes.values():
        if tree.feature[node.index] >= 0:
            check_split(sample, tree, node, nodes, criterion)
        else:
            check_answer(sample, node, answer_of(tree, node.index, sample.n_classes), audit.slack)
    if settings.growth == "best_first" and settings.family == "trees":
        cuts = best_first_cuts(sample, tree, nodes, criterion, max_depth)
    else:
        cuts = layer_cuts(sample, tree, nodes, criterion, max_depth)
    for n_splits, edge in cuts:
        r = deepboost.complexity(settings.family, n_splits, audit.objective.m, audit.d)
        assert chosen >= (edge - audit.price(r) * audit.scale) / 2 - SLACK


def check_split(sample: Sample, tree: Any, node: Reached, nodes: dict[int, Reached], criterion: str) -> None:
    left = set(nodes[int(tree.left[node.index])].rows)
    asked = [
        q
        for q in questions(sample, int(tree.feature[node.index]), node.rows)
        if threshold_of(sample, q) == tree.threshold[node.index]
        and {r for r in node.rows if q.goes_left(int(sample.codes[r][q.feature]))} == left
    ]
    assert asked, "the tree asks a question that the bins do not know"
    score = split_score(sample, node.rows, asked[0], criterion)
    best = best_split(sample, node.rows, criterion)
    unit = 1.0 if criterion == "edge" else float(sum(sample.mass))
    assert score is not None
    target = best.score if best is not None else node_score(sample, node.rows, criterion)
    assert score >= target - SLACK * unit


def check_answer(sample: Sample, node: Reached, answer: int, slack: float) -> None:
    sums = class_sums(sample, node.rows)
    if max(abs(v) for v in sums) <= slack:
        return
    assert max(sums) <= slack if answer == ABSTAIN else sums[answer] >= max(0.0, *sums) - slack


def leaf_edge(sample: Sample, rows: Sequence[int]) -> float:
    return node_score(sample, rows, "edge")


def layer_cuts(
    sample: Sample, tree: Any, nodes: dict[int, Reached], criterion: str, max_depth: int
) -> list[tuple[int, float]]:
    """(splits, edge) of the tree cut at every depth, and of one layer more where that can be known."""
    depth = max(node.depth for node in nodes.values())
    cuts = []
    for k in range(1, depth + 1):
        inner = {i for i, n in nodes.items() if tree.feature[i] >= 0 and n.depth < k}
        leaves = [n for i, n in nodes.items() if n.depth <= k and i not in inner]
        cuts.append((len(inner), sum(leaf_edge(sample, n.rows) for n in leaves)))
    if criterion != "edge" or depth == 0:
        return cuts
    n_splits, edge = cuts[-1]
    for i, node in nodes.items():
        if tree.feature[i] < 0:
            split = best_split(sample, node.rows, "edge", tie=1e-10)
            if node.depth < depth:
                assert split is None or split.gain <= SLACK, "a leaf above the last layer has a useful split"
            elif split is not None and depth < max_depth:
                n_splits, edge = n_splits + 1, edge + split.gain
    return [*cuts, (n_splits, edge)]


def best_first_cuts(
    sample: Sample, tree: Any, nodes: dict[int, Reached], criterion: str, max_depth: int
) -> list[tuple[int, float]]:
    """(splits, edge) after every split, the leaf with the largest gain first; no other leaf may have a larger one."""
    unit = 1.0 if criterion == "edge" else float(sum(sample.mass))
    gains = {}
    for i, node in nodes.items():
        split = best_split(sample, node.rows, criterion, tie=1e-10 if criterion == "edge" else 0)
        gains[i] = split.gain if split is not None and node.depth < max_depth else 0.0
    leaves, cuts = [0], []
    while splittable := [i for i in leaves if tree.feature[i] >= 0]:
        i = max(splittable, key=gains.__getitem__)
        assert gains[i] >= max(gains[leaf] for leaf in leaves) - SLACK * unit
        leaves = [leaf for leaf in leaves if leaf != i] + [int(tree.left[i]), int(tree.left[i]) + 1]
        cuts.append((len(leaves) - 1, sum(leaf_edge(sample, nodes[leaf].rows) for leaf in leaves)))
    return cuts


def audit(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    settings: Settings,
    steps: Sequence[tuple[int, int, float]],
    hypotheses: Sequence[Any],
    complexities: Sequence[float],
    n_classes: int,
    *,
    search: bool,
) -> Audit:
    """Asserts everything. `search`: proposals were exhaustive, so the choice itself can be checked."""
    auditor = Auditor(X, y, w, settings, hypotheses, complexities, n_classes, search)
    prices = np.array([auditor.price(r) for r in complexities])
    objectives: list[float] = []
    perturbed, seen = 0, set()
    for _, of_round in groupby(steps, key=lambda step: step[0]):
        moves = [(j, eta) for _, j, eta in of_round]
        if auditor.objective.name == "max" and (len(moves) > 1 or auditor.stuck()):
            assert auditor.stuck(), "weights were perturbed where a coordinate goes down"
            perturbed += 1
        else:
            assert len(moves) == 1, "only perturbations take several steps in a round"
            auditor.check(*moves[0], moves[0][0] in seen)
        for j, eta in moves:
            seen.add(j)
            auditor.move(j, eta)
            objectives.append(auditor.value(prices))
    return Audit(objectives, perturbed, auditor.at)


__all__ = ["Audit", "Objective", "audit"]
