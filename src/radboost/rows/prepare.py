"""Preparation of training rows, common to all estimators: they are read, checked, binned and sorted once."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._typing import ClassIds, FloatArray, FloatMatrix, RowOrder
from radboost._validation import warn_small_total
from radboost.engine import BinnedData, Collective
from radboost.rows.binned import BinnedRows
from radboost.rows.categories import Categories
from radboost.rows.costs import Costs
from radboost.rows.hashing import Hashes, joined, keyed
from radboost.rows.partitions import (
    ONE_PROCESS,
    VALIDATION,
    LoadedPartition,
    Partition,
    Workers,
)
from radboost.rows.read import BINNED, BLOCK_BYTES, Accepted, dense_rows, known_labels, one_class
from radboost.rows.reader import PartReader
from radboost.rows.sources import Sources
from radboost.rows.splitting import NothingToHoldBackError, RowsByContent
from radboost.rows.weights import RowWeights
from radboost.trees import RowBlocks, bin_rows

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Watched:
    """Validation or held-back rows, read and checked, with their labels or targets and weights."""

    X: FloatMatrix
    class_ids: ClassIds
    weights: FloatArray | None
    targets: FloatArray | None = None  # of regression, which has no classes
    collective: Collective | None = None  # over the workers that have the others; None: all are here
    kept: Indices | None = None  # indices of these rows among those that were given; None: all
    n_given: int = 0  # rows that were given, including those of weight 0
    offset: FloatArray | None = None  # initial scores; None: 0

    def row_weights(self) -> RowWeights:
        return RowWeights(self.weights, len(self.class_ids), collective=self.collective)

    def scores(self, ensemble: Any, n_threads: int) -> FloatArray:
        """Scores of an ensemble plus the offset, shape (n_rows,) or (n_rows, n_outputs)."""
        scores: FloatArray = ensemble.decision_function(self.X, n_threads)
        return scores if self.offset is None else scores + self.offset


class ClassesOrTargets:
    """Rows with classes, ascending, or with targets: float64, a column for each where there are several."""

    X: Any
    classes: npt.NDArray[Any] | None
    class_ids: ClassIds
    targets: FloatArray | None

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def known_classes(self) -> npt.NDArray[Any]:
        """The classes of the algorithm, two or more: a single one is repeated."""
        if self.classes is None:
            raise TypeError("a regression problem has no classes")
        return self.classes if len(self.classes) > 1 else np.repeat(self.classes, 2)

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Label or target of each row."""
        return self.targets if self.classes is None else self.classes[self.class_ids]  # type: ignore[return-value]

    @property
    def n_outputs(self) -> int:
        """Scores per row: one for each of more than two classes, or of several targets; otherwise one."""
        if self.classes is not None:
            return len(self.classes) if len(self.classes) > 2 else 1
        return 1 if self.targets is None or self.targets.ndim == 1 else self.targets.shape[1]


@dataclass(frozen=True)
class CheckedRows(ClassesOrTargets):
    """Rows with a positive weight as they were given, checked; `prepare` bins and sorts them."""

    X: Any  # float32 or float64, dense, CSR or `RowBlocks`; in categorical columns the codes of categories
    categories: Categories
    kept: Indices | None  # indices of these rows among those that were given; None: all
    n_given: int
    classes: npt.NDArray[Any] | None  # None: of regression
    class_ids: ClassIds  # all 0 in regression
    weights: FloatArray | None
    targets: FloatArray | None = None  # of regression; a column for each where there are several
    feature_names: npt.NDArray[np.object_] | None = None  # of the columns, where all of them are text
    column_names: list[Any] | None = None  # as the data frame has them, text or numbers
    offset: FloatArray | None = None  # initial scores; None: 0
    collective: Collective | None = None  # over the workers with the other rows; classes and categories are of all
    sketched: bool = False  # whether bins may be approximated from quantile summaries of the rows
    class_units: FloatArray | None = None  # factor of `class_weight` on sample weights, for each class; None: 1

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
        return PreparedRows(
            X=BinnedRows(data, order, self.X.dtype) if isinstance(self.X, RowBlocks) else self.X,
            categories=self.categories,
            data=data,
            order=order,
            classes=self.classes,
            class_ids=self.class_ids[order],
            weights=_select(self.weights, order),
            targets=_select(self.targets, order),
            max_bins=max_bins,
            feature_names=self.feature_names,
            column_names=self.column_names,
            offset=_select(self.offset, order),
            collective=self.collective,
            class_units=self.class_units,
        )


