"""Trees as text: one line, or a line for each node."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost._numbers import are_years, number_text
from radboost._typing import Category

if TYPE_CHECKING:
    from radboost.trees.tree import Tree

LISTED = 4  # more classes or categories than these are counted instead


@dataclass
class TreeNames:
    """Names of columns, categories and classes, common to the trees of an ensemble."""

    features: Sequence[str] | None = None
    categories: Mapping[int, Sequence[Category]] = field(default_factory=dict)
    classes: Sequence[Any] | None = None  # two for trees with one output that vote
    listed: int = LISTED
    outputs: str = "classes"  # name of what the outputs stand for


def outline(tree: Tree, names: TreeNames) -> str:
    """Text of a tree, a line for each node with the sample weight that reached it, indented by depth."""
    return "\n".join(f"{'  ' * depth}{before}{node_text(tree, node, names)}" for node, depth, before in _nodes(tree))


def node_text(tree: Tree, node: int, names: TreeNames) -> str:
    """Split of a node, or value of a leaf, with the sample weight that reached it."""
    weight = f"({tree.cover[node]:g})"
    if tree.feature[node] < 0:
        return f"{_named_value(tree, node, names)} {weight}"
    return f"{question_text(tree, node, names)}? {weight}"


def question_text(tree: Tree, node: int, names: TreeNames) -> str:
    """Split of a node; a row for which it is true goes left."""
    question = plain_question(tree, node, names)
    missing = " or missing" if tree.missing_left[node] and not question.endswith(" is not missing") else ""
    return f"{question}{missing}"


def plain_question(tree: Tree, node: int, names: TreeNames) -> str:
    """Split of a node for a value that is not missing."""
    column = int(tree.feature[node])
    name = str(names.features[column]) if names.features is not None else f"x[{column}]"
    return _question(tree, name, names.categories.get(column), node, names.listed)


def _nodes(tree: Tree) -> Iterator[tuple[int, int, str]]:
    waiting = [(0, 0, "")]
    while waiting:
        node, depth, before = waiting.pop()
        yield node, depth, before
        if tree.feature[node] >= 0:
            child = int(tree.left[node])
            waiting += [(child + 1, depth + 1, "no: "), (child, depth + 1, "yes: ")]


def _named_value(tree: Tree, node: int, names: TreeNames) -> str:
    value, classes = tree.value[node], names.classes
    plain = _value_text(tree, node, names.listed)
    if classes is None or tree.vectors is not None:
        return plain
    if tree.n_outputs == 1:  # +1 is a vote for the second class
        return f"{plain}: {classes[int(value > 0)]!r}" if len(classes) == 2 and abs(value) == 1 else plain
    return plain if value < 0 else f"{plain}: {classes[int(value)]!r}"


def describe(
    tree: Tree, feature_names: Sequence[str] | None, categories: Mapping[int, Sequence[Category]] | None = None
) -> str:
    """A stump in full; of a larger tree its size, its first split and, with several classes, its votes."""
    if tree.n_splits == 0:
        return _value_text(tree, 0)
    question = _question(tree, _first(tree, feature_names), (categories or {}).get(int(tree.feature[0])))
    if tree.n_nodes == 3:
        return f"[{_value_text(tree, 1)} if {question} else {_value_text(tree, 2)}]"
    size = f"tree of {tree.n_splits} splits, depth {tree.depth}, first asks {question}"
    votes = tree.n_outputs > 1 and tree.vectors is None
    return f"{size}, votes for {_votes(tree)}" if votes else size


def term(tree: Tree, feature_names: Sequence[str] | None) -> str:
    """Term of a formula: size of the tree and the column of its first split."""
    return f"tree({tree.n_splits} splits, first on {_first(tree, feature_names)})"


def _first(tree: Tree, feature_names: Sequence[str] | None) -> str:
    feature = int(tree.feature[0])
    return str(feature_names[feature]) if feature_names is not None else f"x[{feature}]"


def threshold_text(threshold: float) -> str:
    """Text of a threshold; of larger ones the whole number below, which splits whole numbers alike."""
    if abs(threshold) >= 1000.0 and math.isfinite(threshold):
        threshold = float(math.floor(threshold))
    return number_text(threshold, year=are_years([threshold]))


def _question(tree: Tree, name: str, known: Sequence[Category] | None, node: int = 0, listed: int = LISTED) -> str:
    codes, threshold = tree.categories_left(node), tree.threshold[node]
    if codes is None:
        return f"{name} <= {threshold_text(float(threshold))}" if np.isfinite(threshold) else f"{name} is not missing"
    if known is not None and len(codes) == len(known):
        return f"{name} is not missing"
    shown = [str(code if known is None else known[code]) for code in codes[:listed]]
    more = [f"{len(codes) - listed} more"] if len(codes) > listed else []
    return f"{name} in {{{', '.join(shown + more)}}}"


def _value_text(tree: Tree, node: int, listed: int = LISTED) -> str:
    value = tree.value[node]
    if tree.vectors is not None:
        numbers = [f"{number:+.3g}" for number in tree.vectors[int(value), :listed]]
        return f"({', '.join(numbers)}{', ...' if tree.n_outputs > listed else ''})"
    if tree.n_outputs == 1:
        return f"{value:+.3g}"
    return "abstains" if value < 0 else f"class {value:.0f}"


def _votes(tree: Tree) -> str:
    values = tree.value[tree.feature < 0]
    classes = [f"{value:.0f}" for value in np.unique(values[values >= 0])]
    if not classes:
        return "no class"
    if len(classes) > LISTED:
        return f"{len(classes)} classes"
    return f"class {classes[0]}" if len(classes) == 1 else f"classes {', '.join(classes[:-1])} and {classes[-1]}"
