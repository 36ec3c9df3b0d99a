"""Gradient boosting written down: regression trees, norm balls, and the loop, for tests to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

GUARD = 1.0 + 1e-12
Allowed = Callable[[frozenset[int]], Sequence[int] | None]


@dataclass
class Node:
    """`split` is (column, codes that go left, whether missing values do)."""

    path: str
    rows: list[int]
    lowest: float = -math.inf  # what monotone columns further up leave of the values
    highest: float = math.inf
    split: tuple[int, frozenset[int], bool] | None = None
    gain: float = 0.0
    children: list[Node] = field(default_factory=list)
    asked: frozenset[int] = frozenset()  # columns further up

    def clip(self, value: float) -> float:
        return min(max(value, self.lowest), self.highest)


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


def bounded(gradient: int, mass: int, node: Node) -> tuple[float, float]:
    """The value that a part of a node may have, the closest to -G / W, and what it takes off the squared error."""
    g, w = float(gradient), float(mass)
    value = node.clip(-g / w)
    return value, -(w * value + 2.0 * g) * value


def unsplit_score(gradients: Sequence[int], mass: int, node: Node, directions: Sequence[int]) -> float:
    return max(0.0, bounded(gradients[0], mass, node)[1]) if directions else score(gradients, mass)


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


def find_split(
    data: Binned, node: Node, minimum: int, directions: Sequence[int] = (), allowed: Allowed = lambda asked: None
) -> None:
    """The first of the best questions, in the order (column, cut, missing right before missing left).

    `directions` has -1, 0 or +1 for each column, or is empty: values keep within the node's bounds, and the value of
    the right side may not lie on the wrong side of that of the left. `allowed` are the columns that may be asked about
    after others, None for all.
    """
    total, mass = data.sums(node.rows)
    unsplit = unsplit_score(total, mass, node, directions)
    best = unsplit * GUARD
    columns = allowed(node.asked)
    for column in range(data.codes.shape[1]) if columns is None else columns:
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
                if directions:
                    (value, gained), (other, more) = (
                        bounded(here[0], here_mass, node),
                        bounded(there[0], there_mass, node),
                    )
                    if directions[column] * (other - value) < 0:
                        continue
                    found = gained + more
                if found > best:
                    best, node.split = found, (column, left, missing_left)
    if node.split is not None:
        node.gain = best - unsplit


def bound_children(data: Binned, node: Node, directions: Sequence[int]) -> None:
    """What the children of a split on a monotone column may say ends in the middle between their values."""
    left, right = node.children
    for child in node.children:
        child.lowest, child.highest = node.lowest, node.highest
    assert node.split is not None
    direction = directions[node.split[0]] if directions else 0
    if direction != 0:
        values = [bounded(gradients[0], mass, node)[0] for gradients, mass in map(data.sums, (left.rows, right.rows))]
        below, above = (left, right) if direction > 0 else (right, left)
        below.highest = above.lowest = 0.5 * values[0] + 0.5 * values[1]


def grow(
    data: Binned,
    max_splits: int,
    minimum: int = 0,
    directions: Sequence[int] = (),
    rows: Sequence[int] | None = None,
    allowed: Allowed = lambda asked: None,
) -> list[Node]:
    """Best-first: the nodes that were split, in that order; on some of the rows, or on all."""
    root = Node("", list(range(len(data.codes)) if rows is None else rows))
    find_split(data, root, minimum, directions, allowed)
    leaves: list[Node] = [root]
    done: list[Node] = []
    while len(done) < max_splits:
        ready = [leaf for leaf in leaves if leaf.split is not None]
        if not ready:
            break
        node = max(ready, key=lambda leaf: leaf.gain)
        assert node.split is not None
        column, left, _ = node.split
        for side, name in ((True, "L"), (False, "R")):
            inside = [i for i in node.rows if (int(data.codes[i, column]) in left) == side]
            node.children.append(Node(node.path + name, inside, asked=node.asked | {column}))
        bound_children(data, node, directions)
        for child in node.children:
            find_split(data, child, minimum, directions, allowed)
        leaves = [leaf for leaf in leaves if leaf is not node] + node.children
        done.append(node)
    return done


def leaves_after(nodes: Sequence[Node], n_splits: int, n_rows: int) -> list[list[int]]:
    """The rows of each leaf when only the first splits are made."""
    kept = list(nodes[:n_splits])
    if not kept:
        return [list(range(n_rows))]
    return [child.rows for node in kept for child in node.children if child not in kept]


def goes_left(node: Node, data: Binned, codes: Sequence[int]) -> bool:
    """Missing values and categories that no row of the node had follow the heavier child, to the left on a tie."""
    assert node.split is not None
    column, left, _ = node.split
    code = int(codes[column])
    listed = data.categorical[column] or code == data.n_bins[column]
    if listed and code not in {int(data.codes[i, column]) for i in node.rows}:
        return 2 * data.sums(node.children[0].rows)[1] >= data.sums(node.rows)[1]
    return code in left


def paths_of(nodes: Sequence[Node], data: Binned) -> list[str]:
    """The leaf of every row, whether the tree was grown on it or not, when only these splits are made."""
    split_at = {node.path: node for node in nodes}
    paths = []
    for codes in data.codes:
        path = ""
        while path in split_at:
            path += "L" if goes_left(split_at[path], data, codes) else "R"
        paths.append(path)
    return paths


def keep_directions(
    nodes: Sequence[Node],
    values: Mapping[str, float],
    masses: Mapping[str, float],
    directions: Sequence[int],
    order: float,
) -> dict[str, float]:
    """Values of leaves, by path, moved as little as their order along monotone columns asks for.

    At a split on such a column the middle between the mean values of its two sides ends what either may say. Should the
    values leave the unit ball by that, all are made smaller.
    """
    split_at = {node.path: node.split for node in nodes if node.split is not None}
    kept: dict[str, float] = {}

    def total(path: str) -> float:
        return sum(mass for leaf, mass in masses.items() if leaf.startswith(path))

    def mean(path: str) -> float:
        if path not in split_at or total(path) == 0:
            return values.get(path, 0.0)
        sides = [path + side for side in "LR"]
        return (total(sides[0]) * mean(sides[0]) + total(sides[1]) * mean(sides[1])) / total(path)

    def descend(node: Node) -> None:
        if node.path not in split_at:
            kept[node.path] = node.clip(values[node.path])
            return
        sides = {side: Node(node.path + side, [], node.lowest, node.highest) for side in "LR"}
        direction = directions[split_at[node.path][0]]
        if direction != 0:
            middle = 0.5 * node.clip(mean(node.path + "L")) + 0.5 * node.clip(mean(node.path + "R"))
            below, above = ("L", "R") if direction > 0 else ("R", "L")
            sides[below].highest = sides[above].lowest = middle
        for side in sides.values():
            descend(side)

    descend(Node("", []))
    norm = float(np.linalg.norm(list(kept.values()), order))
    return {path: value / max(1.0, norm) for path, value in kept.items()}


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
    """The prediction of a least-squares regression tree on its own rows, over all thresholds of X.

    With a column for each of several targets their squared errors add up.
    """
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
    out = np.empty(target.shape)
    for rows in leaves:
        out[rows] = np.average(target[rows], weights=weights[rows], axis=0)
    return out


def _error(target: np.ndarray, weights: np.ndarray) -> float:
    mean = np.average(target, weights=weights, axis=0)
    return float((weights * ((target - mean) ** 2).T).sum())


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
