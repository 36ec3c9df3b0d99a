"""The fitted model of boosting with structural sparsity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.model_file.checks import read_integer, read_names
from radboost.sparsity.arrays import Arrays, read_weighted, write_hypotheses
from radboost.sparsity.hypotheses import Column, Hypothesis

SHOWN = 20
LARGEST_NUMBER_OF_COLUMNS = 2**31 - 1


class SparseEnsemble:
    """Hypotheses, a line of weights for each, and an intercept for each output. Immutable."""

    def __init__(
        self,
        hypotheses: Sequence[Hypothesis],
        weights: FloatArray,
        intercept: FloatArray,
        feature_names: Sequence[str] | None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self.hypotheses = tuple(hypotheses)
        self.weights = np.array(weights, dtype=np.float64)
        self.intercept = np.array(intercept, dtype=np.float64)
        for array in (self.weights, self.intercept):
            array.flags.writeable = False
        self.feature_names = None if feature_names is None else tuple(feature_names)
        self.output_names = None if output_names is None else tuple(output_names)

    @property
    def n_outputs(self) -> int:
        return len(self.intercept)

    def __len__(self) -> int:
        return len(self.hypotheses)

    def scores(self, X: Any) -> FloatArray:
        """A line for each row of X and a column for each output."""
        if all(isinstance(hypothesis, Column) for hypothesis in self.hypotheses):
            features = [hypothesis.feature for hypothesis in self.hypotheses if isinstance(hypothesis, Column)]
            return np.asarray(X[:, features] @ self.weights + self.intercept)
        scores = np.tile(self.intercept, (X.shape[0], 1))
        for hypothesis, weights in zip(self.hypotheses, self.weights, strict=True):
            scores += np.multiply.outer(hypothesis.values(X), weights)
        return scores

    def to_arrays(self, n_features: int) -> tuple[dict[str, Any], Arrays]:
        """A JSON-able header and arrays, from which `from_arrays` makes the same ensemble."""
        names = self.feature_names
        header = {"n_features": n_features, "feature_names": None if names is None else [str(name) for name in names]}
        arrays = {"weights": self.weights, "intercept": self.intercept}
        return header, {**arrays, **write_hypotheses(self.hypotheses, n_features)}

    @classmethod
    def from_arrays(
        cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], output_names: Sequence[str] | None
    ) -> tuple[SparseEnsemble, int]:
        """An ensemble and the number of columns that it is for; anything that is not one is a ValueError."""
        n_features = read_integer(header, "n_features", 1, LARGEST_NUMBER_OF_COLUMNS)
        return cls(*read_weighted(arrays, n_features), read_names(header, n_features), output_names), n_features

    def __repr__(self) -> str:
        """One formula for each output; the largest weights of long ones."""
        lines = []
        for output in range(self.n_outputs):
            left = "f(x)" if self.n_outputs == 1 else f"f(x, {self._output(output)})"
            lines.append(f"{left} = {self._formula(output)}")
        return "\n".join(lines)

    def _output(self, output: int) -> str:
        return str(output) if self.output_names is None else self.output_names[output]

    def _formula(self, output: int) -> str:
        weights = self.weights[:, output]
        used = np.flatnonzero(weights)
        largest = np.sort(used[np.argsort(-np.abs(weights[used]), kind="stable")[:SHOWN]])
        terms = [f"{self.intercept[output]:.4g}"]
        for place in largest:
            sign = "-" if weights[place] < 0 else "+"
            terms.append(f"{sign} {abs(weights[place]):.4g} {self.hypotheses[place].describe(self.feature_names)}")
        more = len(used) - len(largest)
        return " ".join(terms) + (f" + {more} smaller terms" if more else "")
