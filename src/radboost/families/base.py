"""Families of hypotheses as boosting sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from radboost import complexity
from radboost._members import register
from radboost._typing import FloatArray, RowOrder
from radboost.engine import BinnedData, HypothesisColumns
from radboost.model_file import storable_value
from radboost.objectives import Objective
from radboost.trees.grower import GrowthSettings

VALUE_GRID = 2.0**20
FAMILIES: dict[str, type[Family]] = {}
"""Families of hypotheses, by the name that `family` takes."""


class Hypothesis(Protocol):
    """A function of a row: to [-1, 1] with two classes, to a number in [0, 1] for each class with more, and in sparse
    models to any number.

    One of your own is a subclass with the method `values`, or any object with the methods that are needed. Boosting
    needs `values`, `key` and the three sizes, induction `values`, `describe` and a hash. Everything else depends on the
    class of the hypothesis (`radboost.families.kinds`).
    """

    @property
    def n_splits(self) -> int:
        return 0

    @property
    def n_nodes(self) -> int:
        return 1

    @property
    def depth(self) -> int:
        return 0

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The columns of X that it looks at; None for all of them."""
        return None

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        """A number for each row, or with several classes a row of numbers, one for each class."""
        raise NotImplementedError(f"{type(self).__name__} has no method values(X, n_threads=1).")

    def key(self) -> tuple[object, float]:
        """Something shared by this hypothesis and its mirror image -h alone, and +1 or -1 to tell them apart."""
        return self, 1.0

    def describe(self, names: Sequence[str] | None, /) -> str:
        """The hypothesis in a line of text; `names` are those of the columns of X, if they have any."""
        return repr(self)


@dataclass(frozen=True)
class Problem:
    """One training set as the families see it."""

    X: Any  # raw rows, dense or sparse, as they were given
    order: RowOrder  # where each of the engine's rows, which are sorted by class, stands in X
    data: BinnedData
    objective: Objective
    settings: GrowthSettings
    column_names: Sequence[Any] | None = None  # of a data frame

    @property
    def n_columns(self) -> int:
        """d of the complexity bounds."""
        return complexity.n_columns(self.data.has_missing() > 0)

    @cached_property
    def question_bits(self) -> npt.NDArray[np.int64]:
        """Bits that a question about each column costs beyond one threshold; shape (n_columns,)."""
        data = self.data
        return complexity.question_bits(data.n_bins(), data.is_categorical() > 0)

    @property
    def n_outputs(self) -> int:
        """Numbers that a hypothesis gives for a row: one with two classes, otherwise one for each."""
        return 1 if self.objective.n_classes == 2 else self.objective.n_classes

    @property
    def sample_size(self) -> float:
        """m: the sum of the sample weights."""
        return self.objective.total_weight

    def edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """The edges under the current D of hypotheses given by their predictions, one row of `values` each.

        Two classes: E[y h], one number each. More: a number for each class that might be given the values.
        """
        edges = self.objective.value_edges(values)
        return edges[:, 0] if edges.shape[1] == 1 else edges


class Candidate(ABC):
    """A hypothesis up for choice, with its edge under the current D and its complexity r."""

    edge: float
    complexity: float
    # Not only votes: the papers' closed-form steps, which assume these, are then far too short.
    real_valued: bool = False
    rated: bool = False  # a tree with numbers in its leaves

    @abstractmethod
    def hypothesis(self) -> Hypothesis: ...

    @abstractmethod
    def enter(self, columns: HypothesisColumns) -> int:
        """Stores the predictions on the training rows and returns their slot."""


class ValuesCandidate(Candidate):
    """A hypothesis given by its predictions on the training rows, for the margin or for one of many classes."""

    real_valued = True

    def __init__(
        self,
        hypothesis: Hypothesis,
        predictions: npt.NDArray[Any],
        edge: float,
        complexity: float,
        class_index: int | None = None,
    ) -> None:
        self._hypothesis = hypothesis
        self.predictions = predictions
        self.class_index = class_index
        self.edge = edge
        self.complexity = complexity

    def hypothesis(self) -> Hypothesis:
        return self._hypothesis

    def enter(self, columns: HypothesisColumns) -> int:
        values = np.ascontiguousarray(self.predictions, dtype=np.float32)
        return columns.add_values(values, 1 if self.class_index is None else self.class_index)


class Proposer(ABC):
    """A family at work on one problem."""

    randomised: bool = False  # may propose something else on the same weights
    rated: bool = False  # proposes trees with numbers in their leaves

    @abstractmethod
    def propose(self, round_index: int) -> Sequence[Candidate]:
        """Candidates for the objective's current weights."""

    def constants(self) -> Sequence[Candidate]:
        """The constant answers of the family, one for each class, whatever their edge."""
        return ()


class Family(ABC):
    """A family of hypotheses; `start` puts it to work. `class Stumps(Family, name="stumps")` registers itself."""

    accepts_missing: ClassVar[bool] = True  # rows with NaN
    of_trees: ClassVar[bool] = False  # grown as `Problem.settings` say, constraints on columns among them
    one_set: ClassVar[bool] = False  # all hypotheses are from one set of functions, fixed before the rows were seen

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if name is not None:
            register(FAMILIES, name, cls)
            storable_value(cls)

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuses parameters that it cannot work with, before the data are seen."""

    @abstractmethod
    def start(self, problem: Problem) -> Proposer: ...

    def proposal_depth(self, max_depth: int) -> int:
        """Questions from root to leaf of its deepest hypotheses, 0 where values are mostly small: what automatic steps
        of DeepBoost go by. `max_depth` is that of the estimator.
        """
        return 2

    @abstractmethod
    def n_families(self, problem: Problem) -> int:
        """How many sub-families of different complexity the search may use: their sum is p of Theorem 1."""


def on_value_grid(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Predictions in [-1, 1] rounded to multiples of 2^-20, which the native core sums without error."""
    return (np.rint(np.asarray(values, dtype=np.float64) * VALUE_GRID) / VALUE_GRID).astype(np.float32)
