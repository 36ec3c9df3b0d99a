"""Trees grown one layer at a time, best first, or as a pair of questions; a predictor; and all stumps there are.

A leaf answers with one class or abstains (-1); with signs for two classes it says -1 or +1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from .binning import MISSING, bin_matrix
from .multiclass import ABSTAIN, Objective, Sums
from .splits import Question, Sample, Split, best_split, judged_sums, node_score, parts, questions, threshold_of, total


@dataclass
class Node:
    """A node under construction. `rows` are all training rows that reach it, `grown` those it grew on."""

    rows: list[int]
    grown: list[int]
    depth: int
    path: str  # "L" and "R" from the root; breadth-first order is (depth, path)
    answer: int
    question: Question | None = None
    threshold: float = math.nan
    left: Node | None = None
    right: Node | None = None

    @property
    def children(self) -> tuple[Node, Node]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right

    @property
    def missing_left(self) -> bool:
        return self.question is not None and self.question.missing_left


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
    edge: float  # what the answers of the leaves gain, not normalised
    train_value: list[int] = field(repr=False)  # the answer on every training row

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def key(self) -> tuple[object, ...]:
        """Equal for two trees that are the same function."""
        asked = [(f, t, m) for f, t, m in zip(self.feature, self.threshold, self.missing_left, strict=True) if f >= 0]
        leaves = [v for v, f in zip(self.value, self.feature, strict=True) if f < 0]
        return tuple(self.feature), tuple(self.left), tuple(asked), tuple(leaves)


Branch = tuple[int, float, bool, float]


def by_path(tree: Any) -> dict[str, Branch]:
    """Any tree with the arrays of `Tree`, as {path of L and R: (feature, threshold, missing_left, value)}.

    Two trees are the same function by construction when these are equal, however their nodes are numbered.
    """
    out: dict[str, Branch] = {}
    stack = [(0, "")]
    while stack:
        i, path = stack.pop()
        if tree.feature[i] < 0:
            out[path] = (-1, 0.0, False, float(tree.value[i]))
        else:
            out[path] = (int(tree.feature[i]), float(tree.threshold[i]), bool(tree.missing_left[i]), 0.0)
            stack += [(int(tree.left[i]), path + "L"), (int(tree.left[i]) + 1, path + "R")]
    return out


def best_answer(sums: Sequence[float], parent: int, tie: float = 0) -> int:
    """The class with the largest G_c, if it is positive; the parent's where all are zero; otherwise abstain."""
    if all(abs(v) <= tie for v in sums):
        return parent
    top = max(sums)
    if top <= tie:
        return ABSTAIN
    return next(c for c, v in enumerate(sums) if v >= top - tie)


def new_root(sample: Sample, grow_rows: Sequence[int] | None = None, tie: float = 0) -> Node:
    grown = sample.rows if grow_rows is None else list(grow_rows)
    answer = best_answer(judged_sums(sample, sample.rows), 1 if sample.signs else ABSTAIN, tie)
    return Node(sample.rows, grown, 0, "", answer)


def ask(sample: Sample, node: Node, question: Question, tie: float = 0) -> None:
    """Split a node. A missing value that no grown row had goes to the heavier child, to the left on a tie."""
    if not any(int(sample.codes[i][question.feature]) == MISSING for i in node.grown):
        left, right = (total(sample.weight, side) for side in parts(sample, node.grown, question))
        question = Question(question.feature, question.bin, left >= right)
    node.question, node.threshold = question, threshold_of(sample, question)
    node.left, node.right = (
        Node(side, grown, node.depth + 1, node.path + step, best_answer(judged_sums(sample, side), node.answer, tie))
        for side, grown, step in zip(
            parts(sample, node.rows, question), parts(sample, node.grown, question), "LR", strict=True
        )
    )


def all_nodes(root: Node, max_depth: int | None = None) -> list[Node]:
    """Nodes in breadth-first order, nothing below max_depth."""
    found, queue = [], [root]
    while queue:
        node = queue.pop(0)
        found.append(node)
        if node.question is not None and (max_depth is None or node.depth < max_depth):
            queue += node.children
    return found


