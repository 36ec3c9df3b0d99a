"""Fitted model of boosting with structural sparsity (`ensemble_` of the sparse estimators)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.ensemble.arrays import LARGEST_INDEX, LARGEST_STEP
from radboost.families.kinds import Arrays, Shape, by_kind, kind_of
from radboost.families.stored import read_hypotheses, write_hypotheses
from radboost.model_file.checks import read_array, read_integer, read_names, require

SHOWN = 20  # terms of a formula


class SparseEnsemble:
    """Hypotheses, their weights of shape (n_hypotheses, n_outputs), and an intercept for each output. Immutable."""

    def __init__(
        self,
        hypotheses: Sequence[Any],
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
        """Scores; shape (n_rows, n_outputs)."""
        scores = np.tile(self.intercept, (X.shape[0], 1))
        for kind, indices in by_kind(self.hypotheses).items():
            kind.add_outer([self.hypotheses[index] for index in indices], self.weights[indices], X, scores)
        return scores

    def to_arrays(self, n_features: int) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A JSON-able header and arrays, from which `from_arrays` makes the same ensemble."""
        names = self.feature_names
        header = {"n_features": n_features, "feature_names": None if names is None else [str(name) for name in names]}
        kinds, stored = write_hypotheses(self.hypotheses, n_features, boosted=False)
        arrays = {"weights": self.weights, "intercept": self.intercept, "kinds": kinds}
        return {**header, **stored.header}, {**arrays, **stored.arrays}

    @classmethod
    def from_arrays(
        cls, header: Mapping[str, Any], arrays: Arrays, output_names: Sequence[str] | None
    ) -> tuple[SparseEnsemble, int]:
        """Ensemble and its number of columns, from untrusted arrays; ValueError if they are invalid."""
        n_features = read_integer(header, "n_features", 1, LARGEST_INDEX)
        hypotheses = read_hypotheses("kinds", header, arrays, Shape(n_features), boosted=False)
        require(len(set(hypotheses)) == len(hypotheses), "two hypotheses are equal")
        weights, intercept = _read_weights(arrays, len(hypotheses))
        return cls(hypotheses, weights, intercept, read_names(header, n_features), output_names), n_features

    def __repr__(self) -> str:
        """One formula for each output, with its `SHOWN` largest weights."""
        names = range(self.n_outputs) if self.output_names is None else self.output_names
        left = ["f(x)"] if self.n_outputs == 1 else [f"f(x, {name})" for name in names]
        return "\n".join(f"{name} = {self._formula(output)}" for output, name in enumerate(left))

    def _formula(self, output: int) -> str:
        weights = self.weights[:, output]
        used = np.flatnonzero(weights)
        largest = np.sort(used[np.argsort(-np.abs(weights[used]), kind="stable")[:SHOWN]])
        terms = [f"{self.intercept[output]:.4g}"]
        for index in largest:
            sign = "-" if weights[index] < 0 else "+"
            hypothesis = self.hypotheses[index]
            term = kind_of(hypothesis).term(hypothesis, self.feature_names)
            terms.append(f"{sign} {abs(weights[index]):.4g} {term}")
        more = len(used) - len(largest)
        return " ".join(terms) + (f" + {more} smaller terms" if more else "")


def _read_weights(arrays: Arrays, n_hypotheses: int) -> tuple[FloatArray, FloatArray]:
    """Weights of shape (n_hypotheses, n_outputs), and the intercepts."""
    intercept = _finite(read_array(arrays, "intercept", "<f8"), "an intercept")
    require(len(intercept) > 0, "there is no intercept")
    require("weights" in arrays, "the array 'weights' is missing")
    weights = arrays["weights"]
    fits = weights.dtype == np.dtype("<f8") and weights.shape == (n_hypotheses, len(intercept))
    require(fits, "the weights do not fit the hypotheses and the intercepts")
    return _finite(weights, "a weight"), intercept


def _finite(values: npt.NDArray[Any], name: str) -> FloatArray:
    require(bool((np.abs(values) <= LARGEST_STEP).all()), f"{name} is infinite or absurdly large")
    return values
