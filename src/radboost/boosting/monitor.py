"""Validation monitors: loss and errors on rows that a fit does not learn from, and early stopping by them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real
from radboost.boosting.metrics import Measures
from radboost.boosting.trace import Step, Trace
from radboost.families.kinds import scorers
from radboost.model_file import storable_value
from radboost.objectives import Objective, margins_of
from radboost.objectives.over_sources import agnostic
from radboost.rows.costs import Costs
from radboost.rows.fields import Rows

DEFAULT_PATIENCE = 25


@storable_value
@dataclass(frozen=True)
class EarlyStopping:
    """When to end a fit before its last round.

    Parameters
    ----------
    patience : int
        Stop after this many rounds without a lower loss on the validation rows, and keep the best round. With
        `fit(..., eval_metric=...)`: without a higher value of that metric, the first where there are several.
    validation_fraction : float
        Fraction of the training rows held back when `fit` gets no validation set. Rows are drawn by their content, and
        copies of a row one by one. Where copies are one observation several times, give a validation set.
    """

    patience: int = DEFAULT_PATIENCE
    validation_fraction: float = 0.15

    def validate(self) -> None:
        check_integer("patience", self.patience, 1)
        fraction = check_real("validation_fraction", self.validation_fraction, low=0.0, open_low=True)
        if fraction >= 1.0:
            raise ValueError(f"validation_fraction must lie in (0, 1); got {self.validation_fraction!r}.")


def resolve_early_stopping(value: object) -> EarlyStopping | None:
    """EarlyStopping for False, True, a number of rounds to wait, or itself; None: no early stopping."""
    if isinstance(value, EarlyStopping):
        value.validate()
        return value
    if isinstance(value, np.bool_):
        value = bool(value)
    if value is None or value is False:
        return None
    if value is True:
        return EarlyStopping()
    if isinstance(value, int | np.integer):
        return EarlyStopping(patience=check_integer("early_stopping", value, 1))
    raise TypeError(
        f"early_stopping must be False, True, a number of rounds to wait, or an EarlyStopping; got {value!r}."
    )


def scores_of(n_classes: int) -> int:
    """Number of scores per row: one for two classes, otherwise one for each class."""
    return 1 if n_classes == 2 else n_classes


class Monitor(ABC):
    """Base of validation monitors: updates the scores of validation rows after each round, and records their loss."""

    what: ClassVar[str]  # name of the quantity to minimize, in the history
    interval: int = 1  # rounds between evaluations
    has_errors: bool = True  # False: there is no error rate
    patience: int | None  # rounds without improvement until the fit stops; None: never stop
    unit: float = 1.0  # the history has the mean of `evaluate` * unit + floor
    floor: float = 0.0
    measures: Measures | None = None  # metrics of `eval_metric`: the first one, maximized, decides instead; None: none

    def __init__(self, rows: Rows, n_outputs: int, n_threads: int, stopping: EarlyStopping | None = None) -> None:
        self.rows = rows
        self.patience = None if stopping is None else stopping.patience
        self.X = rows.X
        self.class_ids = rows.class_ids
        self._weights = rows.row_weights()
        self._n_threads = n_threads
        n_rows = len(rows.class_ids)
        self._scores = np.zeros(n_rows if n_outputs == 1 else (n_rows, n_outputs))
        if rows.offset is not None:
            self._scores += rows.offset
        self._lowest = np.inf
        self.best_round = 0  # number of rounds with the best value

    @abstractmethod
    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        """Loss of each row, shape (n_rows,), and the mask of wrong rows (None without `has_errors`)."""

    @property
    def recorded(self) -> list[str]:
        """Names of the recorded entries of the history."""
        measured = [] if self.measures is None else self.measures.names
        errors = ["error"] if self.has_errors else []
        return [f"validation_{name}" for name in (*errors, self.what, *measured)]

    def replay(self, trace: Trace) -> str | None:
        """Repeat `follow` for all rounds of a trace, and replace the recorded entries of its history."""
        rounds, reason = list(trace.rounds()), None
        for name in self.recorded:
            trace.history[name] = []
        for steps in rounds:
            reason = self.follow(trace, steps)
        return reason

    def follow(self, trace: Trace, steps: Sequence[Step]) -> str | None:
        """Add the steps of a round, record the loss, and return the reason to stop, or None."""
        self._add(trace, steps)
        costs, wrong = self.evaluate(self._scores)
        cost = self._mean(costs)
        entry = {} if wrong is None else {"validation_error": self._mean(wrong)}
        entry[f"validation_{self.what}"] = cost * self.unit + self.floor
        better = f"lower validation {self.what}"
        if self.measures is not None:
            measured = self.measures.of(self._scores)
            entry |= {f"validation_{name}": value for name, value in measured.items()}
            first = next(iter(measured))
            cost, better = -measured[first], f"higher validation {first}"
        trace.record(entry)
        n_rounds = len(trace.history[f"validation_{self.what}"])
        if cost < self._lowest:
            self._lowest, self.best_round = cost, n_rounds
        if self.patience is not None and n_rounds - self.best_round >= self.patience:
            return f"early stopping: no {better} for {self.patience} rounds"
        return None

    def _add(self, trace: Trace, steps: Sequence[Step]) -> None:
        added = [trace.hypotheses[step.hypothesis] for step in steps]
        # All hypotheses of a kind at once: soft-max boosting adds a tree for each class in a round.
        for add in scorers(added, np.array([step.eta for step in steps])):
            add(self.X, self._scores, self._n_threads)

    def _mean(self, values: npt.NDArray[Any]) -> float:
        return self._weights.mean(values, self._n_threads)


class LossMonitor(Monitor):
    """Monitor of the training loss."""

    what = "loss"

    def __init__(self, rows: Rows, objective: Objective, stopping: EarlyStopping | None, n_threads: int) -> None:
        super().__init__(rows, scores_of(objective.n_classes), n_threads, stopping)
        self._objective = objective

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Loss of each row, and the mask of wrong rows; a tie is an error."""
        return self._objective.row_losses(scores, self.class_ids), margins_of(scores, self.class_ids) <= 0


