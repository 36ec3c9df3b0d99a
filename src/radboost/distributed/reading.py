"""The rows of one worker, read so that all workers end with the columns, classes, categories and weights of all rows.

`radboost.rows.prepare.read_training` does the same for rows that are in one place, and would find in all rows what is
found here together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from radboost._tables import column_kinds, column_title
from radboost._typing import Category, FloatArray
from radboost._validation import check_total_weight, warn_small_total
from radboost.distributed.metadata import WorkerCollective
from radboost.distributed.partitions import Partition
from radboost.distributed.reader import PartBlocks, PartColumns, Reader, ReadPart, seen_places
from radboost.rows.categories import (
    MOST_CATEGORIES,
    Categories,
    Codes,
    categorical_columns,
    most_frequent,
    sorted_categories,
    warn_of_text,
)
from radboost.rows.class_weights import weights_of_classes
from radboost.rows.prepare import CheckedRows
from radboost.rows.read import Rows, check_classes, read_targets

TEXT_KINDS = "OUST"


def read_parts(
    estimator: Any, parts: Sequence[Partition], workers: WorkerCollective, *, weighted: bool, keep_values: bool = False
) -> CheckedRows:
    """Checks the parts of this worker, of which there may be none. `weighted`: whether sample weights were given.

    One part at a time is in memory, here and where the result is binned; with `keep_values` all rows are kept.
    """
    check_versions(workers)
    regression = bool(estimator._regression)
    given = [part for part in parts if part.n_rows]
    reader = Reader(estimator, weighted=weighted)
    read = _look_at_each(estimator, reader, given, workers)
    columns = _agreed(read, workers)
    classes = None if regression else _label(read, workers)
    of_class = None if classes is None else _weigh_classes(estimator, read, classes, workers)
    weighted |= of_class is not None
    _check_weights(read, weighted, workers)
    for part in read:
        part.leave_out_zero_weights()
    if classes is not None:
        labels, classes = classes, _used_classes(read, classes, workers)
        of_class = None if of_class is None else of_class[np.searchsorted(labels, classes)]
    categories = _merge_categories(reader, read, columns, workers)
    dtype = (
        np.float64
        if any("float64" in one for one in workers.all_gather([str(part.dtype) for part in read]))
        else np.float32
    )
    X: Any
    if columns.sparse:
        empty = sparse.csr_matrix((0, columns.n_features), dtype=dtype)
        X = sparse.vstack([empty, *(reader.values(part) for part in read)], format="csr").astype(dtype, copy=False)
    else:
        X = PartBlocks(reader, read, columns, dtype)
        X = X.whole() if keep_values else X
    class_ids = np.concatenate([np.zeros(0, dtype=np.uint16), *(part.class_ids.astype(np.uint16) for part in read)])
    targets = None
    if regression:
        shape = (0,) if columns.n_targets is None else (0, columns.n_targets)
        targets = np.concatenate([np.zeros(shape), *(read_targets(part.targets) for part in read if part.n_kept)])
    names = columns.feature_names
    return CheckedRows(
        Rows(categories, X, class_ids if targets is None else targets),
        kept=_kept(read),
        n_given=sum(part.n_rows for part in given),
        classes=classes,
        class_ids=class_ids,
        weights=np.concatenate([np.zeros(0), *(part.weights for part in read)]) if weighted else None,
        targets=targets,
        feature_names=None if names is None else np.array(names, dtype=object),
        column_names=None if columns.column_names is None else list(columns.column_names),
        collective=workers,
        class_units=of_class,
    )


def _kept(read: list[ReadPart]) -> Codes | None:
    """The places of the rows that stay among those that this worker was given."""
    if all(part.kept is None for part in read):
        return None
    starts = np.cumsum([0, *(part.part.n_rows for part in read)]).tolist()
    own = [np.arange(part.part.n_rows) if part.kept is None else part.kept for part in read]
    return np.concatenate([start + kept for start, kept in zip(starts, own, strict=False)])


def check_versions(workers: WorkerCollective) -> None:
    """Refuses workers with different versions of the package, which may make different models."""
    found = sorted(set(workers.all_gather(version("radboost"))))
    if len(found) > 1:
        raise RuntimeError(
            f"The workers have different versions of radboost, {' and '.join(found)}. Install one of them everywhere."
        )


def _look_at_each(estimator: Any, reader: Reader, parts: list[Partition], workers: WorkerCollective) -> list[ReadPart]:
    given = estimator.categorical_features
    if not isinstance(given, str):
        return [reader.look_at(part, part.load(), given) for part in parts]
    # A column of text or categories is one for all, also where a part has nothing but missing values in it: such parts
    # are read again.
    found = [_look_with_own_categories(reader, part, given) for part in parts]
    of_all = sorted(
        {column for told in workers.all_gather([own for own, _ in found]) for own in told for column in own}
    )
    if of_all and parts:
        first = parts[0].load().X
        warn_of_text(first, of_all, column_kinds(first))
    read = []
    for part, (own, result) in zip(parts, found, strict=True):
        if own != of_all:
            result = reader.look_at(part, part.load(), of_all or None)
        if isinstance(result, Exception):
            raise result
        result.numbers = [column for column in of_all if column not in own and len(result.seen[column])]
        read.append(result)
    return read


def _look_with_own_categories(reader: Reader, part: Partition, given: str) -> tuple[list[int], ReadPart | Exception]:
    """The columns of a part that hold categories or text, and the part read with them, or why it cannot be."""
    loaded = part.load()
    own = categorical_columns(given, loaded.X, column_kinds(loaded.X))
    try:
        return own, reader.look_at(part, loaded, own or None)
    except (TypeError, ValueError) as error:
        return own, error


def _agreed(read: list[ReadPart], workers: WorkerCollective) -> PartColumns:
    """The columns of all parts, which must be alike."""
    found = list(
        dict.fromkeys(columns for own in workers.all_gather([part.columns for part in read]) for columns in own)
    )
    if not found:
        raise ValueError("X has no rows: every partition is empty. At least one row is needed.")
    if len(found) > 1:
        one, other = (
            f"{columns.n_features} columns{f' ({_shown(columns)})' if columns.column_names else ''}, "
            f"{'sparse' if columns.sparse else 'dense'}, {columns.n_targets or 1} target(s) a row"
            for columns in found[:2]
        )
        raise ValueError(f"The partitions differ: one has {one}; another {other}. All must have the same columns.")
    mixed = [column_title(found[0], column) for part in read for column in part.numbers]
    if mixed:
        raise ValueError(
            f"The partitions differ: {mixed[0]} holds text or categories in one and numbers in another. Give it the "
            "same type in all of them."
        )
    return found[0]


def _shown(columns: PartColumns) -> str:
    names = [str(name) for name in columns.column_names or ()]
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _label(read: list[ReadPart], workers: WorkerCollective) -> npt.NDArray[Any]:
    """All classes, ascending; each part's rows are told the places of theirs."""
    found = [
        own for of_worker in workers.all_gather([part.classes for part in read]) for own in of_worker if own is not None
    ]
    if len({own.dtype.kind in TEXT_KINDS for own in found}) > 1:
        kinds = sorted({str(own.dtype) for own in found})
        raise ValueError(
            f"y holds labels of different types in different partitions ({', '.join(kinds)}), which have no common "
            "order. Make them alike, for example by y.astype(str)."
        )
    classes = np.unique(np.concatenate(found))
    # Each label thrice: scikit-learn warns of y that holds hardly anything twice.
    check_classification_targets(np.tile(classes, 3))
    for part in read:
        assert part.classes is not None
        place_of = np.searchsorted(classes, part.classes).astype(np.min_scalar_type(len(classes)))
        part.class_ids = place_of[part.class_ids]
    return classes


