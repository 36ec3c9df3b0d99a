"""The rows of one worker, read so that all workers end with the columns, classes, categories and weights of all rows.

`radboost.rows.prepare.read_training` does the same for rows that are in one place, and would find in all rows what is
found here together.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from radboost._tables import column_names
from radboost._typing import Category, FloatArray
from radboost._validation import check_total_weight, read_sample_weight, warn_small_total
from radboost.distributed.parts import LazyPart, Part
from radboost.distributed.talking import Workers
from radboost.rows.categories import (
    Categories,
    Codes,
    categorical_columns,
    drop_unseen,
    keep_frequent,
    sorted_categories,
    warn_of_text,
)
from radboost.rows.class_weights import weights_of_classes
from radboost.rows.prepare import CheckedRows
from radboost.rows.read import Rows, check_classes, plain_labels, read_rows, read_targets

TEXT_KINDS = "OUST"


@dataclass(frozen=True)
class Columns:
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
    """A part whose rows are checked."""

    rows: Rows
    columns: Columns
    weights: FloatArray | None
    class_ids: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int64]  # the places of the rows among those of the part


def read_parts(estimator: Any, parts: Sequence[LazyPart], workers: Workers, *, weighted: bool) -> CheckedRows:
    """Checks the parts of this worker, of which there may be none. `weighted`: whether sample weights were given."""
    check_versions(workers)
    regression = bool(estimator._regression)
    given = [part.load() for part in parts if part.n_rows]
    read = _read_each(estimator, given, workers, weighted)
    columns = _agreed(read, workers)
    classes = None if regression else _label(read, workers)
    if classes is not None:
        weighted |= _weigh_classes(estimator, read, classes, workers)
    _check_weights(read, weighted, workers)
    if weighted:
        _leave_out_zero_weights(read)
    if classes is not None:
        classes = _used_classes(read, classes, workers)
    categories = _merge_categories(read, workers)
    X = _stacked([part.rows.X for part in read], columns, workers)
    weights = np.concatenate([np.zeros(0), *(part.weights for part in read)]) if weighted else None
    categories = keep_frequent(
        X, categories, weights, columns, lambda codes, of_rows: _of_all_rows(codes, of_rows, workers)
    )
    class_ids = np.concatenate([np.zeros(0, dtype=np.uint16), *(part.class_ids.astype(np.uint16) for part in read)])
    targets = None
    if regression:
        shape = (0,) if columns.n_targets is None else (0, columns.n_targets)
        targets = np.concatenate([np.zeros(shape), *(read_targets(part.rows.y) for part in read)])
    names = columns.feature_names
    starts = np.cumsum([0, *(part.n_rows for part in given)])
    kept = [start + part.kept for start, part in zip(starts.tolist(), read, strict=False)]
    return CheckedRows(
        Rows(categories, X, class_ids if targets is None else targets),
        kept=np.concatenate([np.zeros(0, dtype=np.int64), *kept]),
        n_given=int(starts[-1]),
        classes=classes,
        class_ids=class_ids,
        weights=weights,
        targets=targets,
        feature_names=None if names is None else np.array(names, dtype=object),
        column_names=None if columns.column_names is None else list(columns.column_names),
        collective=workers,
    )


def check_versions(workers: Workers) -> None:
    """Refuses workers with different versions of the package, which may make different models."""
    found = sorted(set(workers.tell(version("radboost"))))
    if len(found) > 1:
        raise RuntimeError(
            f"The workers have different versions of radboost, {' and '.join(found)}. Install one of them everywhere."
        )


def _read_each(estimator: Any, parts: list[Part], workers: Workers, weighted: bool) -> list[ReadPart]:
    reader = copy(estimator)
    if isinstance(estimator.categorical_features, str):
        own = {column for part in parts for column in categorical_columns(estimator.categorical_features, part.X)}
        # A column of text or categories is one for all, also where a part has nothing but missing values in it.
        of_all = sorted(set().union(*workers.tell(own)))
        for part in parts[:1]:
            warn_of_text(part.X, of_all)
        reader.categorical_features = of_all or None
    return [_read_part(reader, part, weighted) for part in parts]


def _read_part(reader: Any, part: Part, weighted: bool) -> ReadPart:
    reader.__dict__.pop("feature_names_in_", None)
    rows = read_rows(reader, part.X, part.y)
    weights = None
    if weighted:
        weights = read_sample_weight(part.sample_weight, rows.n_rows)
    names = column_names(part.X) or []
    named = len(names) > 0 and all(isinstance(name, str | int | np.integer) for name in names)
    feature_names = getattr(reader, "feature_names_in_", None)
    columns = Columns(
        rows.n_features,
        None if feature_names is None else tuple(feature_names.tolist()),
        tuple(names) if named else None,
        bool(sparse.issparse(rows.X)),
        rows.y.shape[1] if rows.y.ndim == 2 else None,
    )
    return ReadPart(rows, columns, weights, np.zeros(rows.n_rows, dtype=np.int64), np.arange(rows.n_rows))


def _agreed(read: list[ReadPart], workers: Workers) -> Columns:
    """The columns of all parts, which must be alike."""
    found = list(dict.fromkeys(columns for own in workers.tell([part.columns for part in read]) for columns in own))
    if not found:
        raise ValueError("X has no rows: every partition is empty. At least one row is needed.")
    if len(found) > 1:
        one, other = (
            f"{columns.n_features} columns{f' ({_shown(columns)})' if columns.column_names else ''}, "
            f"{'sparse' if columns.sparse else 'dense'}, {columns.n_targets or 1} target(s) a row"
            for columns in found[:2]
        )
        raise ValueError(f"The partitions differ: one has {one}; another {other}. All must have the same columns.")
    return found[0]


def _shown(columns: Columns) -> str:
    names = [str(name) for name in columns.column_names or ()]
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _label(read: list[ReadPart], workers: Workers) -> npt.NDArray[Any]:
    """All classes, ascending; each part's rows are told the places of theirs."""
    labels = [plain_labels(part.rows.y) for part in read]
    found = [own for of_worker in workers.tell([np.unique(own) for own in labels]) for own in of_worker]
    if len({own.dtype.kind in TEXT_KINDS for own in found}) > 1:
        kinds = sorted({str(own.dtype) for own in found})
        raise ValueError(
            f"y holds labels of different types in different partitions ({', '.join(kinds)}), which have no common "
            "order. Make them alike, for example by y.astype(str)."
        )
    classes = np.unique(np.concatenate(found))
    # Each label thrice: scikit-learn warns of y that holds hardly anything twice.
    check_classification_targets(np.tile(classes, 3))
    for part, own in zip(read, labels, strict=True):
        part.class_ids = np.searchsorted(classes, own)
    return classes


