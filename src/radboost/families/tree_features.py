"""Trees as hypotheses of sparse models, grown on what the loss asks of the rows."""

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
    """Trees of -1 and +1, one for each output, grown on what the loss asks of the rows.

    The search for a tree is greedy: when it finds none that helps, boosting stops, but there may be one.
    """

    max_depth: int = 3

    def validate(self) -> None:
        check_integer("max_depth", self.max_depth, 1, 30)

    def start(self, training: Training) -> Proposing:
        self.validate()
        rows = dense(training.X)
        data = bin_rows(rows, training.row_weights, np.arange(len(rows)), 255, training.n_threads)
        settings = GrowthSettings(
            max_depth=int(self.max_depth), seed=training.seed, n_threads=training.n_threads, options=TreeOptions()
        )
        trees, rounds = GivenTrees(data, 2, settings), iter(range(2**62))

        def propose(members: Sequence[Any], residual: FloatArray) -> list[Tree]:
            asked = [line for line in residual if np.abs(line).max() > 0.0]
            if not asked:
                return []
            classes = np.array([line < 0.0 for line in asked], dtype=np.uint16)
            weights = np.array([quantize(np.abs(line)) for line in asked])
            return [trees.hypothesis(tree) for tree in trees.grow(classes, weights, next(rounds))]

        return propose

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        return LastLook("the trees that the search has grown")
