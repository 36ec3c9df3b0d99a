"""A branching program of trees, the model of martingale boosting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost.boosting.martiboost import next_masses, probability_of_positive
from radboost.engine import Forest
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.trees.tree import Tree, forest_of

BLOCK_CELLS = 2**18  # rows times nodes whose masses are moved together; they fit into the cache
SHOWN = 3


class BranchingProgram:
    """Layers of 1, 2, ..., L nodes that a row passes from the top (Geist (2015), Figure 7, left).

    A row goes right at a node with probability `right_on_plus` where the node's tree predicts +1 and `right_on_minus`
    where it predicts -1. Going right from node j of a layer leads to node j + 1 of the next one, going left to node j.
    A row whose path ends beyond the middle of the L + 1 ends of the last layer belongs to the second class.

    Attributes
    ----------
    hypotheses : tuple of trees, layer by layer
    right_on_minus, right_on_plus : arrays, one probability per tree
    n_layers : int
    """

    n_outputs = 1

    def __init__(
        self,
        trees: Sequence[Tree],
        right_on_minus: FloatArray,
        right_on_plus: FloatArray,
        *,
        n_features: int,
        sample_size: float,
        feature_names: Sequence[str] | None = None,
        categories: Mapping[int, Sequence[Category]] | None = None,
    ) -> None:
        self.hypotheses = tuple(trees)
        self.right_on_minus = right_on_minus
        self.right_on_plus = right_on_plus
        for array in (right_on_minus, right_on_plus):
            array.flags.writeable = False
        self.n_layers = (math.isqrt(8 * len(trees) + 1) - 1) // 2
        if self.n_layers * (self.n_layers + 1) != 2 * len(trees) or not trees:
            raise ValueError(f"{len(trees)} trees do not fill the layers 1, 2, 3, ... of a branching program")
        self.n_features = n_features
        self.sample_size = sample_size
        self.feature_names = None if feature_names is None else tuple(feature_names)
        self.categories = {column: tuple(known) for column, known in (categories or {}).items()}
        self._forests: list[Forest] | None = None

    @property
    def n_rounds(self) -> int:
        """Layers; what other models call rounds."""
        return self.n_layers

    def decision_function(self, X: FloatMatrix, n_threads: int = 1) -> FloatArray:
        """Scores 2 p - 1, p being the probability that the path of a row ends in the second class."""
        scores = np.empty(len(X))
        height = max(1, BLOCK_CELLS // (self.n_layers + 1))
        for first in range(0, len(X), height):
            block = X[first : first + height]
            for masses in self._masses(block, n_threads):
                last = masses
            scores[first : first + height] = 2.0 * probability_of_positive(last) - 1.0
        return scores

    def staged_decision_function(self, X: FloatMatrix, n_threads: int = 1) -> Iterator[FloatArray]:
        """Scores after each layer."""
        for masses in self._masses(X, n_threads):
            yield 2.0 * probability_of_positive(masses) - 1.0

    def _masses(self, X: FloatMatrix, n_threads: int) -> Iterator[FloatArray]:
        """Probabilities of the nodes after each layer, shape (n_nodes, n_rows)."""
        if self._forests is None:
            self._forests = [forest_of(self.hypotheses[layer_slice(i)]) for i in range(self.n_layers)]
        masses = np.ones((1, len(X)))
        for index, forest in enumerate(self._forests):
            layer = layer_slice(index)
            says_plus = forest.tree_values(X, n_threads).reshape(index + 1, len(X)) > 0
            masses = next_masses(masses, says_plus, self.right_on_minus[layer], self.right_on_plus[layer])
            yield masses

    def feature_importances(self) -> FloatArray:
        """Gain of the splits on each feature, as fractions of the whole."""
        return self.as_ensemble().feature_importances()

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_forests": None}

    def __repr__(self) -> str:
        head = f"BranchingProgram of {self.n_layers} layers, {len(self)} trees"
        shown = [
            f"  layer {i}: right with probability "
            + ", ".join(f"{p:.2f} on +1 and {m:.2f} on -1" for p, m in self._odds(i))
            for i in range(min(SHOWN, self.n_layers))
        ]
        return "\n".join([head, *shown, *(["  ..."] if self.n_layers > SHOWN else [])])

    def _odds(self, layer: int) -> list[tuple[float, float]]:
        nodes = layer_slice(layer)
        return list(zip(self.right_on_plus[nodes], self.right_on_minus[nodes], strict=True))

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A JSON-able header and the arrays that `from_arrays` makes an equal program of."""
        header, arrays = self.as_ensemble().to_arrays()
        return header, {**arrays, "right_on_minus": self.right_on_minus, "right_on_plus": self.right_on_plus}

    def as_ensemble(self) -> Ensemble:
        """The trees in the form that files know, each with a step of 1 in the round of its layer."""
        rounds = np.repeat(np.arange(self.n_layers), np.arange(1, self.n_layers + 1))
        steps = np.array([(r, j, 1.0) for j, r in enumerate(rounds.tolist())], dtype=STEP_TYPE)
        return Ensemble(
            self.hypotheses,
            [0.0] * len(self),
            steps,
            n_rounds=self.n_layers,
            n_features=self.n_features,
            n_families=1,
            sample_size=self.sample_size,
            feature_names=self.feature_names,
            categories=self.categories,
        )

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> BranchingProgram:
        """The inverse of `to_arrays`. Checks everything: the arrays may come from a damaged or hostile file."""
        ensemble = Ensemble.from_arrays(header, arrays)
        trees = [tree for tree in ensemble.entered if isinstance(tree, Tree)]
        if len(trees) != len(ensemble.entered) or ensemble.n_outputs != 1:
            raise ValueError("a branching program is made of trees for two classes")
        odds = []
        for name in ("right_on_minus", "right_on_plus"):
            array = arrays.get(name, np.zeros(0))
            of_each = array.dtype == np.dtype("<f8") and array.shape == (len(trees),)
            if not of_each or not ((array >= 0) & (array <= 1)).all():
                raise ValueError(f"the array {name!r} does not hold a probability for each tree")
            odds.append(array.copy())
        program = cls(
            trees,
            *odds,
            n_features=ensemble.n_features,
            sample_size=ensemble.sample_size,
            feature_names=ensemble.feature_names,
            categories=ensemble.categories,
        )
        if program.n_layers != ensemble.n_rounds:
            raise ValueError(f"{ensemble.n_rounds} layers are named, and {program.n_layers} are there")
        return program


def layer_slice(layer: int) -> slice:
    """Slice of the trees of a layer, counted from 0, among all."""
    first = layer * (layer + 1) // 2
    return slice(first, first + layer + 1)