class RiskMonitor(Monitor):
    """Monitor of the risk of a soft-max rule. Geist (2015, Soft-max boosting), equation (4)."""

    what = "loss"

    def __init__(
        self, rows: Rows, costs: Costs, stopping: EarlyStopping | None, n_classes: int, n_threads: int
    ) -> None:
        super().__init__(rows, scores_of(n_classes), n_threads, stopping)
        self._costs = costs.of_rows(rows.class_ids).astype(np.float64)
        self.unit, self.floor = costs.scale, costs.mean_floor(rows.class_ids, rows.row_weights())

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Expected cost of the rule for each row, and the mask of rows whose most probable label is wrong."""
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return (softmax(scores, axis=1) * self._costs).sum(axis=1), scores.argmax(axis=1) != self.class_ids


class SourceMonitor(LossMonitor):
    """Monitor of the largest mean loss over mixtures of sources, and the largest error. Storcheus (2021), (4.1).

    The validation rows have Q(k | x) of each source appended to their columns.
    """

    def __init__(
        self,
        rows: Rows,
        ids: npt.NDArray[np.uint16],
        objective: Objective,
        vertices: FloatArray | None,
        n_sources: int,
        stopping: EarlyStopping | None,
        n_threads: int,
    ) -> None:
        super().__init__(rows, objective, stopping, n_threads)
        self._ids, self._vertices, self._n_sources = ids, vertices, n_sources
        self._sizes = np.array([self._weights.sum(ids == source) for source in range(n_sources)])
        absent = [source for source in range(n_sources) if self._sizes[source] == 0.0]
        if absent and vertices is not None:
            raise ValueError(
                f"Of {n_sources} sources {len(absent)} have no row among those to be watched, and mixtures needs the "
                "loss of each. Give X_val, y_val and sources_val with rows of all sources."
            )

    def _mean(self, values: npt.NDArray[np.float64]) -> float:
        """Mean over the worst mixture; sources without rows are left out."""
        numbers = np.asarray(values, dtype=np.float64)
        sums = [self._weights.sum(np.where(self._ids == source, numbers, 0.0)) for source in range(self._n_sources)]
        present = self._sizes > 0.0
        means = np.divide(sums, self._sizes, out=np.full(self._n_sources, -np.inf), where=present)
        return agnostic(means, self._vertices)
