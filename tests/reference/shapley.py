"""Shapley values of a tree by their definition, and by the recursion of TreeSHAP, for tests to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

Value = Callable[[frozenset[int]], np.ndarray]


def answer(tree: Any, leaf: int) -> np.ndarray:
    """What a leaf says of each output."""
    value = tree.value[leaf]
    if tree.n_outputs == 1:
        return np.array([value])
    if tree.vectors is not None:
        return np.asarray(tree.vectors[int(value)])
    return np.array([1.0 if k == value else 0.0 for k in range(tree.n_outputs)])


def goes_left(tree: Any, node: int, row: np.ndarray) -> bool:
    x = row[tree.feature[node]]
    codes = tree.categories_left(node)
    if codes is not None:
        return int(x) in codes if not np.isnan(x) and 0 <= x < 255 else bool(tree.missing_left[node])
    return bool(tree.missing_left[node]) if np.isnan(x) else bool(x <= tree.threshold[node])


def shares(tree: Any, node: int) -> tuple[float, float]:
    """Of the training weight below a node; halves where there is none."""
    left, right = (max(0.0, float(tree.cover[tree.left[node] + side])) for side in (0, 1))
    return (left / (left + right), right / (left + right)) if left + right > 0 else (0.5, 0.5)


def mean_answer(tree: Any, row: np.ndarray, known: frozenset[int], node: int = 0) -> np.ndarray:
    """v(S): questions about features of S are answered by the row, others by the training weight of both sides."""
    if tree.feature[node] < 0:
        return answer(tree, node)
    left = int(tree.left[node])
    if int(tree.feature[node]) in known:
        return mean_answer(tree, row, known, left if goes_left(tree, node, row) else left + 1)
    share = shares(tree, node)
    return share[0] * mean_answer(tree, row, known, left) + share[1] * mean_answer(tree, row, known, left + 1)


def subsets(of: list[int]) -> list[frozenset[int]]:
    return [frozenset(chosen) for size in range(len(of) + 1) for chosen in combinations(of, size)]


def brute_force(tree: Any, row: np.ndarray) -> np.ndarray:
    """Contributions (outputs, features + 1) by the sum over all subsets of the features."""
    features = sorted({int(f) for f in tree.feature if f >= 0})
    n, values = len(features), {s: mean_answer(tree, row, s) for s in subsets(features)}
    out = np.zeros((tree.n_outputs, tree.n_features + 1))
    for i in features:
        for s in subsets([f for f in features if f != i]):
            weight = math.factorial(len(s)) * math.factorial(n - len(s) - 1) / math.factorial(n)
            out[:, i] += weight * (values[s | {i}] - values[s])
    out[:, -1] = values[frozenset()]
    return out


def brute_force_pairs(tree: Any, row: np.ndarray) -> np.ndarray:
    """Contributions of pairs (outputs, features + 1, features + 1), half on each side of the diagonal."""
    features = sorted({int(f) for f in tree.feature if f >= 0})
    n, values = len(features), {s: mean_answer(tree, row, s) for s in subsets(features)}
    single = brute_force(tree, row)
    out = np.zeros((tree.n_outputs, tree.n_features + 1, tree.n_features + 1))
    for i, j in combinations(features, 2):
        for s in subsets([f for f in features if f not in (i, j)]):
            weight = math.factorial(len(s)) * math.factorial(n - len(s) - 2) / math.factorial(n - 1) / 2
            out[:, i, j] += weight * (values[s | {i, j}] - values[s | {i}] - values[s | {j}] + values[s])
        out[:, j, i] = out[:, i, j]
    for i in features:
        out[:, i, i] = single[:, i] - out[:, i].sum(axis=1)
    out[:, -1, -1] = single[:, -1]
    return out


@dataclass(frozen=True)
class Part:
    """A feature on the way: how much of the rows its questions let through when it is unknown, and when it is known."""

    feature: int
    zero: float
    one: float


def by_leaf(parts: list[Part], value: np.ndarray, out: np.ndarray) -> None:
    """Adds the contributions of a leaf: those of the game prod(one of i in S) * prod(zero of i not in S)."""
    n = len(parts)
    for i, own in enumerate(parts):
        others = [part for k, part in enumerate(parts) if k != i]
        sums = np.zeros(n)  # sums[s]: over the subsets of s others
        sums[0] = 1.0
        for part in others:
            sums[1:], sums[0] = sums[1:] * part.zero + sums[:-1] * part.one, sums[0] * part.zero
        weights = [math.factorial(s) * math.factorial(n - s - 1) / math.factorial(n) for s in range(n)]
        out[:, own.feature] += (own.one - own.zero) * float(np.dot(weights, sums)) * value


def recursive(tree: Any, row: np.ndarray) -> np.ndarray:
    """The same contributions leaf by leaf (Lundberg, Erion and Lee, 2018, Algorithm 2, without its short cuts)."""
    out = np.zeros((tree.n_outputs, tree.n_features + 1))

    def walk(node: int, parts: list[Part]) -> None:
        if tree.feature[node] < 0:
            by_leaf(parts, answer(tree, node), out)
            out[:, -1] += math.prod(part.zero for part in parts) * answer(tree, node)
            return
        feature, left = int(tree.feature[node]), int(tree.left[node])
        old = next((part for part in parts if part.feature == feature), Part(feature, 1.0, 1.0))
        others = [part for part in parts if part.feature != feature]
        taken = 0 if goes_left(tree, node, row) else 1
        for side, share in enumerate(shares(tree, node)):
            one = old.one if side == taken else 0.0
            walk(left + side, [*others, replace(old, zero=old.zero * share, one=one)])

    walk(0, [])
    return out