def _weigh_classes(
    estimator: Any, read: list[ReadPart], classes: npt.NDArray[Any], workers: WorkerCollective
) -> FloatArray | None:
    """Multiplies what rows of each class weigh into their weights; None where there is nothing to multiply."""
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return None
    own = [_exact_totals(part, len(classes)) for part in read]
    of_all = [column for of_worker in workers.all_gather(own) for column in of_worker]
    totals = [sum((column[c] for column in of_all), Fraction(0)) for c in range(len(classes))]
    learned = np.array([total > 0 for total in totals])
    check_classes(classes[learned])
    of_class = np.ones(len(classes))
    of_class[learned] = weights_of_classes(
        class_weight, classes[learned], lambda: [float(total) for total in totals if total > 0]
    )
    for part in read:
        given = np.ones(part.part.n_rows) if part.weights is None else part.weights
        part.weights = given * of_class[part.class_ids]
    return of_class


def _exact_totals(part: ReadPart, n_classes: int) -> list[Fraction]:
    """The sums of the weights of each class, without any rounding: the same for every division of the rows."""
    if part.weights is None:
        return [Fraction(int(count)) for count in np.bincount(part.class_ids, minlength=n_classes)]
    totals = []
    for class_id in range(n_classes):
        values, counts = np.unique(part.weights[part.class_ids == class_id], return_counts=True)
        totals.append(sum((Fraction(w) * int(n) for w, n in zip(values.tolist(), counts, strict=True)), Fraction(0)))
    return totals


