"""Training rows on their way into the engine: the same for every estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray, RowOrder
from radboost._validation import check_sample_weight, warn_small_total
from radboost.boosting.trace import Trace
from radboost.engine import BinnedData
from radboost.rows.categories import Categories
from radboost.rows.read import (
    Rows,
    dense_rows,
    known_labels,
    read_labels,
    read_more_rows,
    read_rows,
    read_targets,
)
from radboost.rows.watch import Watched, split_by_content
from radboost.trees import bin_rows

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TrainingRows:
    """Rows with a positive weight, checked."""

    rows: Rows
    kept: Places | None  # among the rows that were given; None: all
    n_given: int
    classes: npt.NDArray[Any] | None  # None: of regression
    class_ids: ClassIds  # all 0 in regression
    weights: FloatArray | None
    targets: FloatArray | None = None  # of regression

    @property
    def known_classes(self) -> npt.NDArray[Any]:
        """The classes of a classification problem."""
        if self.classes is None:
            raise TypeError("a regression problem has no classes")
        return self.classes

    def sorted_by_class(self, max_bins: int, n_threads: int) -> SortedRows:
        """Binned and in the order that the engine wants; copies of a row may change places."""
        order = np.argsort(self.class_ids, kind="stable")
        n_categories = {column: len(known) for column, known in self.rows.categories.items()}
        data = bin_rows(self.rows.X, self.weights, order, max_bins, n_threads, n_categories)
        targets, weights = _select(self.targets, order), _select(self.weights, order)
        return SortedRows(self.rows, data, order.astype(np.uint32), self.class_ids[order], weights, targets)


@dataclass(frozen=True)
class SortedRows:
    """What the engine learns from."""

    rows: Rows
    data: BinnedData
    order: RowOrder  # among the training rows
    class_ids: ClassIds
    weights: FloatArray | None
    targets: FloatArray | None = None

    def hold_back(self, fraction: float, seed: int, n_threads: int) -> tuple[SortedRows, Watched, RowOrder]:
        """Rows to learn from, rows to watch, and the places of the latter among the training rows."""
        hashes = self.data.row_hashes(self.class_ids, n_threads)
        keep, held_back = split_by_content(hashes, self.class_ids, fraction, seed)
        places = self.order[held_back]
        X = dense_rows(self.rows.X[places])
        parts = (_select(self.weights, held_back), _select(self.targets, held_back))
        watched = Watched(X, self.class_ids[held_back], *parts)
        rest = replace(
            self,
            data=self.data.subset(keep),
            order=self.order[keep],
            class_ids=self.class_ids[keep],
            weights=_select(self.weights, keep),
            targets=_select(self.targets, keep),
        )
        return rest, watched, places


def _select(numbers: FloatArray | None, places: Places) -> FloatArray | None:
    return None if numbers is None else np.ascontiguousarray(numbers[places])


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any, *, regression: bool = False) -> TrainingRows:
    """Checks rows, labels or targets, and weights; the estimator remembers names and number of the columns."""
    given = read_rows(estimator, X, y)
    weights = check_sample_weight(sample_weight, given.n_rows)
    kept = None if weights is None else np.flatnonzero(weights > 0)
    rows, weights = given.without_zero_weights(weights)
    rows = rows.without_unseen_categories(X)
    if weights is not None:
        warn_small_total(float(weights.sum()), rows.n_rows)
    if regression:
        no_classes = np.zeros(rows.n_rows, dtype=np.uint16)
        return TrainingRows(rows, kept, given.n_rows, None, no_classes, weights, read_targets(rows.y))
    classes, class_ids = read_labels(rows.y)
    return TrainingRows(rows, kept, given.n_rows, classes, class_ids, weights)


def read_validation(
    estimator: Any,
    X_val: Any,
    y_val: Any,
    sample_weight_val: Any,
    classes: npt.NDArray[Any] | None,
    categories: Categories,
) -> Watched | None:
    """Rows to watch, with their labels among the classes, or their targets where there are none."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val belong together; only one of them was given.")
    if X_val is None:
        if sample_weight_val is not None:
            raise ValueError("sample_weight_val was given without X_val and y_val.")
        return None
    rows = read_more_rows(estimator, X_val, y_val, categories)
    weights = check_sample_weight(sample_weight_val, rows.n_rows, "sample_weight_val")
    rows, weights = rows.without_zero_weights(weights)
    X = dense_rows(rows.X)
    if classes is None:
        return Watched(X, np.zeros(rows.n_rows, dtype=np.uint16), weights, read_targets(rows.y, "y_val"))
    return Watched(X, known_labels(rows.y, classes), weights)


def take_over(estimator: Any, fitted: Any, classes: npt.NDArray[Any] | None, trace: Trace, n_rounds: int) -> None:
    """Gives the estimator everything that the fit has put on a copy of it: all or nothing."""
    if classes is not None:
        fitted.classes_ = classes
    fitted.history_ = {name: values[:n_rounds] for name, values in trace.history.items()}
    fitted.n_iter_ = n_rounds
    fitted.n_skipped_rounds_ = trace.n_skipped
    fitted.stop_reason_ = trace.stop_reason
    estimator.__dict__ = fitted.__dict__
