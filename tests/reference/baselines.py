"""AdaBoost.MH, SAMME and martingale boosting, as the papers write them, around any weak learner.

A weak learner is a function of (rows, labels, weights) that returns a function of rows; `cart` makes one of
scikit-learn's trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

Rule = Callable[[np.ndarray], np.ndarray]
WeakLearner = Callable[[np.ndarray, np.ndarray, np.ndarray], Rule]


def cart(max_leaves: int, **parameters: Any) -> WeakLearner:
    """Scikit-learn's tree, grown leaf by leaf."""

    def learn(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Rule:
        tree = DecisionTreeClassifier(max_leaf_nodes=max_leaves, random_state=0, **parameters)
        used = weights > 0
        tree.fit(X[used], y[used], sample_weight=weights[used])
        return lambda rows: np.asarray(tree.predict(rows))

    return learn


@dataclass
class Boosted:
    """The outcome of a fit: hypotheses with their steps, and the training scores after each round."""

    steps: list[float] = field(default_factory=list)
    hypotheses: list[list[Rule]] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)


def adaboost_mh(
    X: np.ndarray, y: np.ndarray, n_classes: int, n_rounds: int, learn: WeakLearner, share: np.ndarray | None = None
) -> Boosted:
    """Soft-max boosting, Algorithm 3: a binary weak learner for each class, one step for all of them."""
    share = np.ones(len(y)) if share is None else share
    target = np.where(np.arange(n_classes)[None, :] == y[:, None], 1.0, -1.0)  # -c of the paper
    w = np.repeat(share[:, None], n_classes, axis=1)
    w = w / w.sum()
    psi = np.zeros((len(y), n_classes))
    out = Boosted()
    for _ in range(n_rounds):
        rules = [learn(X, target[:, k], w[:, k]) for k in range(n_classes)]
        h = np.column_stack([rule(X) for rule in rules])
        edge = float((w * h * target).sum())
        if not 0 < edge < 1:
            break
        alpha = 0.5 * math.log((1 + edge) / (1 - edge))
        w = w * np.exp(-alpha * target * h)
        w = w / w.sum()
        psi = psi + alpha * h
        out.steps.append(alpha)
        out.hypotheses.append(rules)
        out.scores.append(psi)
    return out


def samme(
    X: np.ndarray, y: np.ndarray, n_classes: int, n_rounds: int, learn: WeakLearner, share: np.ndarray | None = None
) -> Boosted:
    """Soft-max boosting, Algorithm 4: one weak learner for all classes."""
    w = np.ones(len(y)) if share is None else np.asarray(share, dtype=float)
    w = w / w.sum()
    psi = np.zeros((len(y), n_classes))
    out = Boosted()
    for _ in range(n_rounds):
        rule = learn(X, y, w)
        h = rule(X).astype(int)
        error = float(w[h != y].sum())
        if not 0 < error < 1 - 1 / n_classes:
            break
        alpha = math.log((1 - error) / error) + math.log(n_classes - 1)
        w = w * np.exp(alpha * (h != y))
        w = w / w.sum()
        psi = psi + alpha * (h[:, None] == np.arange(n_classes))
        out.steps.append(alpha)
        out.hypotheses.append([rule])
        out.scores.append(psi)
    return out


@dataclass(frozen=True)
class Junction:
    """A node of the branching program: a rule (None: none was learned), and how often it goes right on each answer."""

    rule: Rule | None
    right_on_0: float
    right_on_1: float

    def goes_right(self, X: np.ndarray) -> np.ndarray:
        if self.rule is None:
            return np.full(len(X), self.right_on_0)
        return np.where(self.rule(X) == 1, self.right_on_1, self.right_on_0)


def two_sided(X: np.ndarray, y: np.ndarray, mass: np.ndarray, learn: WeakLearner) -> Junction:
    """Section 5.5.1: a weak learner on balanced rows, randomised so that both answers are equally likely there."""
    total = [float(mass[y == label].sum()) for label in (0, 1)]
    if min(total) == 0:  # one class at most: send it where it belongs
        right = 0.5 if max(total) == 0 else float(total[1] > 0)
        return Junction(None, right, right)
    balanced = np.where(y == 1, mass / (2 * total[1]), mass / (2 * total[0]))
    rule = learn(X, y, balanced)
    p1 = float(balanced[rule(X) == 1].sum())
    if p1 >= 0.5:
        return Junction(rule, 0.0, 1 / (2 * p1))
    return Junction(rule, 1 - 1 / (2 * (1 - p1)), 1.0)


def martiboost(
    X: np.ndarray, y: np.ndarray, n_layers: int, learn: WeakLearner, share: np.ndarray | None = None
) -> list[list[Junction]]:
    """Martingale boosting (Long and Servedio, 2005), labels 0 and 1; masses are probabilities of random walks."""
    mass = np.ones((len(y), 1)) if share is None else np.asarray(share, dtype=float)[:, None]
    layers = []
    for depth in range(n_layers):
        layer = [two_sided(X, y, mass[:, node], learn) for node in range(depth + 1)]
        mass = walk(layer, X, mass)
        layers.append(layer)
    return layers


def walk(layer: list[Junction], X: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Masses in the next layer, which has one node more."""
    out = np.zeros((len(X), mass.shape[1] + 1))
    for node, junction in enumerate(layer):
        right = junction.goes_right(X)
        out[:, node] += mass[:, node] * (1 - right)
        out[:, node + 1] += mass[:, node] * right
    return out


def ends_right(layers: list[list[Junction]], X: np.ndarray) -> np.ndarray:
    """The probability that a row ends beyond the middle of the last layer."""
    mass = np.ones((len(X), 1))
    for layer in layers:
        mass = walk(layer, X, mass)
    return np.asarray(mass[:, np.arange(len(layers) + 1) > len(layers) / 2].sum(axis=1))
