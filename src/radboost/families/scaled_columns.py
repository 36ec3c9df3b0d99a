"""Linear functions of one column each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.families.base import Candidate, Family, Hypothesis, Problem, Proposer, ValuesCandidate, on_value_grid
from radboost.families.kinds import Arrays, Kind, Shape, Stored, read_features
from radboost.model_file.checks import read_array


@dataclass(frozen=True)
class ScaledColumn(Hypothesis):
    """x -> one column, moved and stretched to [-1, 1]."""

    column: int
    low: float
    high: float

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        rows = X.toarray() if hasattr(X, "toarray") else X
        fraction = (rows[:, self.column] - self.low) / (self.high - self.low)
        return on_value_grid(2.0 * np.clip(fraction, 0.0, 1.0) - 1.0).astype(np.float64)


class ScaledColumnKind(Kind[ScaledColumn], of=ScaledColumn, code=30):
    def write(self, hypotheses: Sequence[ScaledColumn], n_features: int) -> Stored:
        columns = np.array([h.column for h in hypotheses], dtype="<i4")
        lows, highs = (np.array([getattr(h, end) for h in hypotheses], dtype="<f8") for end in ("low", "high"))
        return Stored(arrays={"scaled_columns": columns, "scaled_lows": lows, "scaled_highs": highs})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[ScaledColumn]:
        columns = read_features(arrays, "scaled_columns", shape, n)
        lows, highs = (read_array(arrays, name, "<f8", n).tolist() for name in ("scaled_lows", "scaled_highs"))
        return [ScaledColumn(*one) for one in zip(columns, lows, highs, strict=True)]


class ScaledColumnProposer(Proposer):
    def __init__(self, problem: Problem) -> None:
        X = problem.X[problem.order]  # predictions follow the engine's order of the rows
        low, high = X.min(axis=0), X.max(axis=0)
        self.hypotheses = [ScaledColumn(int(j), float(low[j]), float(high[j])) for j in np.flatnonzero(high > low)]
        self.values = np.array([h.values(X) for h in self.hypotheses], dtype=np.float32)
        self.problem = problem
        # Massart's lemma for these functions and their negatives.
        self.complexity = math.sqrt(2.0 * math.log(2.0 * len(self.hypotheses)) / problem.sample_size)

    def propose(self, round_index: int) -> list[Candidate]:
        edges = self.problem.edges(self.values)
        best = int(np.argmax(np.abs(edges)))
        return [ValuesCandidate(self.hypotheses[best], self.values[best], float(edges[best]), self.complexity)]


@dataclass(frozen=True)
class ScaledColumns(Family, name="scaled_columns"):
    """Linear functions of one column each: boosting them gives a linear model of two classes."""

    accepts_missing = False

    def start(self, problem: Problem) -> Proposer:
        return ScaledColumnProposer(problem)

    def n_families(self, problem: Problem) -> int:
        return 1
