"""Trees for several classes: every split tried, every row added up again; and all stumps there are.

A leaf answers with one class or abstains (-1). With integers in the sample everything is exact except for the one
division of each child under "gini", which is taken in double precision as a native grower would.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .binning import MISSING, Column, bin_matrix
from .growth import by_gain, by_layers, predict
from .multiclass import ABSTAIN, Objective, Sums
from .splits import Question, parts, threshold_of


@dataclass(frozen=True)
class ClassSample:
    """What a tree is grown on: g(i, c), growth weights, labels and sample weights of the rows.

    `judged`: where given, answers and edges are taken from it, and g only finds the splits (other integers for the
    same numbers).
    """

    columns: Sequence[Column]
    codes: Sequence[Sequence[int]]
    y: Sequence[int]
    g: Sequence[Sequence[float]]
    mass: Sequence[float]
    weight: Sequence[float]
    n_classes: int
    judged: Sequence[Sequence[float]] | None = None

    @property
    def rows(self) -> list[int]:
        return list(range(len(self.y)))


def sample_at(objective: Objective, at: Sums, columns: Sequence[Column], codes: Sequence[Sequence[int]]) -> ClassSample:
    """The sample of an objective at some scores. Growth weights are integers of total about 2^30."""
    mass = [round(float(v) * 2**30) for v in objective.row_weights(at)]
    return ClassSample(
        columns,
        codes,
        [int(c) for c in objective.y],
        objective.gradients(at).tolist(),
        mass,
        objective.w.tolist(),
        objective.n_classes,
    )


def class_sums(sample: ClassSample, rows: Sequence[int]) -> list[float]:
    """G_c of some rows."""
    return [sum(sample.g[i][c] for i in rows) for c in range(sample.n_classes)]


def judged_sums(sample: ClassSample, rows: Sequence[int]) -> list[float]:
    g = sample.g if sample.judged is None else sample.judged
    return [sum(g[i][c] for i in rows) for c in range(sample.n_classes)]


def best_answer(sums: Sequence[float], parent: int, tie: float = 0) -> int:
    """The class with the largest G_c, if it is positive; the parent's where all are zero; otherwise abstain."""
    if all(abs(v) <= tie for v in sums):
        return parent
    top = max(sums)
    if top <= tie:
        return ABSTAIN
    return next(c for c, v in enumerate(sums) if v >= top - tie)


def node_score(sample: ClassSample, rows: Sequence[int], criterion: str) -> float:
    if criterion == "edge":
        return max(0, *class_sums(sample, rows))
    by_class: list[float] = [0] * sample.n_classes
    for i in rows:
        by_class[sample.y[i]] += sample.mass[i]
    whole = sum(by_class)
    return float(sum(v * v for v in by_class)) / float(whole) if whole > 0 else 0.0


def questions(sample: ClassSample, feature: int, rows: Sequence[int]) -> Iterator[Question]:
    """Every question that parts these rows, in the order that breaks ties: bin, missing right before missing left."""
    found = {int(sample.codes[i][feature]) for i in rows}
    present = sorted(found - {MISSING})
    for b in present if MISSING in found else present[:-1]:
        yield Question(feature, b, False)
        if MISSING in found:
            yield Question(feature, b, True)


@dataclass(frozen=True)
class Split:
    question: Question
    score: float
    gain: float


def to_beat(criterion: str, own: float) -> float:
    """Rounding must not make a useless split look useful."""
    return own * (1 + 1e-12) + 1e-12 if criterion == "gini" else own


def split_score(
    sample: ClassSample, rows: Sequence[int], question: Question, criterion: str, min_leaf_weight: float = 0.0
) -> float | None:
    sides = parts(sample, rows, question)
    for side in sides:
        if not side or sum(sample.weight[i] for i in side) < min_leaf_weight:
            return None
        if criterion == "gini" and sum(sample.mass[i] for i in side) <= 0:
            return None
    return node_score(sample, sides[0], criterion) + node_score(sample, sides[1], criterion)


def best_split(
    sample: ClassSample, rows: Sequence[int], criterion: str, *, min_leaf_weight: float = 0.0, tie: float = 0
) -> Split | None:
    """The question that scores most above the node itself; first column, bin, missing right before left on ties."""
    own = node_score(sample, rows, criterion)
    best: Split | None = None
    for feature in range(len(sample.columns)):
        for question in questions(sample, feature, rows):
            score = split_score(sample, rows, question, criterion, min_leaf_weight)
            if score is not None and score > (to_beat(criterion, own) if best is None else best.score) + tie:
                best = Split(question, score, score - own)
    return best


@dataclass
class Node:
    rows: list[int]
    depth: int
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


