"""Parts of rows, checked, and read again for each pass over the rows."""

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

KEPT_BYTES = 2**26  # of values that are kept rather than loaded again for each pass over them


@dataclass(frozen=True)
class PartColumns:
    """What all parts must agree on."""

    n_features: int
    feature_names: tuple[str, ...] | None
    column_names: tuple[Any, ...] | None
    sparse: bool
    n_targets: int | None  # where a row has several

    @property
    def columns(self) -> tuple[Any, ...] | None:
        """Their names, as a data frame has them."""
        return self.column_names


@dataclass
class ReadPart:
    """What is kept of a part whose rows are checked: everything but their values."""

    part: Partition
    columns: PartColumns
    dtype: np.dtype[Any]
    weights: FloatArray | None
    classes: npt.NDArray[Any] | None  # its labels, ascending; None: of regression
    class_ids: npt.NDArray[Any]  # the places of those of its rows
    targets: npt.NDArray[Any] | None  # of regression
    categories: Categories  # of the part, which need not be those of all
    seen: dict[int, Codes]  # the places of those that any row has
    X: Any  # the values after all, where they are in memory anyway, are small or sparse; otherwise None
    kept: Codes | None = None  # the places of the rows with a positive weight; None: all
    numbers: Sequence[int] = ()  # columns that hold numbers here, and text or categories in other parts
    place_of: dict[int, FloatArray] | None = None  # of each of its categories among those of all; NaN: it has none

    @property
    def n_kept(self) -> int:
        return self.part.n_rows if self.kept is None else len(self.kept)

    def leave_out_zero_weights(self) -> None:
        if self.weights is None or (self.weights > 0).all():
            return
        self.kept = np.flatnonzero(self.weights > 0)
        self.weights, self.class_ids = self.weights[self.kept], self.class_ids[self.kept]
        self.targets = None if self.targets is None else self.targets[self.kept]


class Reader:
    """Reads parts, each time alike."""

    def __init__(self, estimator: Any, *, weighted: bool) -> None:
        self._reader, self._weighted = copy(estimator), weighted
        self._left = KEPT_BYTES

    def look_at(self, part: Partition, loaded: LoadedPartition, categorical: Any) -> ReadPart:
        """Checks the rows of a part, which is loaded. `categorical` says which columns hold categories."""
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
            seen_places(rows.X, rows.categories),
            rows.X if self._stays(rows.X, loaded.X if loaded is part else None) else None,
        )

    def values(self, read: ReadPart) -> Any:
        """The rows of a part with a positive weight; places of categories are those among the part's own."""
        X = self._rows(read.part.load(), sorted(read.categories) or None).X if read.X is None else read.X
        return X if read.kept is None else X[read.kept]

    def _rows(self, loaded: LoadedPartition, categorical: Any) -> Rows:
        self._reader.__dict__.pop("feature_names_in_", None)
        self._reader.categorical_features = categorical
        return read_rows(self._reader, loaded.X, loaded.y)

    def _stays(self, X: Any, held: Any) -> bool:
        """Whether values are kept: they are part of what is held anyway, or are few; sparse ones are binned at once."""
        if sparse.issparse(X) or (isinstance(held, np.ndarray) and np.may_share_memory(X, held)):
            return True
        self._left -= X.nbytes
        return self._left >= 0


class PartBlocks(RowBlocks):
    """The rows of a worker with a positive weight, a block for each part, with places among the categories of all."""

    def __init__(self, reader: Reader, read: Sequence[ReadPart], columns: PartColumns, dtype: npt.DTypeLike) -> None:
        super().__init__([part.n_kept for part in read], columns.n_features, dtype)
        self._reader, self._read = reader, read

    def load(self, block: int) -> FloatMatrix:
        read = self._read[block]
        X: FloatMatrix = self._reader.values(read)
        if read.place_of:
            X = X.copy() if X is read.X else X
            for column, place_of in read.place_of.items():
                there = ~np.isnan(X[:, column])
                X[there, column] = place_of[X[there, column].astype(np.int64)]
        return X.astype(self.dtype, copy=False)


def seen_places(X: Any, categories: Categories) -> dict[int, Codes]:
    """The places of the categories that any row has."""
    return {column: np.unique(X[~np.isnan(X[:, column]), column]).astype(np.int64) for column in categories}
