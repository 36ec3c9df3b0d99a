"""Text of a whole ensemble, for `to_text`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from radboost.ensemble import Ensemble, SparseEnsemble
from radboost.families.kinds import kind_of
from radboost.trees import Tree
from radboost.trees.describe import TreeNames

ALL = 2**31  # limit of listed categories and classes: all are listed


def boosted_text(ensemble: Ensemble, max_trees: int | None) -> str:
    """f(x) as a sum: each hypothesis with its weight and its splits, largest weights first."""
    if not len(ensemble):
        return "f(x) = 0: the model is empty."
    names = replace(ensemble.names, listed=ALL)
    order = np.argsort(-np.abs(ensemble.weights), kind="stable")[:max_trees]
    parts = [_boosted_head(ensemble, names)]
    for index in order.tolist():
        hypothesis, weight = ensemble.hypotheses[index], float(ensemble.weights[index])
        parts.append(f"{weight:+.4g} times hypothesis {index}{kind_of(hypothesis).text(hypothesis, names)}")
    return _joined(parts, len(ensemble) - len(order), "hypotheses with smaller weights")


def layered_text(program: Any, classes: Sequence[Any], max_trees: int | None) -> str:
    """A branching program: the tree of each node, layer by layer, and the probabilities of its successors."""
    names = TreeNames(program.feature_names, program.categories, classes, ALL)
    head = (
        f"A branching program of {program.n_layers} layers: a row walks from node to node, left or right by chance, "
        f"and one that ends beyond the middle is {classes[1]!r}, others are {classes[0]!r}."
    )
    shown = program.hypotheses[:max_trees]
    parts = [
        f"Node {index}: right with probability {plus:.4g} where its tree says +1 and {minus:.4g} where it says -1"
        f"{kind_of(one).text(one, names)}"
        for index, (one, plus, minus) in enumerate(
            zip(shown, program.right_on_plus, program.right_on_minus, strict=False)
        )
    ]
    return _joined([head, *parts], len(program) - len(shown), "nodes of later layers")


def sparse_text(ensemble: SparseEnsemble, max_trees: int | None) -> str:
    """Formula of each output, one term per line, largest weights first, followed by the trees."""
    names = TreeNames(ensemble.feature_names, listed=ALL)
    lines = []
    for output in range(ensemble.n_outputs):
        weights = ensemble.weights[:, output]
        used = np.flatnonzero(weights)
        order = used[np.argsort(-np.abs(weights[used]), kind="stable")]
        shown = order[:max_trees]
        of = "f(x)" if ensemble.n_outputs == 1 else f"f(x, {_output_name(ensemble, output)})"
        lines.append(f"{of} = {ensemble.intercept[output]:.4g}")
        for index in shown.tolist():
            hypothesis = ensemble.hypotheses[index]
            term = kind_of(hypothesis).text_of_term(hypothesis, names)
            lines.append(f"  {weights[index]:+.4g} times {term}")
        if len(order) > len(shown):
            lines.append(f"  and {len(order) - len(shown)} terms with smaller weights")
    return "\n".join(lines)


def _boosted_head(ensemble: Ensemble, names: TreeNames) -> str:
    n = len(ensemble)
    head = f"f(x) is the sum of {n} {'hypothesis' if n == 1 else 'hypotheses'}, each times its weight."
    trees = [hypothesis for hypothesis in ensemble.hypotheses if isinstance(hypothesis, Tree)]
    if trees:
        head += " The number in brackets is the weight of the training rows that reach a line."
    if names.classes is None:
        return head
    labels = [repr(label) for label in names.classes]
    if ensemble.n_outputs == 1 and len(labels) == 2:
        return f"{head}\nf(x) > 0 speaks for {labels[1]}, f(x) <= 0 for {labels[0]}."
    if any(tree.vectors is not None for tree in trees):
        head += f"\nLeaves have a number for each class, in the order {', '.join(labels)}."
    return f"{head}\nThe class with the largest f(x) is the answer."


def _output_name(ensemble: SparseEnsemble, output: int) -> str:
    return str(output) if ensemble.output_names is None else str(ensemble.output_names[output])


def _joined(parts: Sequence[str], n_left: int, what: str) -> str:
    return "\n\n".join([*parts, f"... and {n_left} {what}."] if n_left > 0 else parts)
