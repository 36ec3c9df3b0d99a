"""Partitions of rows: `Reader` checks each once, and loads its values again for each pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import column_names
from radboost._typing import FloatArray, FloatMatrix
from radboost._validation import read_sample_weight
from radboost.distributed.partitions import LoadedPartition, Partition
from radboost.rows.categories import Categories, Codes
from radboost.rows.read import Rows, plain_labels, read_rows
from radboost.trees import RowBlocks

KEPT_BYTES = 2**26  # of values that are kept in memory rather than loaded again for each pass


@dataclass(frozen=True)
class PartColumns:
    """Columns of a partition; all partitions must have equal ones."""

    n_features: int
    feature_names: tuple[str, ...] | None
    column_names: tuple[Any, ...] | None
    sparse: bool
    n_targets: int | None  # columns of a two-dimensional y; None: y has one dimension

    @property
    def columns(self) -> tuple[Any, ...] | None:
        """`column_names`, under the name that data frames have."""
        return self.column_names


@dataclass
class ReadPart:
    """A checked partition, without the values of X unless they are cheap to keep."""

    part: Partition
    columns: PartColumns
    dtype: np.dtype[Any]
    weights: FloatArray | None
    classes: npt.NDArray[Any] | None  # different labels, ascending; None for regression
    class_ids: npt.NDArray[Any]  # indices among `classes`, shape (n_rows,)
    targets: npt.NDArray[Any] | None  # for regression, otherwise None
    categories: Categories  # of this partition; other partitions may have others
    seen: dict[int, Codes]  # by column, the codes of categories that a row has
    X: Any  # values, if in memory anyway, few or sparse; None: load them again
    kept: Codes | None = None  # indices of rows with a positive weight; None: all
    numbers: Sequence[int] = ()  # columns that are numeric here, and text or categories in other partitions
    code_of: dict[int, FloatArray] | None = None  # by column, from its codes to common codes; NaN: no code

    @property
    def n_kept(self) -> int:
        return self.part.n_rows if self.kept is None else len(self.kept)

    def drop_zero_weights(self) -> None:
        if self.weights is None or (self.weights > 0).all():
            return
        self.kept = np.flatnonzero(self.weights > 0)
        self.weights, self.class_ids = self.weights[self.kept], self.class_ids[self.kept]
        self.targets = None if self.targets is None else self.targets[self.kept]


class Reader:
    """Reads partitions, each time with equal results."""

    def __init__(self, estimator: Any, *, weighted: bool) -> None:
        self._reader, self._weighted = copy(estimator), weighted
        self._left = KEPT_BYTES

    def check_part(self, part: Partition, loaded: LoadedPartition, categorical: Any) -> ReadPart:
        """Check the rows of a loaded partition; `categorical` is the parameter `categorical_features`."""
        rows = self._rows(loaded, categorical)
        if rows.n_rows != part.n_rows:
            raise ValueError(f"A partition of X was said to have {part.n_rows} rows, and has {rows.n_rows}.")
        weights = read_sample_weight(loaded.sample_weight, rows.n_rows) if self._weighted else None
        names = column_names(loaded.X) or []
        named = len(names) > 0 and all(isinstance(name, str | int | np.integer) for name in names)
        feature_names = getattr(self._reader, "feature_names_in_", None)
        columns = PartColumns(
            rows.n_features,
            None if feature_names is None else tuple(feature_names.tolist()),
            tuple(names) if named else None,
            bool(sparse.issparse(rows.X)),
            rows.y.shape[1] if rows.y.ndim == 2 else None,
        )
        classes, class_ids, targets = None, np.zeros(rows.n_rows, dtype=np.uint16), None
        if self._reader._regression:
            targets = rows.y
        else:
            labels = plain_labels(rows.y)
            classes = np.unique(labels)
            class_ids = np.searchsorted(classes, labels).astype(np.min_scalar_type(len(classes)))
        return ReadPart(
            part,
            columns,
            rows.X.dtype,
            weights,
            classes,
            class_ids,
            targets,
            rows.categories,
            used_codes(rows.X, rows.categories),
            rows.X if self._stays(rows.X, loaded.X if loaded is part else None) else None,
        )

    def values(self, read: ReadPart) -> Any:
        """Rows of a partition with a positive weight; categories have the codes of the partition."""
        X = self._rows(read.part.load(), sorted(read.categories) or None).X if read.X is None else read.X
        return X if read.kept is None else X[read.kept]

    def _rows(self, loaded: LoadedPartition, categorical: Any) -> Rows:
        self._reader.__dict__.pop("feature_names_in_", None)
        self._reader.categorical_features = categorical
        return read_rows(self._reader, loaded.X, loaded.y)

    def _stays(self, X: Any, held: Any) -> bool:
        """Return True if values are kept: they share memory with `held`, are few, or sparse (binned at once)."""
        if sparse.issparse(X) or (isinstance(held, np.ndarray) and np.may_share_memory(X, held)):
            return True
        self._left -= X.nbytes
        return self._left >= 0


class PartBlocks(RowBlocks):
    """Rows of a worker with a positive weight, a block for each partition, with common codes of categories."""

    def __init__(self, reader: Reader, read: Sequence[ReadPart], columns: PartColumns, dtype: npt.DTypeLike) -> None:
        super().__init__([part.n_kept for part in read], columns.n_features, dtype)
        self._reader, self._read = reader, read

    def load(self, block: int) -> FloatMatrix:
        read = self._read[block]
        X: FloatMatrix = self._reader.values(read)
        if read.code_of:
            X = X.copy() if X is read.X else X
            for column, code_of in read.code_of.items():
                there = ~np.isnan(X[:, column])
                X[there, column] = code_of[X[there, column].astype(np.int64)]
        return X.astype(self.dtype, copy=False)


def used_codes(X: Any, categories: Categories) -> dict[int, Codes]:
    """Codes of categories that any row has, by column."""
    return {column: np.unique(X[~np.isnan(X[:, column]), column]).astype(np.int64) for column in categories}