@dataclass(frozen=True)
class PreparedRows(ClassesOrTargets):
    """Training rows read, checked, binned and sorted once; models may be learned from them any number of times.

    Immutable. `order` has the index in X of each of the engine's rows; `class_ids`, `weights`, `targets` and `offset`
    are in the order of the engine, which is by class.
    """

    X: Any  # rows with a positive weight: float32 or float64, dense or CSR, or BinnedRows; categories as codes
    categories: Categories
    data: BinnedData
    order: RowOrder
    classes: npt.NDArray[Any] | None  # of all rows that were prepared; None: of regression
    class_ids: ClassIds
    weights: FloatArray | None
    targets: FloatArray | None
    max_bins: int
    feature_names: npt.NDArray[np.object_] | None = None
    column_names: list[Any] | None = None
    validation: Watched | None = None  # validation rows of the user
    collective: Collective | None = None  # over the workers with the other rows; None: all are here
    costs: Costs | None = None  # of soft-max boosting, an entry for each row of X; None: those of its parameter
    validation_costs: Costs | None = None  # costs of the validation rows
    sources: Sources | None = None  # of several sources, an entry for each row of X; None: there is one
    validation_sources: Sources | None = None  # sources of the validation rows
    offset: FloatArray | None = None  # initial scores; None: 0
    metrics: tuple[Any, ...] = ()  # of `boosting.metrics`: computed on validation rows besides the loss
    class_units: FloatArray | None = None  # factor of `class_weight` on sample weights, for each class; None: 1
    hash_cache: list[Hashes] = field(default_factory=list)  # result of `row_hashes`, shared by copies; at first empty

    @property
    def n_rows(self) -> int:
        return len(self.order)

    def row_weights(self, *, folds_large: bool = False) -> RowWeights:
        """The sample weights, for sums over the rows of all workers; `folds_large`: see `RowWeights`."""
        return RowWeights(self.weights, self.n_rows, folds_large=folds_large, collective=self.collective)

    def part(self, rows: npt.NDArray[Any], collective: Collective) -> PreparedRows:
        """The rows of one worker, given by their indices in X (or a mask); may be empty.

        The parts of all workers together are these rows, and a part holds nothing of the others. Each worker calls
        `learn` with its own part, and all of them return the model of these rows, bit for bit.
        """
        chosen = self.select(rows)
        return replace(
            chosen,
            X=self.X[chosen.order],
            order=np.arange(chosen.n_rows, dtype=np.uint32),
            costs=None if self.costs is None else self.costs.select(chosen.order),
            sources=None if self.sources is None else self.sources.select(chosen.order),
            collective=collective,
        )

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
    ) -> tuple[PreparedRows, Watched, RowOrder]:
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
        given = self.order[held_back]
        X = dense_rows(self.X[given])
        offset = _select(self.offset, held_back)
        targets = _select(self.targets, held_back)
        watched = Watched(X, self.class_ids[held_back], held, targets, self.collective, offset=offset)
        return learned, watched, given

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
            strata = strata * np.uint32(len(self.sources.names)) + self.sources.ids[self.order]
        tie_breakers = [(np.ones(self.n_rows) if self.weights is None else self.weights)[:, None]]
        if self.targets is not None:
            tie_breakers.append(self.targets if self.targets.ndim > 1 else self.targets[:, None])
        if self.costs is not None and self.costs.per_row:
            tie_breakers += [self.costs.table[self.order].astype(np.float64), self.costs.floor[self.order, None]]
        given = (self.row_weights(), self.copies(), np.hstack(tie_breakers))
        return RowsByContent.of(joined(self.row_hashes(n_threads), self.offset), strata, seed, *given)

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
        return replace(
            self,
            data=self.data.subset(indices),
            order=self.order[indices],
            class_ids=self.class_ids[indices],
            weights=_select(self.weights, indices),
            targets=_select(self.targets, indices),
            offset=_select(self.offset, indices),
            hash_cache=[hashes[indices] for hashes in self.hash_cache],
        )

    @property
    def has_one_class(self) -> bool:
        return self.classes is not None and len(self.classes) == 1

    def of_two_classes(self) -> PreparedRows:
        """One row of each source under each of two labels: a problem of the same form for rows of one class."""
        sources = np.zeros(self.n_rows, dtype=np.intp) if self.sources is None else self.sources.ids[self.order]
        first = np.unique(sources, return_index=True)[1]
        doubled = self._keep(np.tile(first, 2))
        return replace(
            doubled.unwatched(),
            class_ids=np.repeat(np.arange(2, dtype=np.uint16), len(first)),
            weights=None,
            offset=None,
            hash_cache=[],
        )

    def digests(self) -> dict[str, str]:
        """Hashes of rows, labels, weights and so on by name; a checkpoint compares them."""
        digests = {
            "columns": digest_of([self.n_features, self.feature_names, sorted(self.categories.items())]),
            "rows": digest_of([self.X.shape, self.X, self.order]),
            "labels": digest_of([self.classes, self.class_ids, self.targets]),
            "weights": digest_of([self.weights]),
        }
        if self.validation is not None:
            watched = self.validation
            digests["validation rows"] = digest_of([watched.X, watched.class_ids, watched.weights, watched.targets])
            if watched.offset is not None:
                digests["validation offsets"] = digest_of([watched.offset])
        if self.offset is not None:
            digests["offsets"] = digest_of([self.offset])
        if self.metrics:
            digests["metrics"] = digest_of([[metric.name for metric in self.metrics]])
        if self.costs is not None:
            digests["costs"] = digest_of([self.costs.table, self.costs.scale, self.costs.floor])
        if self.sources is not None:
            digests["sources"] = digest_of([self.sources.names, self.sources.ids, self.sources.shares])
        return digests


