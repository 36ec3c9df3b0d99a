"""Parts of rows, each checked once; the processes that have them agree on columns, classes, categories and weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import column_kinds, column_names, column_title, rows_between, shares_memory
from radboost._typing import Category, FloatArray, FloatMatrix
from radboost._validation import check_total_weight, read_sample_weight
from radboost.rows.categories import (
    MOST_CATEGORIES,
    Categories,
    Codes,
    all_categories,
    categorical_columns,
    column_codes,
    most_frequent,
    names_columns,
    warn_of_text,
)
from radboost.rows.class_weights import weights_of_classes
from radboost.rows.offsets import read_offset
from radboost.rows.partitions import SUFFIXES, TRAINING, LoadedPartition, Partition, Workers
from radboost.rows.read import (
    BINNED,
    FLOATS,
    Accepted,
    as_table,
    check_labels,
    check_table,
    class_codes,
    read_more_rows,
    read_rows,
    read_rows_again,
    read_targets,
)
from radboost.trees import RowBlocks

BLOCK_BYTES = 2**25  # of values of a table in memory that are converted at a time
# A smaller table in memory becomes one matrix. Bins of several blocks take longer, the more the fewer rows there are.
TABLE_BYTES, FEWEST_ROWS_IN_BLOCKS = 2**27, 2**18
KEPT_BYTES = 2**25  # of values that are kept in memory rather than loaded again for each pass
TEXT_KINDS = "OUST"  # kinds of NumPy types of text, as in np.dtype.kind


@dataclass(frozen=True)
class Columns:
    """Columns of a part; all parts must have equal ones."""

    n_features: int
    feature_names: tuple[str, ...] | None  # as scikit-learn has them: all are text
    columns: tuple[Any, ...] | None  # names of any type, under the name that data frames have
    sparse: bool
    n_targets: int | None  # columns of a two-dimensional y; None: y has one dimension

    def shown(self) -> str:
        """Description for messages."""
        names = [str(name) for name in self.columns or ()]
        named = f" ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''})" if names else ""
        kind = "sparse" if self.sparse else "dense"
        return f"{self.n_features} columns{named}, {kind}, {self.n_targets or 1} target(s) a row"


@dataclass
class ReadPart:
    """A checked part. Its rows are those with a positive weight; X is of all rows that were given."""

    part: Partition
    n_given: int
    columns: Columns
    dtype: np.dtype[Any]
    categories: Categories  # of this part; other parts may have others
    X: Any  # values, if they are in memory anyway, few or sparse; None: load them again
    height: int  # of blocks of rows that are loaded at a time
    kept: Codes | None = None  # indices of the rows among those that were given; None: all
    weights: FloatArray | None = None
    classes: npt.NDArray[Any] | None = None  # different labels, ascending; None: no labels
    class_ids: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=np.uint16))  # among the classes
    targets: npt.NDArray[Any] | None = None
    numbers: Sequence[int] = ()  # columns that are numeric here, and text or categories in other parts

    @property
    def n_rows(self) -> int:
        return self.n_given if self.kept is None else len(self.kept)

    def block(self, first: int) -> slice:
        """Which of the rows are in the block that begins with a row that was given."""
        last = min(first + self.height, self.n_given)
        return slice(*((first, last) if self.kept is None else np.searchsorted(self.kept, [first, last]).tolist()))

    def select_positive(self) -> bool:
        """Leave out rows of weight zero; returns True if there were any."""
        if self.weights is None or (self.weights > 0).all():
            return False
        rows = np.flatnonzero(self.weights > 0)
        self.kept = rows if self.kept is None else self.kept[rows]
        self.weights = self.weights[rows]
        self.class_ids = self.class_ids[rows] if len(self.class_ids) else self.class_ids
        return True

    def codes(self, column: int, table: Any = None) -> FloatArray:
        """Codes of a column of categories, NaN where it is missing; `table`: the part, if it is loaded."""
        if self.X is None:
            table = as_table(BINNED.read(self.part.load().X)) if table is None else table
            codes = column_codes(table, column, self.categories[column])
        else:
            codes = self.X[:, column]
        return codes if self.kept is None else codes[self.kept]

    def keep_used(self, table: Any = None) -> None:
        """Leave out categories that no row has; `table`: the part, if it is loaded."""
        used = {}
        for column, known in self.categories.items():
            codes = np.unique(self.codes(column, table))
            used[column] = tuple(known[int(code)] for code in codes[~np.isnan(codes)])
        self.renumber(used)

    def renumber(self, categories: Categories) -> None:
        """Replace codes of values in memory by those among other categories, NaN for others."""
        for column, known in self.categories.items():
            if self.X is not None and known != categories[column]:
                there = ~np.isnan(self.X[:, column])
                self.X[there, column] = _codes_among(known, categories[column])[self.X[there, column].astype(np.int64)]
        self.categories = {column: categories[column] for column in self.categories}


class PartReader:
    """Rows of this process: each part is checked once, and its values are loaded for each pass with equal results."""

    def __init__(
        self,
        estimator: Any,
        parts: Sequence[Partition],
        given: Collection[str],
        workers: Workers,
        *,
        role: str = TRAINING,
        regression: bool = False,
        accepted: Accepted = BINNED,
        keep_values: bool = True,
        categories: Categories | None = None,
    ) -> None:
        """Check all parts.

        `given`: the arguments of `fit` that are not None. `keep_values`: of parts of any size, rather than to load them
        again for each pass. `categories`: those of the training rows; None: learn them.
        """
        self._estimator, self._accepted, self._suffix = estimator, accepted, SUFFIXES[role]
        self._workers, self._regression, self._categories = workers, regression, categories
        self._given, self.weighted = given, f"sample_weight{self._suffix}" in given
        self._keeps_values, self._bytes_left = keep_values, math.inf if keep_values else KEPT_BYTES
        self._named: set[int] = set()  # columns of text that a warning has named
        # A single part stays without rows too, for the message of scikit-learn.
        alone = len(parts) == 1 and workers.alone
        self.parts = self._check_all([part for part in parts if alone or part.n_rows])
        self.columns, self.dtype = self._common_columns()
        if self.weighted:
            self._check_weights()

    def _check_all(self, parts: Sequence[Partition]) -> list[ReadPart]:
        """Check each part, with the columns of text or categories that any part of any worker has."""
        # A column may have only missing values in one part and text in another: the former is read again.
        first = list(map(self._try, parts))
        by_worker = self._workers.all_gather([own for own, _ in first])
        of_all = sorted({column for worker in by_worker for own in worker for column in own})
        read = []
        for part, (own, result) in zip(parts, first, strict=True):
            if own != of_all:
                loaded = part.load()
                result = self._check(part, loaded, self._table(loaded.X), of_all)
                result.numbers = [column for column in of_all if column not in own and result.categories[column]]
            if isinstance(result, Exception):
                raise result
            read.append(result)
        return read

    def _try(self, part: Partition) -> tuple[list[int], ReadPart | Exception]:
        """Columns of text or categories of a part, and the part read with them, or the error."""
        loaded, own = part.load(), []
        try:
            X = self._table(loaded.X)
            if self._categories is None and self._accepted.missing:
                own = self._own_columns(X)
            return own, self._check(part, loaded, X, own)
        except (TypeError, ValueError) as error:
            return own, error

    def _table(self, X: Any) -> Any:
        X = self._accepted.read(X, f"X{self._suffix}")
        return as_table(X) if names_columns(getattr(self._estimator, "categorical_features", None)) else X

    def _own_columns(self, X: Any) -> list[int]:
        given = self._estimator.categorical_features
        kinds = column_kinds(X) if isinstance(given, str) else []
        columns = categorical_columns(given, X, kinds)
        if kinds and columns:
            warn_of_text(X, columns, ["" if column in self._named else kind for column, kind in enumerate(kinds)])
            self._named.update(columns)
        return columns

    def _check(self, part: Partition, loaded: LoadedPartition, X: Any, columns: Sequence[int]) -> ReadPart:
        """Check a loaded part; `columns`: those of text or categories."""
        estimator, accepted, y_name = self._estimator, self._accepted, f"y{self._suffix}"
        held = loaded is part
        height = self._block_height(X, columns) if held else 0
        cut = check_table(estimator, X, loaded.y, columns, height) if height else None
        if cut is not None:
            rows = cut
        elif self._categories is None:
            rows = read_rows(estimator, X, loaded.y, columns, accepted)
        else:
            rows = read_more_rows(estimator, X, loaded.y, self._categories, y_name)
        if not held and rows.n_rows != part.n_rows:
            raise ValueError(f"A partition of X was said to have {part.n_rows} rows, and has {rows.n_rows}.")
        names = getattr(estimator, "feature_names_in_", None)
        checked = ReadPart(
            part,
            rows.n_rows,
            Columns(
                rows.n_features,
                None if names is None else tuple(names.tolist()),
                tuple(column_names(loaded.X) or ()) or None,
                bool(sparse.issparse(rows.X)),
                rows.y.shape[1] if rows.y.ndim == 2 else None,
            ),
            rows.X.dtype,
            rows.categories,
            rows.X if cut is None and self._stays(rows.X, loaded.X if held else None) else None,
            max(1, rows.n_rows) if cut is None else height,
        )
        if self.weighted:
            checked.weights = read_sample_weight(loaded.sample_weight, rows.n_rows, f"sample_weight{self._suffix}")
        dropped = checked.select_positive()
        y = rows.y if checked.kept is None else rows.y[checked.kept]
        checked.class_ids = np.zeros(y.shape[0], dtype=np.uint16)  # where there are no classes
        if self._regression:
            checked.targets = read_targets(y, y_name)
        elif accepted.targets == "labels":
            checked.classes, checked.class_ids = class_codes(y, y_name)
        else:
            checked.targets = y
        if dropped and self._categories is None:
            checked.keep_used(X)
        return checked

    def _block_height(self, X: Any, columns: Sequence[int]) -> int:
        """Rows of a table in memory that are converted at a time; 0: all of them, whose values are kept."""
        names = column_names(X)
        few = names is None or X.shape[0] < FEWEST_ROWS_IN_BLOCKS or 8 * len(names) * X.shape[0] < TABLE_BYTES
        if names is None or few or self._keeps_values or self._categories is not None:
            return 0
        if any(hasattr(dtype, "fill_value") for dtype in getattr(X, "dtypes", ())):
            return 0  # sparse columns of pandas
        of_floats = not columns and hasattr(X, "iloc") and X.dtypes.iloc[0] in FLOATS
        if of_floats and shares_memory(X.iloc[:1].to_numpy(), X):
            return 0  # a data frame around a matrix
        return max(1, BLOCK_BYTES // (8 * len(names)))

    def _stays(self, X: Any, held: Any) -> bool:
        """Return True if values are kept: they share memory with `held`, are few, or sparse (binned at once)."""
        if sparse.issparse(X) or (held is not None and shares_memory(X, held)):
            return True
        self._bytes_left -= X.nbytes
        return self._bytes_left >= 0

    def values(self, part: ReadPart, first: int = 0) -> Any:
        """Rows of a part, of which `part.height` from `first` on; categories have the codes of `part.categories`."""
        X = part.X
        if X is None:
            X = part.part.load().X
            X = X if part.height >= part.n_given else rows_between(X, first, first + part.height)
            X = read_rows_again(X, part.categories, part.dtype, self._accepted)
        return X if part.kept is None else X[part.kept[part.block(first)] - first]

    @property
    def has_values(self) -> bool:
        """True if the values of all rows are one matrix in memory."""
        return self._workers.alone and len(self.parts) == 1 and self.parts[0].X is not None

    def matrix(self) -> Any:
        """Rows of all parts: a sparse matrix, or dense blocks, one for each part."""
        if not self.columns.sparse:
            return PartBlocks(self)
        empty = sparse.csr_matrix((0, self.columns.n_features), dtype=self.dtype)
        matrices = [self.values(part) for part in self.parts] or [empty]
        matrix = matrices[0] if len(matrices) == 1 else sparse.vstack(matrices, format="csr")
        return matrix.astype(self.dtype, copy=False)

    def fields(self) -> dict[str, Any]:
        """Fields of the rows of all parts together: kept, n_given, class_ids, weights and targets."""
        parts, kept, n_targets = self.parts, None, self.columns.n_targets
        if any(part.kept is not None for part in parts):
            starts = np.cumsum([0, *(part.n_given for part in parts)]).tolist()
            of_parts = (np.arange(part.n_given) if part.kept is None else part.kept for part in parts)
            kept = np.concatenate([start + own for start, own in zip(starts, of_parts, strict=False)])
        has_targets = self._regression or self._accepted.targets != "labels"
        no_targets = np.zeros((0,) if n_targets is None else (0, n_targets))
        return {
            "kept": kept,
            "n_given": sum(part.n_given for part in parts),
            "class_ids": _concatenated([part.class_ids for part in parts], np.zeros(0, dtype=np.uint16)),
            "weights": _concatenated([part.weights for part in parts], np.zeros(0)) if self.weighted else None,
            "targets": _concatenated([part.targets for part in parts], no_targets) if has_targets else None,
        }

    def offsets(self, n_outputs: int, *, of_classes: bool) -> FloatArray | None:
        """Offsets of the rows of all parts, shape (n_rows,) or (n_rows, n_outputs); None: 0 in those of all workers."""
        name, rows, shape = f"offset{self._suffix}", f"X{self._suffix}", () if n_outputs == 1 else (n_outputs,)
        if name not in self._given:
            return None
        offsets = [np.zeros((0, *shape))]
        for part in self.parts:
            offset = part.part.load().offset
            own = read_offset(offset, part.n_given, n_outputs, name=name, rows=rows, of_classes=of_classes)
            own = np.zeros((part.n_given, *shape)) if own is None else own
            offsets.append(own if part.kept is None else own[part.kept])
        joined = np.concatenate(offsets)
        return joined if any(self._workers.all_gather(bool(joined.any()))) else None

    def _common_columns(self) -> tuple[Columns, np.dtype[Any]]:
        """Columns of all parts, and the type of their values; ValueError if the columns differ."""
        by_worker = self._workers.all_gather([(part.columns, part.dtype.str) for part in self.parts])
        of_all = [one for own in by_worker for one in own]
        if not of_all:
            raise ValueError(f"X{self._suffix} has no rows: every partition is empty. At least one row is needed.")
        different = list(dict.fromkeys(columns for columns, _ in of_all))
        if len(different) > 1:
            one, other = (columns.shown() for columns in different[:2])
            raise ValueError(f"The partitions differ: one has {one}; another {other}. All must have the same columns.")
        mixed = [column_title(different[0], column) for part in self.parts for column in part.numbers]
        if mixed:
            raise ValueError(
                f"The partitions differ: {mixed[0]} holds text or categories in one and numbers in another. Give it "
                "the same type in all of them."
            )
        return different[0], np.result_type(*{dtype for _, dtype in of_all})

    def _check_weights(self) -> None:
        """Check the sum and the largest of the weights of all workers."""
        given = [part.weights for part in self.parts if part.weights is not None]
        own = max((float(w.max(initial=0.0)) for w in given), default=0.0), float(sum(w.sum() for w in given))
        largest, totals = zip(*self._workers.all_gather(own), strict=True)
        check_total_weight(max(largest), sum(totals), f"sample_weight{self._suffix}")

    def common_classes(self) -> npt.NDArray[Any]:
        """Classes of all workers, ascending; `class_ids` of each part become indices among them."""
        by_worker = self._workers.all_gather([(part.classes, part.n_rows) for part in self.parts])
        labels, heights = zip(*(own for of_worker in by_worker for own in of_worker), strict=True)
        if len({own.dtype.kind in TEXT_KINDS for own in labels}) > 1:
            kinds = sorted({str(own.dtype) for own in labels})
            raise ValueError(
                f"y holds labels of different types in different partitions ({', '.join(kinds)}), which have no common "
                "order. Make them alike, for example by y.astype(str)."
            )
        classes: npt.NDArray[Any] = labels[0] if len(labels) == 1 else np.unique(np.concatenate(labels))
        check_labels(classes, sum(heights))
        self.number_classes(lambda own: np.searchsorted(classes, own))
        return classes

    def number_classes(self, index_of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> None:
        """Make `class_ids` indices among other classes; `index_of`: indices of a part's classes among them."""
        for part in self.parts:
            if part.classes is not None:
                indices = index_of(part.classes).astype(np.uint16)
                if not np.array_equal(indices, np.arange(len(indices))):
                    part.class_ids = indices[part.class_ids]

    def weigh_classes(self, classes: npt.NDArray[Any], class_weight: Any) -> tuple[npt.NDArray[Any], FloatArray | None]:
        """Multiply weights by `class_weight`.

        Returns the classes of a positive weight and their factors, shape (n_classes,), or None without `class_weight`.
        """
        if class_weight is None:
            return classes, None
        rounded = self._workers.alone and len(self.parts) == 1  # the sums of a part are those of all rows

        def totals() -> list[float]:
            by_worker = self._workers.all_gather([_sums(part, len(classes), rounded) for part in self.parts])
            return [math.fsum(x for worker in by_worker for own in worker for x in own[c]) for c in range(len(classes))]

        units = weights_of_classes(class_weight, classes, totals)
        self.weighted, learned = True, units > 0
        if not learned.any():
            raise ValueError("class_weight is zero for every class in y; at least one needs a positive weight.")
        for part in self.parts:
            of_rows = units[part.class_ids]
            part.weights = of_rows if part.weights is None else part.weights * of_rows
            if part.select_positive():
                part.keep_used()
            if not learned.all():
                part.class_ids = (np.cumsum(learned) - 1).astype(np.uint16)[part.class_ids]
        return classes[learned], units[learned]

    def common_categories(self) -> Categories:
        """Categories of each column over all workers, at most 255; the codes of all parts become indices among them."""
        own = all_categories([part.categories for part in self.parts])
        merged = all_categories(self._workers.all_gather(own))
        for column, known in merged.items():
            if len(known) > MOST_CATEGORIES:
                frequent = most_frequent(*self._codes_of_all(column, known), len(known), self.columns, column)
                merged[column] = tuple(known[code] for code in frequent.tolist())
        for part in self.parts:
            part.renumber(merged)
        return merged

    def _codes_of_all(self, column: int, known: Sequence[Category]) -> tuple[Codes, FloatArray | None]:
        """Codes of a column and weights (None: all 1), of the rows of all workers where it is not missing."""
        codes, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for part in self.parts:
            own = part.codes(column)
            there = ~np.isnan(own)
            codes.append(_codes_among(part.categories[column], known)[own[there].astype(np.int64)].astype(np.int64))
            weights.append(np.zeros(0) if part.weights is None else part.weights[there])
        from_all = self._workers.all_gather_array(np.concatenate(weights))
        return self._workers.all_gather_array(np.concatenate(codes)), from_all if len(from_all) else None


