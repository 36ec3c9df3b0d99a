"""Columns above a threshold, as hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_integer
from radboost.families.base import Hypothesis
from radboost.families.columns import column_of, name_of
from radboost.families.exported import WeightedTree
from radboost.families.generators import Generator, LastLook, Proposing, Training, dense
from radboost.families.kinds import Arrays, Kind, Names, Shape, Stored, read_features
from radboost.model_file.checks import read_array
from radboost.trees.tree import tree_of


@dataclass(frozen=True)
class Stump(Hypothesis):
    """x -> +1 where x_j is above the threshold, -1 elsewhere."""

    feature: int
    threshold: float

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.feature,)

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        return np.where(column_of(X, self.feature) > self.threshold, 1.0, -1.0)

    def describe(self, names: Names, /) -> str:
        return f"[{name_of(self.feature, names)} > {self.threshold:.4g}]"


class StumpKind(Kind[Stump], of=Stump, code=3):
    def sparse_part(self, hypothesis: Stump, weights: FloatArray, n_features: int) -> WeightedTree:
        """A tree of -1 on the left and +1 on the right; rows of sparse models have no missing values."""
        feature, threshold = hypothesis.feature, hypothesis.threshold
        nodes: dict[str, list[float]] = {
            "feature": [feature, -1, -1],
            "threshold": [threshold, 0.0, 0.0],
            "left": [1, -1, -1],
        }
        return WeightedTree(tree_of(nodes, n_features, 1), np.multiply.outer([-1.0, 1.0], weights))

    def write(self, hypotheses: Sequence[Stump], n_features: int) -> Stored:
        columns = np.array([stump.feature for stump in hypotheses], dtype="<i4")
        thresholds = np.array([stump.threshold for stump in hypotheses], dtype="<f8")
        return Stored(arrays={"stump_columns": columns, "stump_thresholds": thresholds})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[Stump]:
        columns = read_features(arrays, "stump_columns", shape, n)
        thresholds = read_array(arrays, "stump_thresholds", "<f8", n)
        return [Stump(*pair) for pair in zip(columns, thresholds.tolist(), strict=True)]


@dataclass(frozen=True)
class StumpFeatures(Generator, name="stumps"):
    """+1 above a threshold, -1 below; thresholds split the weight of a column's values into equal parts."""

    finite = True

    max_thresholds: int = 32

    def validate(self) -> None:
        check_integer("max_thresholds", self.max_thresholds, 1)

    def start(self, training: Training) -> Proposing:
        self.validate()
        rows = dense(training.X)
        stumps = [
            Stump(feature, threshold)
            for feature in range(rows.shape[1])
            for threshold in _thresholds(rows[:, feature], training.row_weights, int(self.max_thresholds))
        ]
        return lambda members, residual: stumps

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        return LastLook(f"stumps with at most {self.max_thresholds} thresholds per column")


def _thresholds(values: FloatArray, weights: FloatArray, most: int) -> list[float]:
    different, indices = np.unique(values, return_inverse=True)
    middles = (different[:-1] + different[1:]) / 2.0
    if len(middles) > most:
        below = np.cumsum(np.bincount(indices.ravel(), weights=weights))[:-1]
        wanted = np.arange(1, most + 1) / (most + 1) * weights.sum()
        middles = middles[np.unique(np.minimum(np.searchsorted(below, wanted), len(middles) - 1))]
    return np.unique(middles).tolist()  # type: ignore[no-any-return]