@dataclass(frozen=True)
class ClassTree:
    """A tree as arrays, breadth first; `value` is a class or -1 at a leaf."""

    feature: list[int]
    threshold: list[float]
    left: list[int]
    missing_left: list[bool]
    value: list[int]
    n_splits: int
    depth: int
    edge: float
    train_answer: list[int] = field(repr=False)

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def key(self) -> tuple[object, ...]:
        asked = [(f, t, m) for f, t, m in zip(self.feature, self.threshold, self.missing_left, strict=True) if f >= 0]
        leaves = [v for v, f in zip(self.value, self.feature, strict=True) if f < 0]
        return tuple(self.feature), tuple(self.left), tuple(asked), tuple(leaves)


def new_root(sample: ClassSample, tie: float = 0) -> Node:
    return Node(sample.rows, 0, best_answer(judged_sums(sample, sample.rows), ABSTAIN, tie))


def ask(sample: ClassSample, node: Node, question: Question, tie: float = 0) -> None:
    """Split a node. Missing values that no row had go to the heavier child, to the left on a tie."""
    left, right = parts(sample, node.rows, question)
    if not any(int(sample.codes[i][question.feature]) == MISSING for i in node.rows):
        heavier_left = sum(sample.weight[i] for i in left) >= sum(sample.weight[i] for i in right)
        question = Question(question.feature, question.bin, heavier_left)
    node.question, node.threshold = question, threshold_of(sample, question)
    node.left, node.right = (
        Node(side, node.depth + 1, best_answer(judged_sums(sample, side), node.answer, tie)) for side in (left, right)
    )


def freeze(sample: ClassSample, root: Node, max_depth: int | None = None, n_splits: int | None = None) -> ClassTree:
    """The tree cut at a depth, as arrays."""
    nodes, inner, queue = [], set(), [root]
    while queue:
        node = queue.pop(0)
        nodes.append(node)
        if node.question is not None and (max_depth is None or node.depth < max_depth):
            inner.add(id(node))
            queue += node.children
    index = {id(node): k for k, node in enumerate(nodes)}
    answers: list[int] = [ABSTAIN] * len(sample.y)
    edge: float = 0
    for node in nodes:
        if id(node) not in inner:
            edge += 0 if node.answer == ABSTAIN else judged_sums(sample, node.rows)[node.answer]
            for i in node.rows:
                answers[i] = node.answer
    return ClassTree(
        feature=[n.question.feature if id(n) in inner and n.question else -1 for n in nodes],
        threshold=[n.threshold if id(n) in inner else 0.0 for n in nodes],
        left=[index[id(n.left)] if id(n) in inner else 0 for n in nodes],
        missing_left=[bool(n.question and n.question.missing_left) if id(n) in inner else False for n in nodes],
        value=[n.answer for n in nodes],
        n_splits=len(inner) if n_splits is None else n_splits,
        depth=max(n.depth for n in nodes),
        edge=edge,
        train_answer=answers,
    )


def asking(sample: ClassSample, tie: float) -> Callable[[Node, Question], None]:
    return lambda node, question: ask(sample, node, question, tie)


def grow_layers(
    sample: ClassSample, max_depth: int, criterion: str, *, min_leaf_weight: float = 0.0, tie: float = 0
) -> list[ClassTree]:
    """One more layer each; the root alone where no split is useful."""

    def choose(node: Node) -> Split | None:
        return best_split(sample, node.rows, criterion, min_leaf_weight=min_leaf_weight, tie=tie)

    root = new_root(sample, tie)
    return by_layers(root, max_depth, choose, asking(sample, tie), partial(freeze, sample))


def grow_best_first(
    sample: ClassSample,
    max_leaves: int,
    max_depth: int,
    criterion: str,
    *,
    min_leaf_weight: float = 0.0,
    tie: float = 0,
) -> list[ClassTree]:
    """Split the leaf with the largest gain, ties to the oldest; every size is a candidate."""

    def choose(node: Node) -> Split | None:
        return best_split(sample, node.rows, criterion, min_leaf_weight=min_leaf_weight, tie=tie)

    root = new_root(sample, tie)
    return by_gain(root, max_leaves, max_depth, choose, asking(sample, tie), partial(freeze, sample), tie)


def grow_stump_pair(sample: ClassSample, *, tie: float = 0) -> list[ClassTree]:
    """The best stump, then the best question about another column asked at both of its leaves, by the edge."""
    root = new_root(sample, tie)
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


Grower = Callable[[ClassSample], list[ClassTree]]

__all__ = [
    "ClassSample",
    "ClassTree",
    "Grower",
    "Node",
    "Split",
    "all_stump_answers",
    "ask",
    "best_answer",
    "best_split",
    "best_stump_edge",
    "class_sums",
    "freeze",
    "grow_best_first",
    "grow_layers",
    "grow_stump_pair",
    "judged_sums",
    "new_root",
    "node_score",
    "parts",
    "predict",
    "questions",
    "sample_at",
    "split_score",
    "threshold_of",
    "to_beat",
]
