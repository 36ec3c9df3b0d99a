"""Conversion of the trees of soft-max boosting into members of an ensemble, and back for resumed fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from radboost.engine import AnsweringTree, WeightedTrees
from radboost.families.base import Hypothesis
from radboost.families.raw_rows import RawRows
from radboost.trees.tree import Tree, leaf_tree


class VotingTrees:
    """Trees that predict whether a label costs more (+1) or less (-1) than expected, as members of an ensemble.

    The update psi(z) -= a h(z) takes a from z where h = +1 and gives a where h = -1. Only differences between labels
    matter, so adding a to all labels changes nothing. With several classes a tree votes for z with weight 2 a where
    h = -1 and abstains elsewhere; a label without a tree gets a everywhere. With two classes f = psi(1) - psi(0) is
    one number, and the trees keep their signs.
    """

    def __init__(self, trees: WeightedTrees, n_classes: int, n_features: int, sample_size: float) -> None:
        self._trees = trees
        self._n_classes = n_classes
        self._n_features = n_features
        self._sample_size = sample_size

    def vote(self, tree: AnsweringTree | None, label: int, a: float) -> tuple[Tree, float] | None:
        """Hypothesis for a step of `a` along the tree of one label, and its weight; None: no hypothesis is needed."""
        if self._n_classes == 2:
            return None if tree is None else (self._signed(tree), -a if label == 1 else a)
        if tree is None:
            return leaf_tree(label, self._n_features, self._n_classes, self._sample_size), abs(a)
        signed = self._signed(tree)
        votes = np.where(signed.value * a < 0, float(label), -1.0)
        return signed.with_values(votes, self._n_classes), 2.0 * abs(a)

    def _signed(self, tree: AnsweringTree) -> Tree:
        return Tree.grown(self._trees.arrays(tree), self._n_features, tree.n_splits, 1)

    def directions(
        self, members: Sequence[tuple[Hypothesis, float]], raw_rows: RawRows
    ) -> tuple[npt.NDArray[np.int8], float]:
        """Inverse of `vote` for a round: h of each class, shape (n_classes, n_rows), and a > 0 of psi -= a h.

        A negative a with h is a positive one with -h.
        """
        directions = np.zeros((self._n_classes, len(raw_rows)), dtype=np.int8)
        if self._n_classes == 2:
            a = max(abs(eta) for _, eta in members)
            # A single tree may belong to either class: f = psi(1) - psi(0) changes equally.
            for label, (tree, eta) in zip((0, 1) if len(members) == 2 else (1,), members, strict=True):
                signs = 2 * raw_rows.classes(cast(Tree, tree)) - 1
                directions[label] = signs if (eta > 0) == (label == 0) else -signs
            return directions, a
        # A label without a tree has a constant vote of half the weight; in every round at least one label has a tree.
        a = max(eta for _, eta in members) / 2.0
        for label, (tree, eta) in enumerate(members):
            if eta > a:
                directions[label] = np.where(raw_rows.classes(cast(Tree, tree)) == label, -1, 1)
        return directions, a
