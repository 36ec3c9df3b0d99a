"""Preparation of training rows, common to all estimators: they are read, checked, binned and sorted once."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray, RowOrder
from radboost._validation import warn_small_total
from radboost.engine import BinnedData
from radboost.rows.binned import BinnedRows
from radboost.rows.categories import Categories
from radboost.rows.fields import Indices, Rows
from radboost.rows.hashing import Hashes, joined, keyed, order_of
from radboost.rows.partitions import ONE_PROCESS, VALIDATION, Partition, Workers
from radboost.rows.read import BINNED, Accepted, dense_rows, known_labels, one_class
from radboost.rows.reader import PartReader
from radboost.rows.splitting import NothingToHoldBackError, RowsByContent
from radboost.trees import RowBlocks, bin_rows


@dataclass(frozen=True, kw_only=True)
class CheckedRows(Rows):
    """Rows with a positive weight as they were given, checked; `prepare` bins and sorts them."""

    categories: Categories
    n_given: int  # rows that were given, including those of weight 0
    column_names: list[Any] | None  # as the data frame has them, text or numbers
    class_units: FloatArray | None  # factor of `class_weight` on sample weights, for each class; None: 1
    sketched: bool = False  # whether bins may be approximated from quantile summaries of the rows

    @property
    def feature_names(self) -> npt.NDArray[np.object_] | None:
        """Names of the columns, where all of them are text."""
        names = self.column_names
        all_text = names is not None and all(isinstance(name, str) for name in names)
        return np.array(names, dtype=object) if all_text else None

    def classes_with_warning(self) -> Any:
        """The classes; a warning if there is only one."""
        if self.classes is not None and len(self.classes) == 1:
            warnings.warn(
                f"{one_class(self.classes)}: every prediction will be {self.classes.tolist()[0]!r}, with probability "
                "1.",
                UserWarning,
                stacklevel=6,
            )
        return self.classes

    def prepare(self, max_bins: int, n_threads: int) -> PreparedRows:
        """Bin the rows and sort them by class, the order of the engine.

        One pass over X does both: sorting binned rows afterwards would need their memory twice.
        """
        self.classes_with_warning()
        order = np.argsort(self.class_ids, kind="stable").astype(np.uint32)
        n_categories = {column: len(known) for column, known in self.categories.items()}
        given = (self.X, self.weights, order, max_bins, n_threads, n_categories, self.collective)
        data = bin_rows(*given, sketched=self.sketched)
        X = BinnedRows(data, order, self.X.dtype) if isinstance(self.X, RowBlocks) else self.X
        own = {"X": X, "data": data, "order": order, "max_bins": max_bins, "source_names": None}
        return PreparedRows(**vars(self) | self.entries(order) | own)


@dataclass(frozen=True, kw_only=True)
class PreparedRows(CheckedRows):
    """Training rows read, checked, binned and sorted once; models may be learned from them any number of times.

    Immutable. `order` has the index in X of each of the engine's rows. Fields in `PER_ROW` are in the order of the
    engine, which is by class.
    """

    data: BinnedData
    order: RowOrder
    max_bins: int
    validation: Rows | None = None  # validation rows of the user
    metrics: tuple[Any, ...] = ()  # of `boosting.metrics`: computed on validation rows besides the loss
    hash_cache: list[Hashes] = field(default_factory=list)  # result of `row_hashes`, shared by copies; at first empty

    def select(self, rows: npt.NDArray[Any]) -> PreparedRows:
        """A part of the rows, given by their indices in X (or a mask), with the bins and the classes of all of them.

        The validation rows, if there are any, stay.
        """
        chosen = np.zeros(self.X.shape[0], dtype=bool)
        chosen[rows] = True
        return self._keep(np.flatnonzero(chosen[self.order]))

    def unwatched(self) -> PreparedRows:
        """The rows without validation rows and metrics: for trials, which hold back training rows instead."""
        return replace(self, validation=None, metrics=())

    def hold_back(
        self, part: float | tuple[float, float], seed: int, n_threads: int
    ) -> tuple[PreparedRows, Rows, RowOrder]:
        """Split into training rows, validation rows, and the indices of the latter in X.

        `part` is the fraction of the rows to hold back, or an interval of fractions in an order that the seed draws. A
        row of weight 3 is three rows, which may be divided between both; a weight that is no whole number is not
        divided.
        """
        interval = part if isinstance(part, tuple) else (0.0, part)
        rows = self._rows_by_content(seed, n_threads)
        drawn = rows.draws(interval)
        if not rows.weights.largest(drawn) > 0.0:
            raise NothingToHoldBackError(
                f"None of the rows (n_samples={rows.weights.n_rows}) falls into the part that is to be held back: of "
                "each class some stay. Give more rows, a larger part or fewer folds, or switch early_stopping off."
            )
        keep, held_back = np.flatnonzero(drawn < rows.copies), np.flatnonzero(drawn)
        learned, held = self._keep(keep), None
        if self.weights is not None:
            held = np.where(drawn == rows.copies, self.weights, drawn * (self.weights / rows.copies))
            learned, held = replace(learned, weights=(self.weights - held)[keep]), held[held_back]
        watched = self.watched(held_back)
        return learned, watched if held is None else replace(watched, weights=held), self.order[held_back]

    def watched(self, indices: Indices) -> Rows:
        """Values of the rows at these indices in the order of the engine, to evaluate on."""
        X = dense_rows(self.X[self.order[indices]])
        return Rows(X, **self.entries(indices), classes=self.classes, collective=self.collective)

    def draw(self, fraction: float, seed: int, n_threads: int) -> PreparedRows:
        """Sample a fraction of the distinct rows of every class, by their content, each with all of its copies."""
        return self._keep(np.flatnonzero(~self._rows_by_content(seed, n_threads).distinct_rows((0.0, 1.0 - fraction))))

    def by_content(self, n_threads: int) -> PreparedRows:
        """These rows, sorted by the hashes of their bins and classes."""
        return self._keep(np.argsort(self.row_hashes(n_threads), kind="stable"))

    def n_different(self, n_threads: int) -> int:
        """Number of distinct rows (bins, class and offset) of all workers; copies and weights do not count."""
        hashes = np.sort(self.row_weights().gather(joined(self.row_hashes(n_threads), self.offset)))
        return len(hashes) and 1 + int(np.count_nonzero(hashes[1:] != hashes[:-1]))

    def fewest_of_class(self, n_threads: int) -> int:
        """Number of distinct rows of the class that has the fewest."""
        self.row_hashes(n_threads)  # once for all classes
        of_classes = (np.flatnonzero(self.class_ids == one) for one in range(len(self.known_classes)))
        return min(self._keep(rows).n_different(n_threads) for rows in of_classes)

    def row_hashes(self, n_threads: int) -> Hashes:
        """Hash of each row's bins and class, equal for equal rows; uint64, shape (n_rows,). Computed once and kept."""
        if not self.hash_cache:
            self.hash_cache.append(keyed(self.data.row_hashes(n_threads), self.class_ids.astype(np.uint64)))
        return self.hash_cache[0]

    def _rows_by_content(self, seed: int, n_threads: int) -> RowsByContent:
        strata = self.class_ids.astype(np.uint32)
        if self.sources is not None:  # some rows of every class of every source stay
            strata = strata * np.uint32(len(self.sources.names)) + self.sources.ids
        tie_breakers = [(np.ones(self.n_rows) if self.weights is None else self.weights)[:, None]]
        if self.targets is not None:
            tie_breakers.append(self.targets if self.targets.ndim > 1 else self.targets[:, None])
        if self.costs is not None:
            tie_breakers += [self.costs.table.astype(np.float64), self.costs.floor[:, None]]
        keys = order_of(joined(self.row_hashes(n_threads), self.offset), seed)
        return RowsByContent(keys, strata, self.row_weights(), self.copies(), np.hstack(tie_breakers))

    def copies(self) -> FloatArray:
        """Number of copies of each row: its weight, or 1 for all rows if a weight is no whole number."""
        if self.weights is None:
            return np.ones(self.n_rows)
        copies = self.weights if self.class_units is None else self.weights / self.class_units[self.class_ids]
        whole, weights = np.rint(copies), self.row_weights()
        if weights.largest(np.abs(copies - whole)) > 1e-9 or weights.largest(-whole) > -1.0:
            return np.ones(self.n_rows)
        return whole

    def _keep(self, indices: Indices) -> PreparedRows:
        """Rows at these indices in the order of the engine."""
        order, hashes = self.order[indices], [hashes[indices] for hashes in self.hash_cache]
        return replace(self, **self.entries(indices), data=self.data.subset(indices), order=order, hash_cache=hashes)

    @property
    def has_one_class(self) -> bool:
        return self.classes is not None and len(self.classes) == 1

    def of_two_classes(self) -> PreparedRows:
        """One row of each source under each of two labels: a problem of the same form for rows of one class."""
        sources = np.zeros(self.n_rows, dtype=np.intp) if self.sources is None else self.sources.ids
        first = np.unique(sources, return_index=True)[1]
        doubled = self._keep(np.tile(first, 2))
        return replace(
            doubled.unwatched(),
            class_ids=np.repeat(np.arange(2, dtype=np.uint16), len(first)),
            weights=None,
            offset=None,
            hash_cache=[],
        )