def _check_weights(read: list[ReadPart], weighted: bool, workers: WorkerCollective) -> None:
    if not weighted:
        return
    given = [part.weights for part in read if part.weights is not None]
    own = (max((float(w.max()) for w in given), default=0.0), float(sum(w.sum() for w in given)))
    kept = int(sum(np.count_nonzero(w) for w in given))
    told = workers.all_gather((*own, kept))
    largest, total, n_rows = max(one[0] for one in told), sum(one[1] for one in told), sum(one[2] for one in told)
    check_total_weight(largest, total)
    warn_small_total(total, n_rows)


def _used_classes(read: list[ReadPart], classes: npt.NDArray[Any], workers: WorkerCollective) -> npt.NDArray[Any]:
    """Those of rows with a positive weight; the rows are told their places among them."""
    own = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(np.unique(part.class_ids) for part in read)]))
    used = np.unique(workers.all_gather_array(own))
    check_classes(classes[used])
    for part in read:
        place_of = np.full(len(classes), 0, dtype=np.uint16)
        place_of[used] = np.arange(len(used))
        part.class_ids = place_of[part.class_ids]
    of_rows: npt.NDArray[Any] = classes[used]
    return of_rows


def _merge_categories(
    reader: Reader, read: list[ReadPart], columns: PartColumns, workers: WorkerCollective
) -> Categories:
    """The categories that any row has, 255 at most; each part is told the places of its own among them."""
    for part in read:
        if part.kept is not None and part.categories:
            part.seen = seen_places(reader.values(part), part.categories)
    own = {
        column: sorted_categories([[part.categories[column][k] for k in part.seen[column]] for part in read])
        for column in (read[0].categories if read else {})
    }
    told = workers.all_gather(own)
    merged: dict[int, tuple[Category, ...]] = {
        column: sorted_categories([one[column] for one in told if column in one])
        for column in sorted(set().union(*told))
    }
    places = {column: {value: float(k) for k, value in enumerate(known)} for column, known in merged.items()}
    for part in read:
        part.place_of = {
            column: np.array([places[column].get(value, np.nan) for value in known] or [np.nan])
            for column, known in part.categories.items()
        }
    for column, known in merged.items():
        if len(known) <= MOST_CATEGORIES:
            continue
        codes, weights = _of_all_rows(reader, read, column, workers)
        frequent = most_frequent(codes, weights, len(known), columns, column)
        place_of = np.full(len(known) + 1, np.nan)
        place_of[frequent] = np.arange(len(frequent))
        for part in read:
            assert part.place_of is not None
            before = part.place_of[column]
            part.place_of[column] = place_of[np.where(np.isnan(before), len(known), before).astype(np.int64)]
        merged[column] = tuple(known[int(place)] for place in frequent)
    return merged


def _of_all_rows(
    reader: Reader, read: list[ReadPart], column: int, workers: WorkerCollective
) -> tuple[Codes, FloatArray | None]:
    """The places of the categories of a column, and the weights, of those rows of all workers that have one."""
    codes, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for part in read:
        assert part.place_of is not None
        own = reader.values(part)[:, column]
        there = ~np.isnan(own)
        codes.append(part.place_of[column][own[there].astype(np.int64)].astype(np.int64))
        weights.append(np.zeros(0) if part.weights is None else part.weights[there])
    of_all = workers.all_gather_array(np.concatenate(weights))
    return workers.all_gather_array(np.concatenate(codes)), of_all if len(of_all) else None
