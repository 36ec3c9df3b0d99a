"""Common form behind all exports: scores as a sum of weighted trees and products of columns, and outputs of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray
from radboost.calibration import Calibration
from radboost.ensemble import Ensemble, SparseEnsemble
from radboost.families.exported import WeightedProduct, WeightedTree
from radboost.families.kinds import kind_of
from radboost.losses.link import Link
from radboost.trees.tree import Tree, leaf_tree

T = TypeVar("T")
INSTEAD = "model.save(path) and model.to_dict() keep it whole."


class ExportError(ValueError):
    """The model has something that the exported form cannot express; the message names it."""


@dataclass(frozen=True)
class ScoreSum:
    """Scores of a row: `start`, plus trees, plus products, in this order, minus `taken_off`."""

    n_features: int
    n_outputs: int
    start: FloatArray  # shape (n_outputs,)
    trees: tuple[WeightedTree, ...] = ()
    products: tuple[WeightedProduct, ...] = ()
    taken_off: float = 0.0
    feature_names: tuple[str, ...] | None = None
    categories: Mapping[int, tuple[Category, ...]] = field(default_factory=dict)

    @property
    def votes(self) -> bool:
        """True if every leaf of every tree adds to one of several scores."""
        return bool(self.trees) and all(tree.targets is not None for tree in self.trees)

    def without_constants(self) -> ScoreSum:
        """Sum with trees of a single leaf moved into the start, which changes the last bits."""
        constants = [one.rows(self.n_outputs)[0] for one in self.trees if one.tree.n_nodes == 1]
        kept = tuple(one for one in self.trees if one.tree.n_nodes > 1)
        return replace(self, start=np.sum([self.start, *constants], axis=0), trees=kept) if constants else self

    def trees_or_none(self) -> tuple[WeightedTree, ...]:
        """The trees; for formats that want at least one, a tree without a question that adds nothing."""
        if self.trees:
            return self.trees
        return (WeightedTree(leaf_tree(0.0, self.n_features), np.zeros((1, self.n_outputs))),)


@dataclass(frozen=True)
class ExportedOutput:
    """Outputs computed from scores: label and probabilities of a classifier, prediction of a regressor.

    With several tasks: for each the second label if the score is positive, and the probability of the second label,
    the logistic function of the score.
    """

    labels: tuple[Any, ...] | None = None  # of a classifier
    link: Link | str | None = None  # of a classifier; a text is the reason why there is none
    calibration: Calibration = field(default_factory=Calibration)
    costs: FloatArray | None = None  # costs[c, k] of predicting k for label c: the cheapest class is predicted
    exponential: bool = False  # of a regressor: exp(score) is predicted
    tasks: tuple[tuple[Any, ...], ...] | None = None  # the two labels of each task, instead of `labels`

    @property
    def has_labels(self) -> bool:
        return self.labels is not None or self.tasks is not None

    @property
    def n_classes(self) -> int:
        return 0 if self.labels is None else len(self.labels)


@dataclass(frozen=True)
class Exported:
    """A fitted model as far as it can be exported."""

    title: str  # the class of the estimator
    scores: ScoreSum
    output: ExportedOutput


def link_of(output: ExportedOutput) -> Link:
    """Link of a classifier; ExportError with the reason if it has none."""
    if not isinstance(output.link, Link):
        refuse_probabilities(str(output.link))
    return output.link


def refuse_probabilities(why: str) -> NoReturn:
    raise ExportError(
        f"The probabilities of this model cannot be exported: {why}. probabilities=False exports scores and labels."
    )


def formula_of(link: Link, formulas: Mapping[str, T]) -> T:
    """Formula of a link from the `formulas` of an exported form; ExportError if it has none."""
    if link.name not in formulas:
        refuse_probabilities(f"this form has no formula for the link {link.name!r}")
    return formulas[link.name]


def sum_of_trees(ensemble: Ensemble, *, taken_off: float = 0.0) -> ScoreSum:
    """Scores of a boosted ensemble; ExportError unless all hypotheses are trees."""
    trees = []
    for hypothesis, weight in zip(ensemble.hypotheses, ensemble.weights, strict=True):
        tree = kind_of(hypothesis).boosted_part(hypothesis, float(weight))
        if tree is None:
            refuse(hypothesis)
        trees.append(tree)
    return ScoreSum(
        ensemble.n_features,
        ensemble.n_outputs,
        np.zeros(ensemble.n_outputs),
        tuple(trees),
        taken_off=taken_off,
        feature_names=ensemble.feature_names,
        categories=ensemble.categories,
    )


def sum_of_features(ensemble: SparseEnsemble, n_features: int) -> ScoreSum:
    """Scores of a sparse ensemble; ExportError unless hypotheses are columns, products of columns, stumps or trees."""
    trees, products = [], []
    for hypothesis, weights in zip(ensemble.hypotheses, ensemble.weights, strict=True):
        part = kind_of(hypothesis).sparse_part(hypothesis, weights, n_features)
        if part is None:
            refuse(hypothesis)
        if isinstance(part, WeightedTree):
            trees.append(part)
        else:
            products.append(part)
    names = None if ensemble.feature_names is None else tuple(map(str, ensemble.feature_names))
    return ScoreSum(
        n_features, ensemble.n_outputs, ensemble.intercept, tuple(trees), tuple(products), feature_names=names
    )


def refuse(hypothesis: object) -> NoReturn:
    raise ExportError(
        f"The model has hypotheses of the kind {type(hypothesis).__name__}, and only trees, stumps, columns and "
        f"products of columns can be exported. {INSTEAD}"
    )


def refuse_model(name: str, what: str) -> NoReturn:
    raise ExportError(f"{name} cannot be exported: {what}. {INSTEAD}")


def categories_left(tree: Tree) -> dict[int, list[int]]:
    """Codes that go left, by node that splits on categories."""
    return {int(node): tree.categories_left(int(node)) or [] for node in tree.category_nodes}


def leaf_numbers(tree: Tree) -> npt.NDArray[np.intp]:
    """Index of each leaf among the leaves, in the order of the nodes; -1 at other nodes."""
    leaves = tree.feature < 0
    return np.where(leaves, np.cumsum(leaves) - 1, -1)


def used_features(scores: ScoreSum) -> list[int]:
    """Indices of the columns that the scores depend on, ascending."""
    in_trees = {feature for one in scores.trees for feature in one.tree.columns}
    return sorted(in_trees | {feature for product in scores.products for feature in product.features})


def feature_name(scores: ScoreSum, feature: int) -> str | None:
    return None if scores.feature_names is None else scores.feature_names[feature]


def plain_labels(labels: Sequence[Any]) -> list[Any]:
    """Labels as built-in Python values."""
    return [label.item() if isinstance(label, np.generic) else label for label in labels]
