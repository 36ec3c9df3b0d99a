"""Trees grown one layer at a time, best first, or as a pair of questions; and a predictor that walks them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from .splits import (
    Question,
    Sample,
    Split,
    best_split,
    make_sample,
    node_score,
    parts,
    questions,
    threshold_of,
    total,
)


@dataclass
class Node:
    """A node under construction. `rows` are all training rows that reach it, `grown` those it grew on."""

    rows: list[int]
    grown: list[int]
    depth: int
    path: str  # "L" and "R" from the root; breadth-first order is (depth, path)
    sign: int
    question: Question | None = None
    threshold: float = math.nan
    missing_left: bool = True
    left: Node | None = None
    right: Node | None = None

    @property
    def children(self) -> tuple[Node, Node]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right


@dataclass(frozen=True)
class Tree:
    """A tree as arrays, breadth first: the children of i are left[i] and left[i] + 1; leaf: feature -1."""

    feature: list[int]
    threshold: list[float]
    left: list[int]
    missing_left: list[bool]
    value: list[int]
    cover: list[float]
    n_splits: int
    depth: int
    edge: float  # sum over leaves of abs(sum of D*y), not normalised
    train_value: list[int] = field(repr=False)  # the prediction on every training row

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def key(self) -> tuple[object, ...]:
        """Equal for two trees that are the same function up to sign: one coordinate of (4)."""
        leaves = [v for v, f in zip(self.value, self.feature, strict=True) if f < 0]
        flip = leaves[0]
        asked = [(f, t, m) for f, t, m in zip(self.feature, self.threshold, self.missing_left, strict=True) if f >= 0]
        return (tuple(self.feature), tuple(asked), tuple(v * flip for v in leaves))


Branch = tuple[int, float, bool, int]


def by_path(tree: Any) -> dict[str, Branch]:
    """Any tree with the arrays of `Tree`, as {path of L and R: (feature, threshold, missing_left, value)}.

    Two trees are the same function by construction when these are equal, however their nodes are numbered.
    """
    out: dict[str, Branch] = {}
    stack = [(0, "")]
    while stack:
        i, path = stack.pop()
        if tree.feature[i] < 0:
            out[path] = (-1, 0.0, False, int(tree.value[i]))
        else:
            out[path] = (int(tree.feature[i]), float(tree.threshold[i]), bool(tree.missing_left[i]), 0)
            stack += [(int(tree.left[i]), path + "L"), (int(tree.left[i]) + 1, path + "R")]
    return out


def sign_of(value: float, otherwise: int) -> int:
    return 1 if value > 0 else -1 if value < 0 else otherwise


def new_root(sample: Sample, grow_rows: Sequence[int] | None) -> Node:
    rows = sample.rows
    grown = rows if grow_rows is None else list(grow_rows)
    return Node(rows, grown, 0, "", sign_of(total(sample.judge, rows), 1))


def ask(sample: Sample, node: Node, question: Question) -> None:
    """Split a node. A missing value that no grown row had goes to the heavier child, to the left on a tie."""
    left, right = parts(sample, node.rows, question)
    grown_left, grown_right = parts(sample, node.grown, question)
    seen = any(int(sample.codes[i][question.feature]) < 0 for i in node.grown)
    node.missing_left = (
        question.missing_left if seen else total(sample.weight, grown_left) >= total(sample.weight, grown_right)
    )
    if not seen:
        question = Question(question.feature, question.bin, node.missing_left)
        left, right = parts(sample, node.rows, question)
    node.question = question
    node.threshold = threshold_of(sample, question)
    node.left = Node(left, grown_left, node.depth + 1, node.path + "L", sign_of(total(sample.judge, left), node.sign))
    node.right = Node(
        right, grown_right, node.depth + 1, node.path + "R", sign_of(total(sample.judge, right), node.sign)
    )


def all_nodes(root: Node, max_depth: int | None = None) -> list[Node]:
    """Nodes in breadth-first order, nothing below max_depth."""
    found, queue = [], [root]
    while queue:
        node = queue.pop(0)
        found.append(node)
        if node.left is not None and node.right is not None and (max_depth is None or node.depth < max_depth):
            queue += [node.left, node.right]
    return found


def freeze(sample: Sample, root: Node, max_depth: int | None = None, n_splits: int | None = None) -> Tree:
    """The tree cut at a depth, as arrays, with its edge and its predictions on the training rows."""
    nodes = all_nodes(root, max_depth)
    index = {id(node): i for i, node in enumerate(nodes)}
    inner = [node for node in nodes if node.left is not None and id(node.left) in index]
    inner_ids = {id(node) for node in inner}
    predictions = [0] * len(sample.signed)
    edge: float = 0
    for node in nodes:
        if id(node) not in inner_ids:
            edge += abs(total(sample.judge, node.rows))
            for i in node.rows:
                predictions[i] = node.sign
    return Tree(
        feature=[n.question.feature if id(n) in inner_ids and n.question else -1 for n in nodes],
        threshold=[n.threshold if id(n) in inner_ids else 0.0 for n in nodes],
        left=[index[id(n.left)] if id(n) in inner_ids else 0 for n in nodes],
        missing_left=[n.missing_left if id(n) in inner_ids else False for n in nodes],
        value=[n.sign for n in nodes],
        cover=[total(sample.weight, n.rows) for n in nodes],
        n_splits=len(inner) if n_splits is None else n_splits,
        depth=max(n.depth for n in nodes),
        edge=edge,
        train_value=predictions,
    )


class Growing(Protocol):
    """A node under construction of any kind of tree."""

    depth: int

    @property
    def children(self) -> tuple[Any, Any]: ...


Chooser = Callable[[Any], Any]  # the best split of a node, with `question` and `gain`, or None
Asker = Callable[[Any, Question], None]  # makes the children of a node
Freezer = Callable[..., Any]  # the tree under a root, cut at a depth if one is given


def by_layers(root: Growing, max_depth: int, choose: Chooser, ask: Asker, freeze: Freezer) -> list[Any]:
    """Trees of which each adds a layer to the one before; the root alone where no split is useful."""
    layer, candidates = [root], []
    for depth in range(1, max_depth + 1):
        below: list[Growing] = []
        for node in layer:
            split = choose(node)
            if split is not None:
                ask(node, split.question)
                below += node.children
        if not below:
            break
        candidates.append(freeze(root, depth))
        layer = below
    return candidates or [freeze(root)]


def by_gain(
    root: Growing, max_leaves: int, max_depth: int | None, choose: Chooser, ask: Asker, freeze: Freezer, tie: float
) -> list[Any]:
    """Split the leaf with the largest gain, ties to the oldest; the tree after each split is a candidate."""
    leaves, candidates = [root], []
    while len(leaves) < max_leaves:
        best: tuple[Growing, Any] | None = None
        for node in leaves:
            split = choose(node) if max_depth is None or node.depth < max_depth else None
            if split is not None and (best is None or split.gain > best[1].gain + tie):
                best = node, split
        if best is None:
            break
        node, split = best
        ask(node, split.question)
        leaves = [n for n in leaves if n is not node] + [*node.children]
        candidates.append(freeze(root))
    return candidates or [freeze(root)]


def grow_layers(
    sample: Sample,
    max_depth: int,
    criterion: str = "edge",
    *,
    min_leaf_weight: float = 0.0,
    grow_rows: Sequence[int] | None = None,
    tie: float = 0,
    choose: Chooser | None = None,
) -> list[Tree]:
    """h_1*, h_2*, ... of section 4: each adds a layer to the one before. The root alone where no split is useful."""
    if choose is None:

        def choose(node: Node) -> Split | None:
            return best_split(sample, node.grown, criterion, min_leaf_weight=min_leaf_weight, tie=tie)

    root = new_root(sample, grow_rows)
    return by_layers(root, max_depth, choose, partial(ask, sample), partial(freeze, sample))


def grow_best_first(
    sample: Sample,
    max_leaves: int,
    max_depth: int | None = None,
    criterion: str = "edge",
    *,
    min_leaf_weight: float = 0.0,
    grow_rows: Sequence[int] | None = None,
    tie: float = 0,
) -> list[Tree]:
    """Every size is a candidate."""

    def choose(node: Node) -> Split | None:
        return best_split(sample, node.grown, criterion, min_leaf_weight=min_leaf_weight, tie=tie)

    root = new_root(sample, grow_rows)
    return by_gain(root, max_leaves, max_depth, choose, partial(ask, sample), partial(freeze, sample), tie)


def grow_stump_pair(sample: Sample, criterion: str = "edge", *, tie: float = 0) -> list[Tree]:
    """h_1*, then the best question about another feature asked at both children (H_2 of section 4)."""
    root = new_root(sample, None)
    first = best_split(sample, root.grown, criterion, tie=tie)
    if first is None:
        return [freeze(sample, root)]
    ask(sample, root, first.question)
    stump = freeze(sample, root, 1)
    assert root.left is not None
    assert root.right is not None
    own = sum(
        node_score(criterion, total(sample.signed, n.rows), total(sample.mass, n.rows)) for n in (root.left, root.right)
    )
    best: tuple[float | Fraction, Question] | None = None
    for feature in range(len(sample.columns)):
        if feature == first.question.feature and len(sample.columns) > 1:
            continue
        for question in questions(sample, feature, root.left.grown, root.right.grown):
            score: float | Fraction = 0
            for node in (root.left, root.right):
                for side in parts(sample, node.rows, question):
                    score += node_score(criterion, total(sample.signed, side), total(sample.mass, side))
            if score > own + tie and (best is None or score > best[0] + tie):
                best = (score, question)
    if best is None:
        return [stump]
    for node in (root.left, root.right):
        ask(sample, node, best[1])
    return [stump, freeze(sample, root, 2, n_splits=2)]


def predict(tree: Any, X: np.ndarray) -> list[int]:
    """Walk a tree of any kind once for every raw row: left where x <= threshold, NaN where missing_left says."""
    out = []
    for row in np.asarray(X, dtype=np.float64):
        i = 0
        while tree.feature[i] >= 0:
            x = float(row[tree.feature[i]])
            left = tree.missing_left[i] if math.isnan(x) else x <= tree.threshold[i]
            i = tree.left[i] + (0 if left else 1)
        out.append(int(tree.value[i]))
    return out


def all_stumps(sample: Sample) -> list[list[int]]:
    """Predictions of every stump on the training rows, one of h and -h, no doubles, the constant first."""
    seen: dict[tuple[int, ...], None] = {tuple([1] * len(sample.signed)): None}
    for feature in range(len(sample.columns)):
        for question in questions(sample, feature):
            h = [1 if question.goes_left(int(codes[feature])) else -1 for codes in sample.codes]
            if tuple(h) not in seen and tuple(-v for v in h) not in seen:
                seen[tuple(h)] = None
    return [list(h) for h in seen]


__all__ = [
    "Node",
    "Tree",
    "all_nodes",
    "all_stumps",
    "ask",
    "freeze",
    "grow_best_first",
    "grow_layers",
    "grow_stump_pair",
    "make_sample",
    "new_root",
    "predict",
    "sign_of",
]
