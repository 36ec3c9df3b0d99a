"""Family of given hypotheses, made in advance on other rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost import complexity
from radboost._validation import check_integer
from radboost.engine import HypothesisColumns, current
from radboost.families.base import Candidate, Family, Hypothesis, Problem, Proposer
from radboost.families.kinds import kind_of
from radboost.families.raw_rows import RawRows, enter_again
from radboost.rows.hashing import mix
from radboost.trees.tree import Tree, tree_of


def draw(seed: int, round_index: int, n: int, size: int | None) -> list[int]:
    """Random subset of 0, ..., n - 1 with `size` members (None: all), ascending; equal on any machine."""
    if size is None or size >= n:
        return list(range(n))
    keys = mix(mix(np.array([seed % 2**64], dtype=np.uint64), round_index), 1) ^ np.arange(n, dtype=np.uint64)
    return sorted(np.argsort(mix(keys, 2), kind="stable")[:size].tolist())


@dataclass(frozen=True)
class Candidates(Family):
    """Given hypotheses, of which every round takes the best.

    Their complexity is that of a finite family, by Massart's lemma, which requires that they were not made from the
    training rows.

    Parameters
    ----------
    hypotheses : sequence
        Trees, for example those of another model (`model.ensemble_.hypotheses`) or `stumps_at(...)`, or hypotheses of
        your own. Copies and mirror images of earlier ones are left out.
    per_round : int or None
        Number drawn in each round (of each source); None: all.
    """

    hypotheses: Sequence[Any]
    per_round: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.hypotheses, str | bytes | Mapping) or not isinstance(self.hypotheses, Iterable):
            raise TypeError(f"hypotheses of Candidates must be a sequence of hypotheses; got {self.hypotheses!r}.")
        given = tuple(self.hypotheses)
        for hypothesis in given:
            if not callable(getattr(hypothesis, "values", None)) or not callable(getattr(hypothesis, "key", None)):
                raise TypeError(
                    "hypotheses of Candidates must have the methods values and key, as trees and "
                    f"radboost.families.Hypothesis have; among them is {hypothesis!r}."
                )
        different: dict[object, Any] = {}
        for hypothesis in given:
            different.setdefault(hypothesis.key()[0], hypothesis)
        object.__setattr__(self, "hypotheses", tuple(different.values()))

    def validate(self) -> None:
        if not self.hypotheses:
            raise ValueError("Candidates has no hypothesis; give it at least one.")
        if self.per_round is not None:
            check_integer("per_round of Candidates", self.per_round, 1)

    def start(self, problem: Problem) -> Proposer:
        self.validate()
        return CandidatesProposer(self, problem)

    def proposal_depth(self, max_depth: int) -> int:
        return max(1, *(int(getattr(hypothesis, "depth", 0)) for hypothesis in self.hypotheses))

    def n_families(self, problem: Problem) -> int:
        return 1

    def complexity(self, sample_size: float, n_outputs: int) -> float:
        return complexity.finite(len(self.hypotheses), sample_size, n_outputs)


class CandidatesProposer(Proposer):
    """Keeps the predictions of all hypotheses on the training rows."""

    def __init__(self, family: Candidates, problem: Problem) -> None:
        for hypothesis in family.hypotheses:
            outputs = getattr(hypothesis, "n_outputs", problem.n_outputs)
            n_features = getattr(hypothesis, "n_features", problem.data.n_columns)
            if (outputs, n_features) != (problem.n_outputs, problem.data.n_columns):
                raise ValueError(
                    f"{hypothesis!r} among the candidates has {outputs} output(s) for rows of {n_features} columns; "
                    f"here rows have {problem.data.n_columns} columns, and {problem.n_outputs} output(s) are needed."
                )
        self._family, self._problem = family, problem
        self._rows = RawRows(problem.X, problem.order, problem.settings.n_threads)
        n_classes = max(2, problem.n_outputs)
        self._columns = current().members(problem.data.n_rows, n_classes)
        self._slots = [enter_again(one, self._rows, self._columns) for one in family.hypotheses]
        self._complexity = family.complexity(problem.sample_size, problem.n_outputs)
        self.randomised = len(draw(0, 0, len(self._slots), family.per_round)) < len(self._slots)
        self.least_complexity = None if self.randomised else self._complexity

    def propose(self, round_index: int) -> Sequence[Candidate]:
        edges, _ = self._problem.objective.edges(self._columns)
        drawn = draw(self._problem.settings.seed, round_index, len(self._slots), self._family.per_round)
        return [
            GivenCandidate(self._family.hypotheses[k], self._rows, float(edges[self._slots[k]]), self._complexity)
            for k in drawn
        ]


class GivenCandidate(Candidate):
    def __init__(self, hypothesis: Hypothesis, rows: RawRows, edge: float, complexity: float) -> None:
        self._hypothesis, self._rows = hypothesis, rows
        self.edge, self.complexity = edge, complexity
        self.real_valued = kind_of(hypothesis).real_valued

    def hypothesis(self) -> Hypothesis:
        return self._hypothesis

    def enter(self, columns: HypothesisColumns) -> int:
        return enter_again(self._hypothesis, self._rows, columns)


def stumps_at(thresholds: Sequence[Any]) -> list[Tree]:
    """Stumps for each threshold of each column: +1 above it, -1 otherwise and for missing values.

    `thresholds` has a sequence of numbers for each column of X, empty for columns without stumps.
    """
    if isinstance(thresholds, str) or not isinstance(thresholds, Iterable):
        raise TypeError(f"thresholds must have a sequence of numbers for each column; got {thresholds!r}.")
    trees = []
    for feature, given in enumerate(thresholds := list(thresholds)):
        try:
            numbers = np.unique(np.asarray(given, dtype=np.float64).reshape(-1))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if not np.isfinite(numbers).all():
            raise ValueError(f"thresholds of column {feature} must be finite numbers; got {given!r}.")
        trees += [_stump(feature, float(threshold), len(thresholds)) for threshold in numbers]
    return trees


def _stump(feature: int, threshold: float, n_features: int) -> Tree:
    nodes: dict[str, list[float]] = {
        "feature": [feature, -1, -1],
        "threshold": [threshold, 0.0, 0.0],
        "left": [1, -1, -1],
        "missing_left": [1, 0, 0],
        "value": [0.0, -1.0, 1.0],
    }
    return tree_of(nodes, n_features, 1)
