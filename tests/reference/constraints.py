"""Trees of two classes with constraints on their columns, grown by trying every question that these leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from . import growth
from .chance import drawn_columns, node_key, random_question
from .growth import Node, all_nodes, by_gain, by_layers, new_root
from .splits import Question, Sample, Split, best_split, parts, questions, total


def allowed_columns(asked: frozenset[int], n_columns: int, groups: Sequence[Sequence[int]], most: int) -> list[int]:
    """The columns that may be asked about after these, by the definition: all of a path stand in one group."""
    together = [set(group) for group in groups] or [set(range(n_columns))]
    return [
        c
        for c in range(n_columns)
        if any(asked | {c} <= group for group in together) and (most == 0 or len(asked | {c}) <= most)
    ]


def groups_of(rng: np.random.Generator, d: int) -> list[list[int]]:
    """Some random groups that overlap, with every column in at least one."""
    groups = [
        sorted(rng.choice(d, int(rng.integers(1, d + 1)), replace=False).tolist()) for _ in range(rng.integers(1, 4))
    ]
    missing = sorted(set(range(d)) - {c for group in groups for c in group})
    return [*groups, missing] if missing else groups


@dataclass
class Grower:
    """`directions` has -1, 0 or +1 for each column, or is empty; with `most` = 0 paths have any number of columns."""

    sample: Sample
    criterion: str
    directions: Sequence[int] = ()
    groups: Sequence[Sequence[int]] = ()
    most: int = 0
    random: bool = False
    max_features: int = 0
    seed: int = 0
    round_number: int = 0
    bounds: dict[str, tuple[float, float]] = field(default_factory=lambda: {"": (-math.inf, math.inf)})
    asked: dict[str, frozenset[int]] = field(default_factory=lambda: {"": frozenset()})

    def grow(self, max_depth: int, grow_rows: Sequence[int] | None = None) -> list[dict[str, tuple[object, ...]]]:
        """The tree after each layer: {path: (column, threshold, missing_left, value)}; leaves have column -1."""
        root = new_root(self.sample, grow_rows)
        return by_layers(root, max_depth, self.choose, self.ask, self.freeze)

    def grow_best_first(self, max_leaves: int, grow_rows: Sequence[int] | None) -> list[dict[str, tuple[object, ...]]]:
        """The tree after each split."""
        root = new_root(self.sample, grow_rows)
        return by_gain(root, max_leaves, None, self.choose, self.ask, self.freeze, 0.0)

    def value(self, rows: Sequence[int], path: str) -> tuple[float, float]:
        """What some of a node's rows may answer with, the closest to their mean sign, and what that scores."""
        g, w = float(total(self.sample.signed, rows)), float(total(self.sample.mass, rows))
        lowest, highest = self.bounds[path]
        value = min(max(g / w if w > 0 else 0.0, lowest), highest)
        if self.criterion == "gini":
            return value, 0.5 * (w + (2.0 * g - w * value) * value)
        return value, g if value > 0 else -g if value < 0 else 0.0

    def columns(self, path: str) -> list[int]:
        return allowed_columns(self.asked[path], len(self.sample.columns), self.groups, self.most)

    def choose(self, node: Node) -> Split | None:
        if len({self.sample.signed[i] > 0 for i in node.grown if self.sample.mass[i] > 0}) < 2:
            return None
        allowed, key = self.columns(node.path), node_key(self.seed, self.round_number, node.path)
        first, last = 0, min(self.max_features or len(allowed), len(allowed))
        while first < len(allowed):
            drawn = [allowed[k] for k in drawn_columns(key, len(allowed), first, last)]
            found: list[Question] = []
            for column in drawn:
                found += (
                    random_question(self.sample, node.grown, column, key)
                    if self.random
                    else questions(self.sample, column, node.grown)
                )
            if any(len({int(self.sample.codes[i][column]) for i in node.grown}) > 1 for column in drawn):
                return self.best(node, found) if self.directions or self.random else self.plain(node, drawn)
            first, last = last, min(len(allowed), 2 * last)
        return None

    def plain(self, node: Node, columns: Sequence[int]) -> Split | None:
        return best_split(self.sample, node.grown, self.criterion, features=columns)

    def best(self, node: Node, found: Sequence[Question]) -> Split | None:
        own = max(0.0, self.value(node.grown, node.path)[1])
        score, best = own * (1 + 1e-12) + 1e-12 if self.criterion == "gini" else own, None
        for question in found:
            left, right = parts(self.sample, node.grown, question)
            if self.criterion == "gini" and 0 in (total(self.sample.mass, left), total(self.sample.mass, right)):
                continue
            (here, gained), (there, more) = self.value(left, node.path), self.value(right, node.path)
            direction = self.directions[question.feature] if self.directions else 0
            if direction * (there - here) >= 0 and max(0.0, gained + more) > score:
                score, best = gained + more, question
        return None if best is None else Split(best, score, score - own)

    def ask(self, node: Node, question: Question) -> None:
        growth.ask(self.sample, node, question)
        for child in node.children:
            self.asked[child.path] = self.asked[node.path] | {question.feature}
            self.bounds[child.path] = self.bounds[node.path]
        middle = sum(0.5 * self.value(child.grown, node.path)[0] for child in node.children)
        self.bound(node, question, middle, self.bounds)

    def bound(self, node: Node, question: Question, middle: float, bounds: dict[str, tuple[float, float]]) -> None:
        direction = self.directions[question.feature] if self.directions else 0
        if direction != 0:
            below, above = node.children if direction > 0 else node.children[::-1]
            bounds[below.path] = (bounds[below.path][0], middle)
            bounds[above.path] = (middle, bounds[above.path][1])

    def shares(self, root: Node) -> dict[str, float]:
        """What each node answers with, judged on all rows: its edge as a share of what it could gain."""
        bounds = {"": (-1.0, 1.0)}
        found: dict[str, float] = {}

        def share(node: Node, path: str) -> float:
            could = sum(abs(self.sample.judge[i]) for i in node.rows)
            own = float(total(self.sample.judge, node.rows)) / float(could) if could > 0 else 0.0
            return min(max(own, bounds[path][0]), bounds[path][1])

        for node in all_nodes(root):
            found[node.path] = share(node, node.path)
            if node.left is not None and node.question is not None:
                for child in node.children:
                    bounds[child.path] = bounds[node.path]
                self.bound(node, node.question, sum(0.5 * share(c, node.path) for c in node.children), bounds)
        return found

    def freeze(self, root: Node, max_depth: int | None = None) -> dict[str, tuple[object, ...]]:
        shares = self.shares(root)
        out: dict[str, tuple[object, ...]] = {}
        for node in all_nodes(root, max_depth):
            if node.question is not None and (max_depth is None or node.depth < max_depth):
                out[node.path] = (node.question.feature, node.threshold, node.missing_left, 0.0)
            else:
                out[node.path] = (-1, 0.0, False, shares[node.path])
        return out
