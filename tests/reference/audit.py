"""Follows a fitted DeepBoost model step by step and checks each against Figure 2.

Unlike a second run of the algorithm this does not care how ties were broken: at every round it looks whether what the
model did is as good as the best that could be done from where the model stood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import deepboost
from .binning import bin_matrix
from .growth import all_stumps
from .losses import LOSSES
from .splits import Sample, best_split, make_sample, node_score, questions, split_score, threshold_of, total
from .steps import along, closed_form, damped_search, exact_line_search

SLACK = 1e-9  # of a total weight of 1


@dataclass
class Audited:
    """A node of a tree under audit, with the training rows that reach it."""

    index: int
    depth: int
    rows: list[int]


def audit(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    settings: deepboost.Settings,
    steps: Sequence[tuple[int, int, float]],
    hypotheses: Sequence[Any],
    complexities: Sequence[float],
    *,
    search: bool,
) -> list[float]:
    """Asserts everything and returns F after each step.

    `search`: whether proposals were exhaustive (all rows, all columns, best thresholds), so that the choice itself can
    be checked and not only the complexity, the size of the step and its direction.
    """
    m, loss = float(w.sum()), LOSSES[settings.loss]
    columns, codes = bin_matrix(X, w.tolist(), settings.max_bins)
    d = sum(2 if c.has_missing else 1 for c in columns)
    predictions = [np.array(_predict(t, X), dtype=float) for t in hypotheses]
    for tree, r in zip(hypotheses, complexities, strict=True):
        assert math.isclose(r, deepboost.complexity(settings.family, tree.n_splits, m, d), rel_tol=1e-12)
    alpha = np.zeros(len(hypotheses))
    prices = settings.lam * np.array(complexities) + settings.beta
    f, objectives, seen, last = np.zeros(len(y)), [], set(), 1.0
    for _, j, eta in steps:
        D, S = deepboost.distribution(loss, f, y, w)
        eps = float(0.5 * (1 - np.sum(D * y * predictions[j])))
        q = prices[j] * m / S
        _check_step(settings, loss, f, predictions[j], y, w, alpha[j], eps, q, prices[j], eta, last)
        last = abs(eta) / settings.learning_rate
        if search:
            sample = make_sample(columns, codes.tolist(), D.tolist(), y.astype(int).tolist(), w.tolist())
            _check_choice(settings, sample, X, hypotheses, predictions, alpha, prices, j, j in seen, D, y, m / S, d)
        seen.add(j)
        alpha[j] += eta
        f = f + eta * predictions[j]
        objectives.append(float(np.sum(w * loss.value(1 - y * f)) / m + np.sum(prices * np.abs(alpha))))
    return objectives


def _predict(tree: Any, X: np.ndarray) -> list[int]:
    out = [0] * len(X)
    for node in _walk(tree, X):
        if tree.feature[node.index] < 0:
            for i in node.rows:
                out[i] = int(tree.value[node.index])
    return out


def _walk(tree: Any, X: np.ndarray) -> list[Audited]:
    """All nodes with the rows that reach them, parents first."""
    found, queue = [], [Audited(0, 0, list(range(len(X))))]
    while queue:
        node = queue.pop(0)
        found.append(node)
        i = node.index
        if tree.feature[i] >= 0:
            left = [
                r
                for r in node.rows
                if (
                    bool(tree.missing_left[i])
                    if math.isnan(X[r, tree.feature[i]])
                    else X[r, tree.feature[i]] <= tree.threshold[i]
                )
            ]
            right = sorted(set(node.rows) - set(left))
            queue += [
                Audited(int(tree.left[i]), node.depth + 1, left),
                Audited(int(tree.left[i]) + 1, node.depth + 1, right),
            ]
    return found


def _check_step(
    settings: Any,
    loss: Any,
    f: Any,
    h: Any,
    y: Any,
    w: Any,
    alpha: float,
    eps: float,
    q: float,
    price: float,
    eta: float,
    last: float,
) -> None:
    def derivative(step: float) -> float:
        return float(-np.sum(w * y * h * loss.derivative(1 - y * (f + step * h))) / np.sum(w))

    capped = deepboost.flawless_step(1 - 2 * eps, price, float(np.sum(w)))
    if capped is not None:
        whole, slack = capped, 1e-9
    elif settings.step == "closed_form" and loss.closed_form:
        whole = closed_form(alpha, eps, q, settings.cap)
        slack = 1e-9 + 1e-9 * abs(whole)
    elif alpha == 0 and settings.learning_rate <= 0.5:
        whole, slack = damped_search(derivative, price, settings.learning_rate, last), 1e-9
    else:
        whole = exact_line_search(along(loss, f, h, y, w, alpha, price), alpha, 3 * settings.cap)
        whole = whole if whole == -alpha else max(-settings.cap, min(settings.cap, whole))
        slack = 1e-5  # golden sections know the minimum to about the root of the machine precision
    cancels = abs(whole + alpha) <= slack and alpha != 0
    rates = {1.0, settings.learning_rate} if cancels else {settings.learning_rate}
    assert any(abs(eta - rate * whole) <= slack for rate in rates), (eta, whole, alpha, eps, q)
    if alpha != 0 and eta == -alpha:
        assert cancels


def _check_choice(
    settings: Any,
    sample: Sample,
    X: Any,
    hypotheses: Any,
    predictions: Any,
    alpha: Any,
    prices: Any,
    j: int,
    known: bool,
    D: Any,
    y: Any,
    scale: float,
    d: int,
) -> None:
    """The chosen abs(d_j) is as large as that of every member, of the best stump, and of the tree's own neighbours."""

    def direction(h: Any, weight: float, price: float) -> float:
        return deepboost.member_direction(float(0.5 * (1 - np.sum(D * y * h))), weight, price * scale)

    chosen = abs(direction(predictions[j], alpha[j], prices[j]))
    damped = settings.learning_rate < 1
    for k in np.flatnonzero(alpha):
        other = direction(predictions[k], alpha[k], prices[k])
        if not damped or other * alpha[k] > 0:
            assert chosen >= abs(other) - SLACK
    m = float(np.sum(sample.weight))
    if settings.criterion == "edge":
        stump_price = settings.lam * deepboost.complexity(settings.family, 1, m, d) + settings.beta
        for h in all_stumps(sample):
            usable = h if len(set(h)) > 1 else None
            if usable is not None:
                assert chosen >= abs(direction(np.array(h), 0.0, stump_price)) - SLACK
    if not (known and alpha[j] != 0) and settings.family != "stump_pairs":
        _check_tree(settings, sample, X, hypotheses[j], chosen, scale, m, d)


