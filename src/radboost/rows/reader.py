"""Parts of rows, each checked once; the processes that have them agree on columns, classes, categories and weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import _num_samples

from radboost._numbers import listed
from radboost._tables import column_kinds, column_names, column_title, rows_between, shares_memory
from radboost._typing import Category, FloatArray, FloatMatrix
from radboost._validation import check_total_weight, read_sample_weight
from radboost.rows.categories import (
    MOST_CATEGORIES,
    Categories,
    all_categories,
    categorical_columns,
    column_codes,
    most_frequent,
    names_columns,
    warn_of_text,
)
from radboost.rows.class_weights import weights_of_classes
from radboost.rows.costs import Costs, make_costs, read_costs
from radboost.rows.fields import Indices, Rows
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
    read_rows,
    read_rows_again,
    read_targets,
    read_y,
)
from radboost.rows.sources import read_sources
from radboost.rows.weights import exact_sums
from radboost.trees import RowBlocks

BLOCK_BYTES = 2**25  # of values of a table in memory that are converted at a time
# A smaller table in memory becomes one matrix. Bins of several blocks take longer, the more the fewer rows there are.
TABLE_BYTES, FEWEST_ROWS_IN_BLOCKS = 2**27, 2**18
KEPT_BYTES = 2**25  # of values that are kept in memory rather than loaded again for each pass
BESIDE = ("offset", "cost", "sources")  # arguments of `fit` that are read when the classes are known
TEXT_KINDS = "OUST"  # kinds of NumPy types of text, as in np.dtype.kind


@dataclass(frozen=True)
class Columns:
    """Columns of a part; all parts must have equal ones."""

    n_features: int
    columns: tuple[Any, ...] | None  # names of any type, under the name that data frames have
    sparse: bool
    n_targets: int | None  # columns of a two-dimensional y; None: y has one dimension

    def shown(self) -> str:
        """Description for messages."""
        named = f" ({listed(self.columns, 5, str)})" if self.columns else ""
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
    beside: dict[str, Any]  # arguments of `fit` in `BESIDE`, until they are read
    kept: Indices | None  # indices of the rows among those that were given; None: all
    weights: FloatArray | None
    y: npt.NDArray[Any]  # targets, or indices of labels among the classes
    classes: npt.NDArray[Any] | None = None  # different labels, ascending
    numbers: Sequence[int] = ()  # columns that are numeric here, and text or categories in other parts
    start: int = 0  # index of its first row among all rows of the process that were given

    def renumber(self, categories: Categories) -> None:
        """Replace codes of values in memory by those among other categories, NaN for others."""
        for column, known in self.categories.items():
            if self.X is not None and known != categories[column]:
                self.X[:, column] = _recoded(self.X[:, column], known, categories[column])
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
        accepted: Accepted = BINNED,
        keep_values: bool = True,
        categories: Categories | None = None,
    ) -> None:
        """Check all parts.

        `given`: the arguments of `fit` that are not None. `keep_values`: of parts of any size, rather than to load them
        again for each pass. `categories`: those of the training rows; None: learn them.
        """
        self._estimator, self._accepted, self._suffix = estimator, accepted, SUFFIXES[role]
        self._workers, self._categories, self._given = workers, categories, given
        self._keeps_values, self._bytes_left = keep_values, math.inf if keep_values else KEPT_BYTES
        self._named: set[int] = set()  # columns of text that a warning has named
        # A single part stays without rows too, for the message of scikit-learn.
        alone = len(parts) == 1 and workers.alone
        self.parts = self._check_all([part for part in parts if alone or part.n_rows])
        self.columns, self.dtype = self._common_columns()
        self.n_given = 0
        for part in self.parts:
            part.start = self.n_given
            self.n_given += part.n_given
        self.kept: Indices | None = None
        if any(part.kept is not None for part in self.parts):
            of_parts = (np.arange(part.n_given) if part.kept is None else part.kept for part in self.parts)
            self.kept = np.concatenate([part.start + own for part, own in zip(self.parts, of_parts, strict=True)])
        self.weights: FloatArray | None = None
        if self._name("sample_weight") in given:
            self.weights = _joined([part.weights for part in self.parts], np.zeros(0))
            own_sums = float(self.weights.max(initial=0.0)), float(self.weights.sum())
            largest, totals = zip(*workers.all_gather(own_sums), strict=True)
            check_total_weight(max(largest), sum(totals), self._name("sample_weight"))
        self.class_ids = np.zeros(self.n_given if self.kept is None else len(self.kept), dtype=np.uint16)
        self.targets: npt.NDArray[Any] | None = None
        if accepted.targets != "labels":
            n_targets = self.columns.n_targets
            self.targets = _joined([part.y for part in self.parts], np.zeros((0, n_targets) if n_targets else 0))

    def _name(self, argument: str) -> str:
        """Name in `fit` of an argument for rows of this role."""
        return argument + self._suffix

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
        loaded, own = part.load(), list(self._categories or ())
        try:
            X = self._table(loaded.X)
            if self._categories is None and self._accepted.missing:
                own = self._own_columns(X)
            return own, self._check(part, loaded, X, own)
        except (TypeError, ValueError) as error:
            return own, error

    def _table(self, X: Any) -> Any:
        X = self._accepted.read(X, self._name("X"))
        return as_table(X) if names_columns(getattr(self._estimator, "categorical_features", None)) else X

    def _own_columns(self, X: Any) -> list[int]:
        given = self._estimator.categorical_features
        kinds = column_kinds(X) if isinstance(given, str) and column_names(X) is not None else []
        columns = categorical_columns(given, X, kinds)
        if kinds and columns:
            warn_of_text(X, columns, ["" if column in self._named else kind for column, kind in enumerate(kinds)])
            self._named.update(columns)
        return columns

    def _check(self, part: Partition, loaded: LoadedPartition, X: Any, columns: Sequence[int]) -> ReadPart:
        """Check a loaded part; `columns`: those of text or categories."""
        held, weights, kept = loaded is part, None, None
        if self._name("sample_weight") in self._given:
            weights = read_sample_weight(loaded.sample_weight, _num_samples(X), self._name("sample_weight"))
            if not weights.all():
                kept = np.flatnonzero(weights)
                weights = weights[kept]
        height = self._block_height(X, columns) if held else 0
        read = check_table(self._estimator, X, columns, height, kept) if height else None
        in_blocks = read is not None
        if read is None:
            read = read_rows(self._estimator, X, columns, self._accepted, known=self._categories, kept=kept)
        categories, values = read
        n_rows, n_features = values.shape
        if not held and n_rows != part.n_rows:
            raise ValueError(f"A partition of X was said to have {part.n_rows} rows, and has {n_rows}.")
        y = read_y(self._estimator, loaded.y, n_rows, self._accepted, self._name("y"))
        n_targets, classes = y.shape[1] if y.ndim == 2 else None, None
        y = y if kept is None else y[kept]
        if self._accepted.targets == "numbers":
            y = read_targets(y, self._name("y"))
        elif self._accepted.targets == "labels":
            classes, y = class_codes(y, self._name("y"))
        return ReadPart(
            part,
            n_rows,
            Columns(
                n_features,
                tuple(column_names(loaded.X) or ()) or None,
                bool(sparse.issparse(values)),
                n_targets,
            ),
            values.dtype,
            categories,
            values if not in_blocks and self._stays(values, loaded.X if held else None) else None,
            height if in_blocks else max(1, n_rows),
            {name: getattr(loaded, name) for name in BESIDE},
            kept,
            weights,
            y,
            classes,
        )

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

    def _common_columns(self) -> tuple[Columns, np.dtype[Any]]:
        """Columns of all parts, and the type of their values; ValueError if the columns differ."""
        by_worker = self._workers.all_gather([(part.columns, part.dtype.str) for part in self.parts])
        of_all = [one for own in by_worker for one in own]
        if not of_all:
            raise ValueError(f"{self._name('X')} has no rows: every partition is empty. At least one row is needed.")
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

    def chosen(self, start: int, n_rows: int) -> Any:
        """Indices of the rows with a positive weight among `n_rows` rows that were given, from `start` on."""
        if self.kept is None:
            return slice(None)
        first, last = np.searchsorted(self.kept, [start, start + n_rows])
        return self.kept[first:last] - start

    def values(self, part: ReadPart, first: int = 0) -> Any:
        """Rows of a part, of which `part.height` from `first` on; categories have the codes of `part.categories`."""
        X = part.X
        if X is None:
            X = part.part.load().X
            X = X if part.height >= part.n_given else rows_between(X, first, first + part.height)
            X = read_rows_again(X, part.categories, part.dtype, self._accepted)
        return X if self.kept is None else X[self.chosen(part.start + first, X.shape[0])]

    @property
    def has_values(self) -> bool:
        """True if the values of all rows are one matrix in memory."""
        return self._workers.alone and len(self.parts) == 1 and self.parts[0].X is not None

    def _matrix(self) -> Any:
        """Rows of all parts: a sparse matrix, or dense blocks, one or several for each part."""
        if not self.columns.sparse:
            return PartBlocks(self)
        empty = sparse.csr_matrix((0, self.columns.n_features), dtype=self.dtype)
        matrices = [self.values(part) for part in self.parts] or [empty]
        matrix = matrices[0] if len(matrices) == 1 else sparse.vstack(matrices, format="csr")
        return matrix.astype(self.dtype, copy=False)

    def rows(self, classes: npt.NDArray[Any] | None, *, whole: bool) -> Rows:
        """Rows of all parts with a positive weight, and what belongs to them; `whole`: a matrix instead of blocks."""
        X = self._matrix()
        rows = Rows(
            X.whole() if whole and isinstance(X, RowBlocks) else X,
            self.class_ids,
            self.weights,
            self.targets,
            classes=classes,
            collective=self._workers.collective,
            kept=self.kept,
            source_names=self._beside("sources", read_sources),
        )
        costs = None if classes is None else self._costs(rows.known_classes)
        return replace(rows, offset=self._offset(rows.n_outputs, of_classes=classes is not None), costs=costs)

    def common_classes(self) -> npt.NDArray[Any]:
        """Classes of all workers, ascending; `class_ids` become indices among them."""
        by_worker = self._workers.all_gather([(part.classes, len(part.y)) for part in self.parts])
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
        of_parts = []
        for part in self.parts:
            indices = index_of(np.asarray(part.classes)).astype(np.uint16)
            same = np.array_equal(indices, np.arange(len(indices)))
            of_parts.append(part.y if same else indices[part.y])
        self.class_ids = _joined(of_parts, self.class_ids[:0])

    def weigh_classes(self, classes: npt.NDArray[Any], class_weight: Any) -> tuple[npt.NDArray[Any], FloatArray | None]:
        """Multiply weights by `class_weight`.

        Returns the classes of a positive weight and their factors, shape (n_classes,), or None without `class_weight`.
        """
        if class_weight is None:
            return classes, None
        totals = partial(exact_sums, self.class_ids, self.weights, len(classes), self._workers)
        units = weights_of_classes(class_weight, classes, totals)
        learned = units > 0
        if not learned.any():
            raise ValueError("class_weight is zero for every class in y; at least one needs a positive weight.")
        of_rows = units[self.class_ids]
        self.weights = of_rows if self.weights is None else self.weights * of_rows
        self.class_ids = (np.cumsum(learned) - 1).astype(np.uint16)[self.class_ids]
        if not self.weights.all():
            rows = np.flatnonzero(self.weights)
            self.kept = rows if self.kept is None else self.kept[rows]
            self.weights, self.class_ids = self.weights[rows], self.class_ids[rows]
            for part in self.parts:
                part.renumber({column: self._used(part, column) for column in part.categories})
        return classes[learned], units[learned]

    def common_categories(self) -> Categories:
        """Categories of each column over all workers, at most 255; the codes of all parts become indices among them."""
        own = all_categories([part.categories for part in self.parts])
        merged = all_categories(self._workers.all_gather(own))
        for column, known in merged.items():
            if len(known) > MOST_CATEGORIES:
                codes = np.concatenate([np.zeros(0), *(self._codes(part, column, known) for part in self.parts)])
                there = ~np.isnan(codes)
                weights = None if self.weights is None else self.weights[there]
                sizes = exact_sums(codes[there].astype(np.int64), weights, len(known), self._workers)
                merged[column] = tuple(known[code] for code in most_frequent(sizes, self.columns, column))
        for part in self.parts:
            part.renumber(merged)
        return merged

    def _used(self, part: ReadPart, column: int) -> tuple[Category, ...]:
        """Categories of a column of a part that some row has."""
        known = part.categories[column]
        codes = np.unique(self._codes(part, column, known))
        return tuple(known[int(code)] for code in codes[~np.isnan(codes)])

    def _codes(self, part: ReadPart, column: int, known: Sequence[Category]) -> FloatArray:
        """Codes of a column of a part among the `known` categories; NaN for others and missing values."""
        if part.X is None:
            codes = column_codes(as_table(self._accepted.read(part.part.load().X)), column, known)
        else:
            codes = _recoded(part.X[:, column], part.categories[column], known)
        of_rows: FloatArray = codes[self.chosen(part.start, part.n_given)]
        return of_rows

    def _beside(
        self, argument: str, read: Callable[[Any, int, str], npt.NDArray[Any]], shape: tuple[int, ...] = ()
    ) -> npt.NDArray[Any] | None:
        """Argument of `fit` for all rows, read by parts, shape (n_rows, *shape); None where it is not given."""
        name = self._name(argument)
        if name not in self._given:
            return None
        of_parts = [read(part.beside.pop(argument), part.n_given, name) for part in self.parts]
        values = _joined(of_parts, np.zeros((0, *shape)))
        return values if self.kept is None else values[self.kept]

    def _offset(self, n_outputs: int, *, of_classes: bool) -> FloatArray | None:
        """Offsets, shape (n_rows,) or (n_rows, n_outputs); None: 0 in the rows of all workers."""
        shape = () if n_outputs == 1 else (n_outputs,)

        def read(given: Any, n_rows: int, name: str) -> FloatArray:
            own = read_offset(given, n_rows, n_outputs, name=name, rows=self._name("X"), of_classes=of_classes)
            return np.zeros((n_rows, *shape)) if own is None else own

        offset = self._beside("offset", read, shape)
        return offset if offset is not None and any(self._workers.all_gather(bool(offset.any()))) else None

    def _costs(self, classes: npt.NDArray[Any]) -> Costs | None:
        """Costs of examples, in units of the largest of all workers."""
        table = self._beside(
            "cost", lambda cost, n_rows, name: read_costs(cost, n_rows, name, self._name("X"), classes), (len(classes),)
        )
        return None if table is None else make_costs(None, table, len(classes), self._name("cost"), self._workers)


class PartBlocks(RowBlocks):
    """Rows of a process with a positive weight, one or several blocks for each part."""

    def __init__(self, reader: PartReader) -> None:
        self._reader = reader
        self._blocks = [(part, first) for part in reader.parts for first in range(0, part.n_given, part.height)]
        bounds = np.array([part.start + first for part, first in self._blocks] + [reader.n_given])
        heights = np.diff(bounds if reader.kept is None else np.searchsorted(reader.kept, bounds))
        super().__init__(heights.tolist(), reader.columns.n_features, reader.dtype)

    def load(self, block: int) -> FloatMatrix:
        X: FloatMatrix = self._reader.values(*self._blocks[block])
        return X.astype(self.dtype, copy=False)


def _joined(of_parts: Sequence[Any], empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Concatenation of the arrays of all parts; a single one as it is, `empty` for none."""
    joined: npt.NDArray[Any] = of_parts[0] if len(of_parts) == 1 else np.concatenate(of_parts or [empty])
    return joined


def _recoded(codes: npt.NDArray[Any], own: Sequence[Category], known: Sequence[Category]) -> FloatArray:
    """Codes among `known` categories of codes among `own` ones; NaN for others and missing values."""
    index = {value: float(k) for k, value in enumerate(known)}
    new = np.array([index.get(value, np.nan) for value in own] + [np.nan])
    return np.asarray(new[np.nan_to_num(codes, nan=-1.0).astype(np.int64)])
