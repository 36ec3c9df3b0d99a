"""Gradient boosting written down: regression trees, norm balls, and the loop, for tests to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

GUARD = 1.0 + 1e-12


@dataclass
class Node:
    """`split` is (column, codes that go left, whether missing values do)."""

    path: str
    rows: list[int]
    split: tuple[int, frozenset[int], bool] | None = None
    gain: float = 0.0
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Binned:
    """Codes of rows; a column's missing values have the code after its bins."""

    codes: np.ndarray
    n_bins: Sequence[int]
    categorical: Sequence[bool]
    gradients: np.ndarray  # integers, one row each, one column per output
    masses: Sequence[int]

    def sums(self, rows: Sequence[int]) -> tuple[list[int], int]:
        gradients = [sum(int(self.gradients[i, k]) for i in rows) for k in range(self.gradients.shape[1])]
        return gradients, sum(self.masses[i] for i in rows)


def score(gradients: Sequence[int], mass: int) -> float:
    """sum_k G_k^2 / W: what the mean takes off the squared error."""
    squares = 0.0
    for g in gradients:
        squares += float(g) * float(g)
    return squares / float(mass)


def orders(data: Binned, rows: Sequence[int], column: int) -> list[int]:
    """The codes in the order that cuts are made along: bins as they are, categories by their mean gradient."""
    bins = data.n_bins[column]
    if not data.categorical[column]:
        return list(range(bins))
    present = sorted({int(data.codes[i, column]) for i in rows} - {bins})
    sums = {code: data.sums([i for i in rows if data.codes[i, column] == code]) for code in present}

    def spread(k: int) -> float:
        return sum(float(sums[c][0][k]) * float(sums[c][0][k]) / float(sums[c][1]) for c in present)

    key = max(range(data.gradients.shape[1]), key=lambda k: (spread(k), -k))
    return sorted(present, key=lambda code: (Fraction(sums[code][0][key], sums[code][1]), code))


def find_split(data: Binned, node: Node, minimum: int) -> None:
    """The first of the best questions, in the order (column, cut, missing right before missing left)."""
    total, mass = data.sums(node.rows)
    best = score(total, mass) * GUARD
    for column in range(data.codes.shape[1]):
        bins = data.n_bins[column]
        in_node = {int(data.codes[i, column]) for i in node.rows}
        missing = bins in in_node
        order = orders(data, node.rows, column)
        for cut in range(len(order) if missing else len(order) - 1):
            if missing and order[cut] not in in_node:
                continue
            for missing_left in (False, True) if missing else (False,):
                left = frozenset(order[: cut + 1]) | (frozenset([bins]) if missing_left else frozenset())
                inside = [i for i in node.rows if int(data.codes[i, column]) in left]
                here, here_mass = data.sums(inside)
                there, there_mass = [t - h for t, h in zip(total, here, strict=True)], mass - here_mass
                if here_mass < max(1, minimum) or there_mass < max(1, minimum):
                    continue
                found = score(here, here_mass) + score(there, there_mass)
                if found > best:
                    best, node.split = found, (column, left, missing_left)
    if node.split is not None:
        node.gain = best - score(total, mass)


def grow(data: Binned, max_splits: int, minimum: int = 0) -> list[Node]:
    """Best-first: the nodes that were split, in that order."""
    root = Node("", list(range(len(data.codes))))
    find_split(data, root, minimum)
    leaves, done = [root], []
    while len(done) < max_splits:
        ready = [leaf for leaf in leaves if leaf.split is not None]
        if not ready:
            break
        node = max(ready, key=lambda leaf: leaf.gain)
        assert node.split is not None
        column, left, _ = node.split
        for side, name in ((True, "L"), (False, "R")):
            rows = [i for i in node.rows if (int(data.codes[i, column]) in left) == side]
            child = Node(node.path + name, rows)
            find_split(data, child, minimum)
            node.children.append(child)
        leaves = [leaf for leaf in leaves if leaf is not node] + node.children
        done.append(node)
    return done


def leaves_after(nodes: Sequence[Node], n_splits: int, n_rows: int) -> list[list[int]]:
    """The rows of each leaf when only the first splits are made."""
    kept = list(nodes[:n_splits])
    if not kept:
        return [list(range(n_rows))]
    return [child.rows for node in kept for child in node.children if child not in kept]


def project(values: np.ndarray, masses: np.ndarray, radius: float, order: float) -> np.ndarray:
    """argmin of sum m (w - v)^2 over the ball: by bisection on the multiplier of the constraint."""
    if np.linalg.norm(values, order) <= radius:
        return values.copy()
    if order == np.inf:
        return np.clip(values, -radius, radius)

    def at(t: float) -> np.ndarray:
        if order == 2:
            return masses * values / (masses + t)
        return np.sign(values) * np.maximum(np.abs(values) - t / masses, 0.0)

    low, high = 0.0, 1.0
    while np.linalg.norm(at(high), order) > radius:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.linalg.norm(at(middle), order) > radius else (low, middle)
    return at(high)


def best_first_means(X: np.ndarray, target: np.ndarray, weights: np.ndarray, n_splits: int) -> np.ndarray:
    """The prediction of a least-squares regression tree on its own rows, over all thresholds of X."""
    leaves = [np.arange(len(X))]
    for _ in range(n_splits):
        best: tuple[float, int, np.ndarray] | None = None
        for place, rows in enumerate(leaves):
            for column in range(X.shape[1]):
                for cut in np.unique(X[rows, column])[:-1]:
                    left = X[rows, column] <= cut
                    gain = -_error(target[rows], weights[rows])
                    gain = -(_error(target[rows[left]], weights[rows[left]]) + gain)
                    gain -= _error(target[rows[~left]], weights[rows[~left]])
                    if best is None or gain > best[0] + 1e-12:
                        best = gain, place, left
        if best is None or best[0] <= 1e-12:
            break
        rows = leaves.pop(best[1])
        leaves += [rows[best[2]], rows[~best[2]]]
    out = np.empty(len(X))
    for rows in leaves:
        out[rows] = np.average(target[rows], weights=weights[rows])
    return out


def _error(target: np.ndarray, weights: np.ndarray) -> float:
    mean = np.average(target, weights=weights)
    return float((weights * (target - mean) ** 2).sum())


def plain_boosting(
    X: np.ndarray,
    y: np.ndarray,
    derivative: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: float,
    *,
    n_rounds: int,
    n_splits: int,
    learning_rate: float,
) -> list[np.ndarray]:
    """Scores after each round of gradient boosting with a line search along each tree (Friedman, 2001, Algorithm 1)."""
    scores, staged = np.full(len(y), start), []
    for _ in range(n_rounds):
        h = best_first_means(X, -derivative(y, scores), np.ones(len(y)), n_splits)

        def slope(eta: float, scores: np.ndarray = scores, h: np.ndarray = h) -> float:
            return float((derivative(y, scores + eta * h) * h).mean())

        high = 1.0
        while slope(high) < 0:
            high *= 2.0
        scores = scores + learning_rate * brentq(slope, 0.0, high, xtol=1e-14, rtol=1e-14) * h
        staged.append(scores)
    return staged
