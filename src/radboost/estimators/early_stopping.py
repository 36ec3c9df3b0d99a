"""Watching a fit on rows that it does not learn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._native import MarginState
from radboost._typing import ClassIds, FloatArray, FloatMatrix
from radboost._validation import check_integer, check_real
from radboost.boosting import Step, Trace
from radboost.objectives import Objective, margins_of

DEFAULT_PATIENCE = 25


@dataclass(frozen=True)
class EarlyStopping:
    """When to end a fit before its last round.

    Parameters
    ----------
    patience : int
        Stop after this many rounds without a lower loss on the validation rows, and keep the best round.
    validation_fraction : float
        Share of the training rows held back when `fit` gets no validation set. Rows are drawn by their content, so
        that copies of a row stay together.
    """

    patience: int = DEFAULT_PATIENCE
    validation_fraction: float = 0.15

    def validate(self) -> None:
        check_integer("patience", self.patience, 1)
        share = check_real("validation_fraction", self.validation_fraction, low=0.0, open_low=True)
        if share >= 1.0:
            raise ValueError(f"validation_fraction must lie in (0, 1); got {self.validation_fraction!r}.")


def resolve_early_stopping(value: object) -> EarlyStopping | None:
    """False, True, a number of rounds to wait, or an EarlyStopping."""
    if isinstance(value, EarlyStopping):
        value.validate()
        return value
    if value is None or value is False:
        return None
    if value is True:
        return EarlyStopping()
    if isinstance(value, int | np.integer):
        return EarlyStopping(patience=check_integer("early_stopping", value, 1))
    raise TypeError(
        f"early_stopping must be False, True, a number of rounds to wait, or an EarlyStopping; got {value!r}."
    )


def split_by_content(
    hashes: npt.NDArray[np.uint64], class_ids: ClassIds, fraction: float, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows to learn from and rows to hold back, by a keyed hash of each row: copies of a row stay together."""
    with np.errstate(over="ignore"):
        keyed = (hashes ^ np.uint64(seed % 2**64)) * np.uint64(0x9E3779B97F4A7C15)
        keyed ^= keyed >> np.uint64(29)
        keyed *= np.uint64(0xBF58476D1CE4E5B9)
    held_back = np.zeros(len(class_ids), dtype=bool)
    for class_id in np.unique(class_ids):
        ranked = np.unique(keyed[class_ids == class_id])
        # The smallest keys of each class, but never all of a class.
        n_held = min(math.ceil(fraction * len(ranked)), len(ranked) - 1)
        if n_held > 0:
            held_back |= (class_ids == class_id) & (keyed <= ranked[n_held - 1])
    if not held_back.any():
        raise ValueError(
            f"No class has two different rows ({len(class_ids)} rows in all), so none can be held back for early "
            "stopping. Pass X_val and y_val, or switch early_stopping off."
        )
    return np.flatnonzero(~held_back), np.flatnonzero(held_back)


@dataclass(frozen=True)
class Watched:
    """Validation rows."""

    X: FloatMatrix
    class_ids: ClassIds
    weights: FloatArray | None


class Validation:
    """Scores of the validation rows, kept up with the fit step by step."""

    def __init__(self, rows: Watched, objective: Objective, stopping: EarlyStopping | None, n_threads: int) -> None:
        self._X = rows.X
        self._class_ids = rows.class_ids
        # Sums through a native state are the same for every order of the rows.
        no_labels = np.ones(len(rows.class_ids), dtype=np.int8)
        self._sums = MarginState(no_labels, np.zeros(0) if rows.weights is None else rows.weights)
        self._objective = objective
        self._patience = None if stopping is None else stopping.patience
        self._n_threads = n_threads
        shape = (len(rows.class_ids), objective.n_classes)
        self._scores = np.zeros(shape[0] if objective.n_classes == 2 else shape)
        self._best_loss = np.inf
        self.best_round = 0  # rounds to keep

    def follow(self, trace: Trace, steps: Sequence[Step]) -> str | None:
        """Records the round and says when to stop."""
        for step in steps:
            self._scores += step.eta * trace.hypotheses[step.hypothesis].predict(self._X, self._n_threads)
        loss = self._mean(self._objective.row_losses(self._scores, self._class_ids))
        trace.history["validation_error"].append(self._mean(margins_of(self._scores, self._class_ids) <= 0))
        trace.history["validation_loss"].append(loss)
        n_rounds = len(trace.history["validation_loss"])
        if loss < self._best_loss:
            self._best_loss, self.best_round = loss, n_rounds
        if self._patience is not None and n_rounds - self.best_round >= self._patience:
            return f"early stopping: no lower validation loss for {self._patience} rounds"
        return None

    def _mean(self, values: npt.NDArray[Any]) -> float:
        total = self._sums.weighted_sum(np.ascontiguousarray(values, dtype=np.float64), self._n_threads)
        return total / self._sums.total_weight
