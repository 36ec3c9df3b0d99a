"""Hypotheses in a line of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from radboost._typing import Category
from radboost.families.base import Hypothesis
from radboost.trees.tree import Tree

LISTED = 4  # more classes or categories than these are counted instead


def describe(
    hypothesis: Hypothesis,
    feature_names: Sequence[str] | None,
    categories: Mapping[int, Sequence[Category]] | None = None,
) -> str:
    """A stump in full; of a larger tree its size, its first question and, with several classes, its answers."""
    if not isinstance(hypothesis, Tree):
        return repr(hypothesis)
    if hypothesis.n_splits == 0:
        return _answer(hypothesis, 0)
    feature = int(hypothesis.feature[0])
    name = feature_names[feature] if feature_names is not None else f"x[{feature}]"
    question = _question(hypothesis, name, (categories or {}).get(feature))
    if hypothesis.n_nodes == 3:
        return f"[{_answer(hypothesis, 1)} if {question} else {_answer(hypothesis, 2)}]"
    size = f"tree of {hypothesis.n_splits} splits, depth {hypothesis.depth}, first asks {question}"
    votes = hypothesis.n_outputs > 1 and hypothesis.vectors is None
    return f"{size}, votes for {_answers(hypothesis)}" if votes else size


def _question(tree: Tree, name: str, known: Sequence[Category] | None) -> str:
    codes, threshold = tree.categories_left(0), tree.threshold[0]
    if codes is None:
        return f"{name} <= {threshold:.4g}" if np.isfinite(threshold) else f"{name} is not missing"
    if known is not None and len(codes) == len(known):
        return f"{name} is not missing"
    shown = [str(code if known is None else known[code]) for code in codes[:LISTED]]
    more = [f"{len(codes) - LISTED} more"] if len(codes) > LISTED else []
    return f"{name} in {{{', '.join(shown + more)}}}"


def _answer(tree: Tree, node: int) -> str:
    value = tree.value[node]
    if tree.vectors is not None:
        numbers = [f"{number:+.3g}" for number in tree.vectors[int(value), :LISTED]]
        return f"({', '.join(numbers)}{', ...' if tree.n_outputs > LISTED else ''})"
    if tree.n_outputs == 1:
        return f"{value:+.3g}"
    return "abstains" if value < 0 else f"class {value:.0f}"


def _answers(tree: Tree) -> str:
    values = tree.value[tree.feature < 0]
    classes = [f"{value:.0f}" for value in np.unique(values[values >= 0])]
    if not classes:
        return "no class"
    if len(classes) > LISTED:
        return f"{len(classes)} classes"
    return f"class {classes[0]}" if len(classes) == 1 else f"classes {', '.join(classes[:-1])} and {classes[-1]}"
