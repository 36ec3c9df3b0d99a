"""What boosting asks of a family of hypotheses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from radboost._native import BinnedData, HypothesisColumns, value_edges
from radboost._typing import FloatArray, FloatMatrix, RowOrder
from radboost.objectives.margin import MarginObjective
from radboost.trees.grower import GrowthSettings

VALUE_GRID = 2.0**20


class Hypothesis(Protocol):
    """A function from rows to [-1, 1]."""

    @property
    def n_splits(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def depth(self) -> int: ...

    def predict(self, X: FloatMatrix, n_threads: int = 1) -> FloatArray: ...

    def key(self) -> tuple[object, float]:
        """Something shared by this hypothesis and its mirror image -h alone, and +1 or -1 to tell them apart."""


@dataclass(frozen=True)
class Problem:
    """One training set as the families see it."""

    X: Any  # raw rows, dense or sparse, as they were given
    order: RowOrder  # where each of the engine's rows, which are sorted by class, stands in X
    data: BinnedData
    objective: MarginObjective
    settings: GrowthSettings

    @property
    def n_questions(self) -> int:
        """d of the complexity bounds: a column with missing values counts twice."""
        return self.data.n_columns + int(self.data.has_missing().sum())

    @property
    def sample_size(self) -> float:
        """m: the sum of the sample weights."""
        return self.objective.total_weight

    def edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """E[y h] under the current D for hypotheses given by their predictions, one row of `values` each."""
        return value_edges(self.objective.state, values, self.settings.n_threads)


class Candidate(ABC):
    """A hypothesis up for choice, with its edge E[y h] under the current D and its complexity r."""

    edge: float
    complexity: float

    @abstractmethod
    def hypothesis(self) -> Hypothesis: ...

    @abstractmethod
    def enter(self, columns: HypothesisColumns) -> int:
        """Stores the predictions on the training rows and returns their slot."""


class ValuesCandidate(Candidate):
    """A hypothesis given by its predictions in [-1, 1] on the training rows."""

    def __init__(self, hypothesis: Hypothesis, predictions: npt.NDArray[Any], edge: float, complexity: float) -> None:
        self._hypothesis = hypothesis
        self._predictions = predictions
        self.edge = edge
        self.complexity = complexity

    def hypothesis(self) -> Hypothesis:
        return self._hypothesis

    def enter(self, columns: HypothesisColumns) -> int:
        return columns.add_values(np.ascontiguousarray(self._predictions, dtype=np.float32))


class Proposer(ABC):
    """A family at work on one problem."""

    randomised: bool = False  # may propose something else on the same weights

    @abstractmethod
    def propose(self, round_index: int) -> Sequence[Candidate]:
        """Candidates for the objective's current weights."""


class Family(ABC):
    """A family of hypotheses; `start` puts it to work."""

    accepts_missing: ClassVar[bool] = True  # rows with NaN

    @abstractmethod
    def start(self, problem: Problem) -> Proposer: ...

    @abstractmethod
    def n_families(self, problem: Problem) -> int:
        """How many sub-families of different complexity the search may use: their sum is p of Theorem 1."""


def on_value_grid(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Predictions in [-1, 1] rounded to multiples of 2^-20, which the native core sums without error."""
    return (np.rint(np.asarray(values, dtype=np.float64) * VALUE_GRID) / VALUE_GRID).astype(np.float32)