def digest_of(parts: list[Any]) -> str:
    """Hexadecimal hash of arrays, sparse matrices and plain values."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if sparse.issparse(part):
            arrays = [part.data, part.indices, part.indptr]
        elif isinstance(part, BinnedRows):
            arrays = [part.data.codes(), *(part.data.thresholds(column) for column in range(part.shape[1]))]
        elif isinstance(part, np.ndarray) and part.dtype != object:
            arrays = [part]
        else:
            plain = part.tolist() if isinstance(part, np.ndarray) else part
            digest.update(f"{plain!r};".encode())
            continue
        for array in arrays:
            digest.update(f"{array.dtype.str} {array.shape};".encode())
            height = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
            for first in range(0, len(array), height):
                digest.update(np.ascontiguousarray(array[first : first + height]).data)
    return digest.hexdigest()


def _select(numbers: FloatArray | None, indices: Indices | RowOrder | None) -> FloatArray | None:
    return numbers if numbers is None or indices is None else np.ascontiguousarray(numbers[indices])


def prepare(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    offset: Any = None,
    regression: bool = False,
    max_bins: int = 255,
    n_threads: int = 1,
    keep_values: bool = True,
) -> PreparedRows:
    """Read, check, bin and sort training rows, for `learn` to be called on them with any parameters.

    Reads `categorical_features` and the name (for messages) of the estimator, and sets its `n_features_in_` and
    `feature_names_in_`, as scikit-learn requires. `keep_values`: for other hypotheses than trees; otherwise a large
    table never becomes a matrix as a whole.
    """
    part = LoadedPartition(X, y, sample_weight, offset=offset)
    training = read_training(estimator, [part], part.given, regression=regression, keep_values=keep_values)
    return training.prepare(max_bins, n_threads)


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
    regression = regression or accepted.targets == "numbers"
    kept = keep_values and len(parts) == 1
    options: dict[str, Any] = {"accepted": accepted, "keep_values": kept, "categories": categories}
    reader = PartReader(estimator, parts, given, workers, regression=regression, **options)
    classes, units = None, None
    if not regression and accepted.targets == "labels":
        class_weight = getattr(estimator, "class_weight", None)
        classes, units = reader.weigh_classes(reader.common_classes(), class_weight)
    categories = reader.common_categories() if categories is None else categories
    X, fields = reader.matrix(), reader.fields()
    if reader.weighted:
        sums = workers.all_gather((float(fields["weights"].sum()), X.shape[0]))
        warn_small_total(sum(total for total, _ in sums), sum(n_rows for _, n_rows in sums))
    names, columns = reader.columns.columns or (), reader.columns
    feature_names = None if columns.feature_names is None else np.array(columns.feature_names, dtype=object)
    estimator.n_features_in_ = columns.n_features
    if feature_names is not None:
        estimator.feature_names_in_ = feature_names
    named = names and all(issubclass(kind, str | int | np.integer) for kind in set(map(type, names)))
    training = CheckedRows(
        X=X.whole() if isinstance(X, RowBlocks) and (keep_values or reader.has_values) else X,
        categories=categories,
        **fields,
        classes=classes,
        feature_names=feature_names,
        column_names=list(names) if named else None,
        collective=workers.collective,
        class_units=units,
    )
    return replace(training, offset=reader.offsets(training.n_outputs, of_classes=classes is not None))


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
) -> Watched:
    """Validation rows of this process, with class ids among the training classes, or targets in regression."""
    classes = training.classes
    options: dict[str, Any] = {"regression": classes is None, "categories": training.categories}
    reader = PartReader(estimator, parts, given, workers, role=VALIDATION, **options)
    if classes is not None:
        reader.number_classes(lambda own: known_labels(own, classes))
    X, fields = reader.matrix(), reader.fields()
    X = X.whole() if isinstance(X, RowBlocks) else dense_rows(X)
    offset = reader.offsets(training.n_outputs, of_classes=classes is not None)
    return Watched(X, **fields, collective=workers.collective, offset=offset)