def read_training(
    estimator: Any,
    parts: Sequence[Partition],
    given: Collection[str],
    workers: Workers = ONE_PROCESS,
    *,
    regression: bool = False,
    accepted: Accepted = BINNED,
    keep_values: bool = True,
    categories: Categories | None = None,
) -> CheckedRows:
    """Check rows, labels or targets, weights and offsets of this process, together with those of the others.

    Sets names and number of columns of the estimator. `given`: the arguments of `fit` that are not None. Without
    `keep_values` one part at a time is in memory, here and while rows are binned. Labels of tasks become `targets`.
    `categories`: those of an earlier fit, to read more rows for it.
    """
    accepted = replace(accepted, targets="numbers") if regression else accepted
    kept = keep_values and len(parts) == 1
    options: dict[str, Any] = {"accepted": accepted, "keep_values": kept, "categories": categories}
    reader = PartReader(estimator, parts, given, workers, **options)
    classes, units = None, None
    if accepted.targets == "labels":
        class_weight = getattr(estimator, "class_weight", None)
        classes, units = reader.weigh_classes(reader.common_classes(), class_weight)
    categories = reader.common_categories() if categories is None else categories
    rows = reader.rows(classes, whole=keep_values or reader.has_values)
    if rows.weights is not None:
        sums = workers.all_gather((float(rows.weights.sum()), rows.n_rows))
        warn_small_total(sum(total for total, _ in sums), sum(n_rows for _, n_rows in sums))
    names = reader.columns.columns or ()
    named = names and all(issubclass(kind, str | int | np.integer) for kind in set(map(type, names)))
    training = CheckedRows(
        **vars(rows),
        categories=categories,
        n_given=reader.n_given,
        column_names=list(names) if named else None,
        class_units=units,
    )
    estimator.n_features_in_ = training.n_features
    if training.feature_names is not None:
        estimator.feature_names_in_ = training.feature_names
    return training


def check_validation(X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
    """Raise a ValueError unless `X_val` and `y_val` are given together, and weights only with them."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val belong together; only one of them was given.")
    if X_val is None and sample_weight_val is not None:
        raise ValueError("sample_weight_val was given without X_val and y_val.")


def read_validation(
    estimator: Any,
    parts: Sequence[Partition],
    given: Collection[str],
    training: CheckedRows,
    workers: Workers = ONE_PROCESS,
) -> Rows:
    """Validation rows of this process, with class ids among the training classes, or targets in regression."""
    classes = training.classes
    accepted = replace(BINNED, targets="labels" if classes is not None else "numbers")
    options: dict[str, Any] = {"accepted": accepted, "categories": training.categories}
    reader = PartReader(estimator, parts, given, workers, role=VALIDATION, **options)
    if classes is not None:
        reader.number_classes(lambda own: known_labels(own, classes))
    rows = reader.rows(classes, whole=True)
    return replace(rows, X=dense_rows(rows.X))
