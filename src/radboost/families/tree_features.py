"""Trees as hypotheses of sparse models, grown on the gradients of the loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_integer
from radboost.families.generators import Generator, LastLook, Proposing, Training, dense
from radboost.trees.binner import bin_rows
from radboost.trees.given_weights import GivenTrees, quantize
from radboost.trees.grower import GrowthSettings
from radboost.trees.options import TreeOptions
from radboost.trees.tree import Tree


@dataclass(frozen=True)
class TreeFeatures(Generator, name="trees"):
    """Trees with leaves -1 and +1, one for each output, grown on the signs and sizes of the gradients.

    The search for a tree is greedy: boosting stops if it finds no useful tree, although one may exist.
    """

    max_depth: int = 3

    def validate(self) -> None:
        check_integer("max_depth", self.max_depth, 1, 30)

    def start(self, training: Training) -> Proposing:
        self.validate()
        rows = dense(training.X)
        data = bin_rows(rows, training.row_weights, np.arange(len(rows), dtype=np.uint32), 255, training.n_threads)
        settings = GrowthSettings(
            max_depth=int(self.max_depth), seed=training.seed, n_threads=training.n_threads, options=TreeOptions()
        )
        trees, rounds = GivenTrees(data, 2, settings), iter(range(2**62))

        def propose(members: Sequence[Any], residual: FloatArray) -> list[Tree]:
            nonzero = [gradient for gradient in residual if np.abs(gradient).max() > 0.0]  # by output
            if not nonzero:
                return []
            classes = np.array([gradient < 0.0 for gradient in nonzero], dtype=np.uint16)
            weights = np.array([quantize(np.abs(gradient)) for gradient in nonzero])
            return [trees.hypothesis(tree) for tree in trees.grow(classes, weights, next(rounds))]

        return propose

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        return LastLook("the trees that the search has grown")