def _check_tree(
    settings: Any, sample: Sample, X: Any, tree: Any, chosen: float, scale: float, m: float, d: int
) -> None:
    """Every split is the best for its node, every leaf above the last layer has none, and the depth is the best."""
    nodes = _walk(tree, X)
    depth = max(n.depth for n in nodes)
    rows_of = {n.index: n.rows for n in nodes}
    edge_at = [0.0] * (depth + 2)
    splits_at = [0] * (depth + 2)
    for node in nodes:
        i = node.index
        magnitude = abs(total(sample.signed, node.rows))
        best = best_split(sample, node.rows, settings.criterion, tie=SLACK)
        if tree.feature[i] >= 0:
            left = set(rows_of[int(tree.left[i])])
            asked = [
                q
                for q in questions(sample, int(tree.feature[i]))
                if threshold_of(sample, q) == tree.threshold[i]
                and {r for r in node.rows if q.goes_left(int(sample.codes[r][q.feature]))} == left
            ]
            assert asked, "the tree asks a question that the bins do not know"
            score = split_score(sample, node.rows, asked[0], settings.criterion)
            own = node_score(settings.criterion, total(sample.signed, node.rows), total(sample.mass, node.rows))
            assert score is not None
            assert float(score) >= float(best.score if best else own) - 1e-7
            edge_at[node.depth] += magnitude
            for k in range(node.depth + 1, depth + 2):
                splits_at[k] += 1
            continue
        value = total(sample.signed, node.rows)
        assert abs(value) <= SLACK or tree.value[i] == (1 if value > 0 else -1)
        if node.depth < depth and settings.criterion == "edge":
            assert best is None or float(best.gain) <= 1e-7
        for k in range(node.depth, depth + 1):
            edge_at[k] += magnitude
        if node.depth == depth and best is not None and settings.criterion == "edge":
            edge_at[depth + 1] += float(best.score)
            splits_at[depth + 1] += 1
        else:
            edge_at[depth + 1] += magnitude
    layers = depth + 1 if depth < (1 if settings.family == "stumps" else settings.max_depth) and depth > 0 else depth
    for k in range(1, layers + 1):
        price = settings.lam * deepboost.complexity(settings.family, splits_at[k], m, d) + settings.beta
        assert chosen >= edge_at[k] / 2 - price * scale / 2 - 1e-7
