"""Base classes of families of hypotheses: `Family` starts a `Proposer`, which proposes a `Candidate` each round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from radboost import complexity
from radboost._members import register
from radboost._typing import FloatArray, RowOrder
from radboost.engine import BinnedData, HypothesisColumns, RatedRounds
from radboost.model_file import storable_value
from radboost.objectives import Objective
from radboost.trees.grower import GrowthSettings

VALUE_GRID = 2.0**20  # predictions are multiples of its inverse
FAMILIES: dict[str, type[Family]] = {}
"""Families of hypotheses, by the name that `family` takes."""


class Hypothesis(Protocol):
    """A function of a row, with values in [-1, 1] for two classes, and in [0, 1] for each of several classes.

    In sparse models values are any numbers. Hypotheses of users are subclasses with the method `values`, or any object
    with the required methods: `values`, `key` and the three sizes for boosting; `values`, `describe` and a hash for
    induction. Everything else depends on the class of the hypothesis (`radboost.families.kinds`).
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
        """Indices of the columns of X that it uses; None: all."""
        return None

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        """Predictions, shape (n_rows,), or (n_rows, n_classes) with several classes."""
        raise NotImplementedError(f"{type(self).__name__} has no method values(X, n_threads=1).")

    def key(self) -> tuple[object, float]:
        """Hashable key shared only with the mirror image -h, and +1 or -1 to distinguish the two."""
        return self, 1.0

    def describe(self, names: Sequence[str] | None, /) -> str:
        """Text of one line; `names` of the columns of X, or None."""
        return repr(self)


@dataclass(frozen=True)
class Problem:
    """Training set of a fit, for families."""

    X: Any  # raw rows, dense or sparse, as they were given
    order: RowOrder  # index in X of each row of the engine, which sorts rows by class
    data: BinnedData
    objective: Objective
    settings: GrowthSettings
    column_names: Sequence[Any] | None = None  # of a data frame; None: X has none

    @property
    def n_columns(self) -> int:
        """d of the complexity bounds."""
        return complexity.n_columns(self.data.has_missing() > 0)

    @cached_property
    def question_bits(self) -> npt.NDArray[np.int64]:
        """Description length in bits of a split on each column, beyond one threshold; shape (n_columns,)."""
        data = self.data
        return complexity.question_bits(data.n_bins(), data.is_categorical() > 0)

    @property
    def n_outputs(self) -> int:
        """Number of values of a hypothesis per row: one for two classes, otherwise one for each class."""
        return 1 if self.objective.n_classes == 2 else self.objective.n_classes

    @property
    def sample_size(self) -> float:
        """m: the sum of the sample weights."""
        return self.objective.total_weight

    def edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """Edges under the current D of hypotheses with these predictions; `values` has shape (n_hypotheses, n_rows).

        Two classes: E[y h], shape (n_hypotheses,). More: one edge for each class that could get the values, shape
        (n_hypotheses, n_classes).
        """
        edges = self.objective.value_edges(values)
        return edges[:, 0] if edges.shape[1] == 1 else edges


class Candidate(ABC):
    """A proposed hypothesis, with its edge under the current D and its complexity r."""

    edge: float
    complexity: float
    # True: values are not only -1, 0 and 1, for which the papers' closed-form steps are far too short.
    real_valued: bool = False
    rated: bool = False  # a tree with real-valued leaves

    @abstractmethod
    def hypothesis(self) -> Hypothesis: ...

    @abstractmethod
    def enter(self, columns: HypothesisColumns) -> int:
        """Store the predictions on the training rows in `columns`; returns their slot."""


class ValuesCandidate(Candidate):
    """Candidate given by its predictions on the training rows; `class_index`: their class, None: margin."""

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
    """Proposes hypotheses of a family for one problem."""

    randomised: bool = False  # may propose something else for equal weights
    rated: bool = False  # proposes trees with real-valued leaves
    # Smallest complexity in a family whose largest edge is always proposed; None: the search is not exhaustive.
    least_complexity: float | None = None

    @abstractmethod
    def propose(self, round_index: int) -> Sequence[Candidate]:
        """Candidates for the current weights of the objective."""

    def rated_rounds(self, price: Callable[[float], float], **rule: Any) -> RatedRounds | None:
        """Native maker of rounds that each enter one of the proposed trees; None: they need `propose`.

        `price` converts a complexity; `rule`: keyword arguments of `RatedRounds`. See `TreeProposer.tree` and `bound`.
        """
        return None

    def constants(self) -> Sequence[Candidate]:
        """Constant hypotheses of the family, one for each class, whatever their edge."""
        return ()


class Family(ABC):
    """Family of hypotheses; `start` returns its proposer. `class Stumps(Family, name="stumps")` registers itself."""

    accepts_missing: ClassVar[bool] = True  # rows with NaN
    of_trees: ClassVar[bool] = False  # grown by `Problem.settings`, which may have constraints on columns
    one_set: ClassVar[bool] = False  # all hypotheses belong to one set of functions, fixed before the rows were seen

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if name is not None:
            register(FAMILIES, name, cls)
            storable_value(cls)

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Raise an error for invalid parameters; called before the data are read."""

    @abstractmethod
    def start(self, problem: Problem) -> Proposer: ...

    def proposal_depth(self, max_depth: int) -> int:
        """Depth of its deepest hypotheses, for the automatic learning rate of DeepBoost; 0 if values are mostly small.

        `max_depth` is the parameter of the estimator.
        """
        return 2

    @abstractmethod
    def n_families(self, problem: Problem) -> int:
        """Number of sub-families of different complexity; the sum over families is p of Theorem 1 (Deep Boosting)."""


def on_value_grid(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Predictions in [-1, 1] rounded to multiples of 2^-20, which the native core sums without error."""
    return (np.rint(np.asarray(values, dtype=np.float64) * VALUE_GRID) / VALUE_GRID).astype(np.float32)
