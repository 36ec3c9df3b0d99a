"""Hypotheses Q(k | x) h(x) of ensembles over several sources; Q(k | x) is the probability that x is of source k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost.families.base import Candidate, Hypothesis
from radboost.families.kinds import Arrays, Kind, Names, Scorer, Shape, Stored, kind_of, predictions, scorers
from radboost.families.stored import read_hypotheses, write_hypotheses
from radboost.model_file.checks import read_array, read_integer, require
from radboost.trees.describe import TreeNames
from radboost.trees.tree import Tree

PREFIX = "sourced_"


@dataclass(frozen=True)
class SourcedHypothesis(Hypothesis):
    """x -> Q(source | x) base(x). Storcheus (2021), equation (4.3).

    X has Q(1 | x), ..., Q(n_sources | x) as columns after its `n_features` columns.
    """

    base: Any
    source: int
    n_features: int
    n_sources: int

    @property
    def n_splits(self) -> int:
        return int(self.base.n_splits)

    @property
    def n_nodes(self) -> int:
        return int(self.base.n_nodes)

    @property
    def depth(self) -> int:
        return int(self.base.depth)

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        plain, q = split_rows(X, self.n_features, self.n_sources)
        result = predictions(self.base, plain, n_threads)
        return np.asarray(result * (q[:, self.source] if result.ndim == 1 else q[:, self.source, None]))

    def key(self) -> tuple[object, float]:
        key, sign = self.base.key()
        return (self.source, key), sign

    def describe(self, names: Sequence[str] | None, /) -> str:
        return f"Q({self.source} | x) * {kind_of(self.base).describe(self.base, names, {})}"

    def __str__(self) -> str:
        return f"weighted by Q({self.source} | x):\n{self.base}"


def split_rows(X: Any, n_features: int, n_sources: int) -> tuple[FloatMatrix, FloatArray]:
    """Columns of the user, shape (n_rows, n_features), and Q(k | x), shape (n_rows, n_sources)."""
    if X.shape[1] != n_features + n_sources:
        raise ValueError(
            f"Hypotheses of several sources want rows of {n_features} columns with {n_sources} shares Q(k | x) behind; "
            f"got {X.shape[1]} columns. Ask the estimator, which knows Q."
        )
    rows = X.toarray() if sparse.issparse(X) else X
    return np.ascontiguousarray(rows[:, :n_features]), rows[:, n_features:].astype(np.float64)


class SourcedKind(Kind[SourcedHypothesis], of=SourcedHypothesis, code=20):
    def scorer(self, hypotheses: Sequence[SourcedHypothesis], weights: FloatArray) -> Scorer:
        """Adds the hypotheses of a source first, and multiplies the sum by Q(source | x) once."""
        first = hypotheses[0]
        by_source: dict[int, list[int]] = {}
        for index, hypothesis in enumerate(hypotheses):
            by_source.setdefault(hypothesis.source, []).append(index)
        parts = {
            source: scorers([hypotheses[index].base for index in indices], np.asarray(weights)[indices])
            for source, indices in sorted(by_source.items())
        }

        def add(X: FloatMatrix, scores: FloatArray, n_threads: int) -> None:
            plain, q = split_rows(X, first.n_features, first.n_sources)
            for source, adders in parts.items():
                part = np.zeros_like(scores)
                for add_base in adders:
                    add_base(plain, part, n_threads)
                scores += part * (q[:, source] if scores.ndim == 1 else q[:, source, None])

        return add

    def describe(
        self, hypothesis: SourcedHypothesis, names: Names, categories: Mapping[int, Sequence[Category]]
    ) -> str:
        return f"Q({hypothesis.source} | x) * {kind_of(hypothesis.base).describe(hypothesis.base, names, categories)}"

    def take_names(self, hypothesis: SourcedHypothesis, names: TreeNames) -> None:
        kind_of(hypothesis.base).take_names(hypothesis.base, names)

    def text(self, hypothesis: SourcedHypothesis, names: TreeNames) -> str:
        return f" times Q({hypothesis.source} | x){kind_of(hypothesis.base).text(hypothesis.base, names)}"

    def tree(self, hypothesis: SourcedHypothesis) -> Tree | None:
        return kind_of(hypothesis.base).tree(hypothesis.base)

    def add_gains(self, hypothesis: SourcedHypothesis, weight: float, importances: FloatArray) -> None:
        kind_of(hypothesis.base).add_gains(hypothesis.base, weight, importances)

    def spread(self, hypothesis: SourcedHypothesis) -> float:
        return kind_of(hypothesis.base).spread(hypothesis.base)

    def write(self, hypotheses: Sequence[SourcedHypothesis], n_features: int) -> Stored:
        bases = [hypothesis.base for hypothesis in hypotheses]
        kinds, stored = write_hypotheses(bases, hypotheses[0].n_features, boosted=True)
        arrays: dict[str, npt.NDArray[Any]] = {
            "kinds": kinds,
            "of": np.array([hypothesis.source for hypothesis in hypotheses], dtype="<i4"),
            **stored.arrays,
        }
        first = hypotheses[0]
        header = {"n_sources": first.n_sources, "n_features": first.n_features, **stored.header}
        return Stored({"sourced": header}, {PREFIX + name: array for name, array in arrays.items()})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[SourcedHypothesis]:
        section = header.get("sourced")
        require(isinstance(section, dict), "what is known of the sources is missing")
        assert isinstance(section, dict)
        n_sources = read_integer(section, "n_sources", 1, 4096)
        n_features = read_integer(section, "n_features", 1, shape.n_features)
        inner = {name[len(PREFIX) :]: array for name, array in arrays.items() if name.startswith(PREFIX)}
        kinds = read_array(inner, "kinds", "<u1", n)
        require(not (kinds == self.boosted_code).any(), "a hypothesis of a source is one of sources itself")
        source_of = read_array(inner, "of", "<i4", n)
        require(bool(((source_of >= 0) & (source_of < n_sources)).all()), "a hypothesis names a source that is not")
        bases = read_hypotheses("kinds", section, inner, replace(shape, n_features=n_features), boosted=True)
        return [
            SourcedHypothesis(base, source, n_features, n_sources)
            for base, source in zip(bases, source_of.tolist(), strict=True)
        ]


class SourcedCandidate(Candidate):
    """Candidate that was proposed on the row weights of a source."""

    def __init__(self, candidate: Candidate, source: int, n_features: int, n_sources: int) -> None:
        self._candidate = candidate
        self._arguments = (source, n_features, n_sources)
        self.edge = candidate.edge
        self.complexity = candidate.complexity
        self.real_valued = candidate.real_valued

    def hypothesis(self) -> Any:
        return SourcedHypothesis(self._candidate.hypothesis(), *self._arguments)

    def enter(self, columns: Any) -> int:
        """Store the predictions of the base: steps and edges multiply rows by Q(source | x)."""
        return self._candidate.enter(columns)