def freeze(sample: Sample, root: Node, max_depth: int | None = None, n_splits: int | None = None) -> Tree:
    """The tree cut at a depth, as arrays, with its edge and its answers on the training rows."""
    nodes = all_nodes(root, max_depth)
    index = {id(node): i for i, node in enumerate(nodes)}
    inner = {id(node) for node in nodes if node.left is not None and id(node.left) in index}
    said = {node.path: 2 * node.answer - 1 if sample.signs else node.answer for node in nodes}
    answers = [ABSTAIN] * len(sample.y)
    edge: float = 0
    for node in nodes:
        if id(node) not in inner:
            edge += 0 if node.answer == ABSTAIN else judged_sums(sample, node.rows)[node.answer]
            for i in node.rows:
                answers[i] = said[node.path]
    return Tree(
        feature=[n.question.feature if id(n) in inner and n.question else -1 for n in nodes],
        threshold=[n.threshold if id(n) in inner else 0.0 for n in nodes],
        left=[index[id(n.left)] if id(n) in inner else 0 for n in nodes],
        missing_left=[n.missing_left if id(n) in inner else False for n in nodes],
        value=[said[n.path] for n in nodes],
        cover=[total(sample.weight, n.rows) for n in nodes],
        n_splits=len(inner) if n_splits is None else n_splits,
        depth=max(n.depth for n in nodes),
        edge=edge,
        train_value=answers,
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


def chooser(sample: Sample, criterion: str, min_leaf_weight: float, tie: float) -> Chooser:
    return lambda node: best_split(sample, node.grown, criterion, min_leaf_weight=min_leaf_weight, tie=tie)


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
    choose = choose or chooser(sample, criterion, min_leaf_weight, tie)
    root = new_root(sample, grow_rows, tie)
    return by_layers(root, max_depth, choose, partial(ask, sample, tie=tie), partial(freeze, sample))


def grow_best_first(
    sample: Sample,
    max_leaves: int,
    max_depth: int | None = None,
    criterion: str = "edge",
    *,
    min_leaf_weight: float = 0.0,
    tie: float = 0,
) -> list[Tree]:
    """Every size is a candidate."""
    choose = chooser(sample, criterion, min_leaf_weight, tie)
    root = new_root(sample, None, tie)
    return by_gain(root, max_leaves, max_depth, choose, partial(ask, sample, tie=tie), partial(freeze, sample), tie)


def grow_stump_pair(sample: Sample, *, tie: float = 0) -> list[Tree]:
    """The best stump, then the best question about another column asked at both of its leaves, by the edge."""
    root = new_root(sample, None, tie)
    first = best_split(sample, root.rows, "edge", tie=tie)
    if first is None:
        return [freeze(sample, root)]
    ask(sample, root, first.question, tie)
    stump = freeze(sample, root, 1)
    score = first.score
    second: Question | None = None
    for feature in range(len(sample.columns)):
        if feature == first.question.feature and len(sample.columns) > 1:
            continue
        for question in questions(sample, feature, sample.rows):
            sides = [side for node in root.children for side in parts(sample, node.rows, question)]
            found = sum(node_score(sample, side, "edge") for side in sides)
            if found > score + tie:
                score, second = found, question
    if second is None:
        return [stump]
    for node in root.children:
        ask(sample, node, second, tie)
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


def all_stump_answers(X: np.ndarray, n_classes: int) -> list[tuple[int, ...]]:
    """What every stump says on the rows: all columns, thresholds, sides of missing values, and answers of its leaves.

    Constants are among them. No two are equal on all rows.
    """
    _, codes = bin_matrix(X)
    answers = [ABSTAIN, *range(n_classes)]
    seen: dict[tuple[int, ...], None] = {tuple([c] * len(X)): None for c in answers}
    for feature in range(X.shape[1]):
        column = codes[:, feature].tolist()
        for b, missing_left in itertools.product(sorted(set(column) - {MISSING}), (False, True)):
            question = Question(feature, b, missing_left)
            sides = [question.goes_left(code) for code in column]
            for yes, no in itertools.product(answers, answers):
                seen[tuple(yes if side else no for side in sides)] = None
    return list(seen)


def all_sign_stumps(X: np.ndarray) -> np.ndarray:
    """Every stump that says -1 or +1, and its opposite: a row for each, a column for each row of X."""
    return np.array([answers for answers in all_stump_answers(X, 2) if ABSTAIN not in answers]) * 2 - 1


def best_stump_edge(objective: Objective, at: Sums, X: np.ndarray) -> tuple[float, tuple[int, ...]]:
    """The largest edge of all stumps there are, and the answers of the first stump that has it."""
    g = objective.gradients(at)
    best: tuple[float, tuple[int, ...]] | None = None
    for answers in all_stump_answers(X, objective.n_classes):
        edge = float(sum(g[i, c] for i, c in enumerate(answers) if c != ABSTAIN))
        if best is None or edge > best[0] + 1e-15:
            best = edge, answers
    assert best is not None
    return best


__all__ = ["Node", "Split", "Tree", "grow_best_first", "grow_layers", "grow_stump_pair", "predict"]