class PartBlocks(RowBlocks):
    """Rows of a process with a positive weight, a block for each part."""

    def __init__(self, reader: PartReader) -> None:
        parts = reader.parts
        self._reader = reader
        self._blocks = [(part, first) for part in parts for first in range(0, part.n_given, part.height)]
        heights = [block.stop - block.start for block in (part.block(first) for part, first in self._blocks)]
        super().__init__(heights, reader.columns.n_features, reader.dtype)

    def load(self, block: int) -> FloatMatrix:
        X: FloatMatrix = self._reader.values(*self._blocks[block])
        return X.astype(self.dtype, copy=False)


def _concatenated(values: Sequence[npt.NDArray[Any] | None], empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
    given = [own for own in values if own is not None]
    return given[0] if len(given) == 1 else np.concatenate([empty, *given])


def _sums(part: ReadPart, n_classes: int, rounded: bool) -> list[list[float]]:
    """Numbers whose exact sum is that of the weights of a class, for each class; `rounded`: only its nearest double."""
    if part.weights is None:
        return [[float(count)] for count in np.bincount(part.class_ids, minlength=n_classes)]
    sums = []
    for class_id in range(n_classes):
        weights, own = part.weights[part.class_ids == class_id].tolist(), list[float]()
        while rest := math.fsum([*weights, *(-x for x in own)]):
            own.append(rest)
            if rounded:
                break
        sums.append(own)
    return sums


def _codes_among(own: Sequence[Category], known: Sequence[Category]) -> FloatArray:
    """Index of each category among the known ones; NaN for another."""
    index = {value: float(k) for k, value in enumerate(known)}
    return np.array([index.get(value, np.nan) for value in own] or [np.nan])