def _weigh_classes(estimator: Any, read: list[ReadPart], classes: npt.NDArray[Any], workers: Workers) -> bool:
    """Multiplies what rows of each class weigh into their weights; whether there was anything to multiply."""
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return False
    own = [_exact_totals(part, len(classes)) for part in read]
    of_all = [column for of_worker in workers.tell(own) for column in of_worker]
    totals = [sum((column[c] for column in of_all), Fraction(0)) for c in range(len(classes))]
    learned = np.array([total > 0 for total in totals])
    check_classes(classes[learned])
    of_class = np.ones(len(classes))
    of_class[learned] = weights_of_classes(
        class_weight, classes[learned], lambda: [float(total) for total in totals if total > 0]
    )
    for part in read:
        given = np.ones(part.rows.n_rows) if part.weights is None else part.weights
        part.weights = given * of_class[part.class_ids]
    return True


def _exact_totals(part: ReadPart, n_classes: int) -> list[Fraction]:
    """The sums of the weights of each class, without any rounding: the same for every division of the rows."""
    if part.weights is None:
        return [Fraction(int(count)) for count in np.bincount(part.class_ids, minlength=n_classes)]
    totals = []
    for class_id in range(n_classes):
        values, counts = np.unique(part.weights[part.class_ids == class_id], return_counts=True)
        totals.append(sum((Fraction(w) * int(n) for w, n in zip(values.tolist(), counts, strict=True)), Fraction(0)))
    return totals


def _check_weights(read: list[ReadPart], weighted: bool, workers: Workers) -> None:
    if not weighted:
        return
    given = [part.weights for part in read if part.weights is not None]
    own = (max((float(w.max()) for w in given), default=0.0), float(sum(w.sum() for w in given)))
    kept = int(sum(np.count_nonzero(w) for w in given))
    told = workers.tell((*own, kept))
    largest, total, n_rows = max(one[0] for one in told), sum(one[1] for one in told), sum(one[2] for one in told)
    check_total_weight(largest, total)
    warn_small_total(total, n_rows)


def _leave_out_zero_weights(read: list[ReadPart]) -> None:
    for part in read:
        rows, part.weights, kept = part.rows.without_zero_weights(part.weights)
        part.rows = rows
        if kept is not None:
            part.class_ids, part.kept = part.class_ids[kept], kept


def _used_classes(read: list[ReadPart], classes: npt.NDArray[Any], workers: Workers) -> npt.NDArray[Any]:
    """Those of rows with a positive weight; the rows are told their places among them."""
    own = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(part.class_ids for part in read)]))
    used = np.unique(workers.gathered(own))
    check_classes(classes[used])
    for part in read:
        part.class_ids = np.searchsorted(used, part.class_ids)
    of_rows: npt.NDArray[Any] = classes[used]
    return of_rows


def _merge_categories(read: list[ReadPart], workers: Workers) -> Categories:
    """The categories that any row has; the places of all rows are written anew among them."""
    of_parts = [drop_unseen(part.rows.X, part.rows.categories) for part in read]
    own = {column: sorted_categories([own[column] for own in of_parts]) for column in (of_parts or [{}])[0]}
    told = workers.tell(own)
    columns = sorted(set().union(*told))
    merged: dict[int, tuple[Category, ...]] = {
        column: sorted_categories([one[column] for one in told if column in one]) for column in columns
    }
    for part, known in zip(read, of_parts, strict=True):
        for column, values in known.items():
            place = {value: index for index, value in enumerate(merged[column])}
            place_of = np.array([place[value] for value in values] or [0], dtype=np.float64)
            places = part.rows.X[:, column]
            there = ~np.isnan(places)
            part.rows.X[there, column] = place_of[places[there].astype(np.int64)]
    return merged


def _stacked(matrices: list[Any], columns: Columns, workers: Workers) -> Any:
    """One matrix, of 32 bits where those of all workers are; the parts are given up on the way."""
    own = [str(matrix.dtype) for matrix in matrices]
    dtype = np.float64 if any("float64" in one for one in workers.tell(own)) else np.float32
    if columns.sparse:
        empty = sparse.csr_matrix((0, columns.n_features), dtype=dtype)
        return sparse.vstack([empty, *matrices], format="csr").astype(dtype, copy=False)
    if len(matrices) == 1:
        return matrices[0].astype(dtype, copy=False)
    return np.concatenate([np.zeros((0, columns.n_features), dtype=dtype), *matrices])


def _of_all_rows(codes: Codes, weights: FloatArray | None, workers: Workers) -> tuple[Codes, FloatArray | None]:
    """Places of categories, and weights, of the rows of all workers."""
    return workers.gathered(codes), None if weights is None else workers.gathered(weights)
