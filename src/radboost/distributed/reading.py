"""Reading of one worker's training rows; workers agree on columns, classes, categories and weights.

`read_parts` is the distributed form of `radboost.rows.prepare.read_training`, and has equal results.
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
from radboost.distributed.reader import PartBlocks, PartColumns, Reader, ReadPart, used_codes
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

TEXT_KINDS = "OUST"  # kinds of NumPy types of text, as in np.dtype.kind


def read_parts(
    estimator: Any, parts: Sequence[Partition], workers: WorkerCollective, *, weighted: bool, keep_values: bool = False
) -> CheckedRows:
    """Read and check the partitions of this worker (there may be none); `weighted`: sample weights were given.

    One partition at a time is in memory, here and while the result is binned; with `keep_values` all rows are kept.
    """
    check_versions(workers)
    regression = bool(estimator._regression)
    given = [part for part in parts if part.n_rows]
    reader = Reader(estimator, weighted=weighted)
    read = _check_parts(estimator, reader, given, workers)
    columns = _common_columns(read, workers)
    classes = None if regression else _common_classes(read, workers)
    class_units = None if classes is None else _weigh_classes(estimator, read, classes, workers)
    weighted |= class_units is not None
    _check_weights(read, weighted, workers)
    for part in read:
        part.drop_zero_weights()
    if classes is not None:
        labels, classes = classes, _used_classes(read, classes, workers)
        class_units = None if class_units is None else class_units[np.searchsorted(labels, classes)]
    categories = _common_categories(reader, read, columns, workers)
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
        class_units=class_units,
    )


def _kept(read: list[ReadPart]) -> Codes | None:
    """Indices of rows with a positive weight among all rows of this worker; None: all."""
    if all(part.kept is None for part in read):
        return None
    starts = np.cumsum([0, *(part.part.n_rows for part in read)]).tolist()
    kept = [np.arange(part.part.n_rows) if part.kept is None else part.kept for part in read]
    return np.concatenate([start + indices for start, indices in zip(starts, kept, strict=False)])


def check_versions(workers: WorkerCollective) -> None:
    """Raise RuntimeError if workers have different versions of the package, which may make different models."""
    versions = sorted(set(workers.all_gather(version("radboost"))))
    if len(versions) > 1:
        raise RuntimeError(
            f"The workers have different versions of radboost, {' and '.join(versions)}. Install one of them "
            "everywhere."
        )


def _check_parts(estimator: Any, reader: Reader, parts: list[Partition], workers: WorkerCollective) -> list[ReadPart]:
    """Read each partition, with the columns of text or categories that any partition of any worker has."""
    given = estimator.categorical_features
    if not isinstance(given, str):
        return [reader.check_part(part, part.load(), given) for part in parts]
    # A column may have only missing values in one partition and text in another: the former is read again.
    alone = [_check_part_alone(reader, part, given) for part in parts]
    from_all = sorted(
        {column for worker in workers.all_gather([own for own, _ in alone]) for own in worker for column in own}
    )
    if from_all and parts:
        first = parts[0].load().X
        warn_of_text(first, from_all, column_kinds(first))
    read = []
    for part, (own, result) in zip(parts, alone, strict=True):
        if own != from_all:
            result = reader.check_part(part, part.load(), from_all or None)
        if isinstance(result, Exception):
            raise result
        result.numbers = [column for column in from_all if column not in own and len(result.seen[column])]
        read.append(result)
    return read


def _check_part_alone(reader: Reader, part: Partition, given: str) -> tuple[list[int], ReadPart | Exception]:
    """Columns of text or categories of a partition, and the partition read with them, or the error."""
    loaded = part.load()
    own = categorical_columns(given, loaded.X, column_kinds(loaded.X))
    try:
        return own, reader.check_part(part, loaded, own or None)
    except (TypeError, ValueError) as error:
        return own, error


def _common_columns(read: list[ReadPart], workers: WorkerCollective) -> PartColumns:
    """Columns of all partitions; ValueError if they differ."""
    different = list(
        dict.fromkeys(columns for own in workers.all_gather([part.columns for part in read]) for columns in own)
    )
    if not different:
        raise ValueError("X has no rows: every partition is empty. At least one row is needed.")
    if len(different) > 1:
        one, other = (
            f"{columns.n_features} columns{f' ({_shown(columns)})' if columns.column_names else ''}, "
            f"{'sparse' if columns.sparse else 'dense'}, {columns.n_targets or 1} target(s) a row"
            for columns in different[:2]
        )
        raise ValueError(f"The partitions differ: one has {one}; another {other}. All must have the same columns.")
    mixed = [column_title(different[0], column) for part in read for column in part.numbers]
    if mixed:
        raise ValueError(
            f"The partitions differ: {mixed[0]} holds text or categories in one and numbers in another. Give it the "
            "same type in all of them."
        )
    return different[0]


def _shown(columns: PartColumns) -> str:
    names = [str(name) for name in columns.column_names or ()]
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _common_classes(read: list[ReadPart], workers: WorkerCollective) -> npt.NDArray[Any]:
    """Classes of all workers, ascending; sets `class_ids` of each partition to indices among them."""
    labels = [
        own for of_worker in workers.all_gather([part.classes for part in read]) for own in of_worker if own is not None
    ]
    if len({own.dtype.kind in TEXT_KINDS for own in labels}) > 1:
        kinds = sorted({str(own.dtype) for own in labels})
        raise ValueError(
            f"y holds labels of different types in different partitions ({', '.join(kinds)}), which have no common "
            "order. Make them alike, for example by y.astype(str)."
        )
    classes = np.unique(np.concatenate(labels))
    # Each label three times: scikit-learn warns if most labels occur only once.
    check_classification_targets(np.tile(classes, 3))
    for part in read:
        assert part.classes is not None
        code_of = np.searchsorted(classes, part.classes).astype(np.min_scalar_type(len(classes)))
        part.class_ids = code_of[part.class_ids]
    return classes


def _weigh_classes(
    estimator: Any, read: list[ReadPart], classes: npt.NDArray[Any], workers: WorkerCollective
) -> FloatArray | None:
    """Multiply row weights by `class_weight`; returns these factors, shape (n_classes,), or None without it."""
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return None
    own = [_exact_totals(part, len(classes)) for part in read]
    from_all = [column for of_worker in workers.all_gather(own) for column in of_worker]
    totals = [sum((column[c] for column in from_all), Fraction(0)) for c in range(len(classes))]
    learned = np.array([total > 0 for total in totals])
    check_classes(classes[learned])
    class_units = np.ones(len(classes))
    class_units[learned] = weights_of_classes(
        class_weight, classes[learned], lambda: [float(total) for total in totals if total > 0]
    )
    for part in read:
        given = np.ones(part.part.n_rows) if part.weights is None else part.weights
        part.weights = given * class_units[part.class_ids]
    return class_units


def _exact_totals(part: ReadPart, n_classes: int) -> list[Fraction]:
    """Exact sums of the weights of each class, so that they do not depend on the division of the rows."""
    if part.weights is None:
        return [Fraction(int(count)) for count in np.bincount(part.class_ids, minlength=n_classes)]
    totals = []
    for class_id in range(n_classes):
        values, counts = np.unique(part.weights[part.class_ids == class_id], return_counts=True)
        totals.append(sum((Fraction(w) * int(n) for w, n in zip(values.tolist(), counts, strict=True)), Fraction(0)))
    return totals


def _check_weights(read: list[ReadPart], weighted: bool, workers: WorkerCollective) -> None:
    """Check the sum and the largest of the weights of all workers."""
    if not weighted:
        return
    given = [part.weights for part in read if part.weights is not None]
    own = (max((float(w.max()) for w in given), default=0.0), float(sum(w.sum() for w in given)))
    kept = int(sum(np.count_nonzero(w) for w in given))
    largest_of, total_of, n_rows_of = zip(*workers.all_gather((*own, kept)), strict=True)
    largest, total, n_rows = max(largest_of), sum(total_of), sum(n_rows_of)
    check_total_weight(largest, total)
    warn_small_total(total, n_rows)


def _used_classes(read: list[ReadPart], classes: npt.NDArray[Any], workers: WorkerCollective) -> npt.NDArray[Any]:
    """Classes of rows with a positive weight; updates `class_ids` to indices among them."""
    own = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(np.unique(part.class_ids) for part in read)]))
    used = np.unique(workers.all_gather_array(own))
    check_classes(classes[used])
    for part in read:
        code_of = np.full(len(classes), 0, dtype=np.uint16)
        code_of[used] = np.arange(len(used))
        part.class_ids = code_of[part.class_ids]
    used_classes: npt.NDArray[Any] = classes[used]
    return used_classes


def _common_categories(
    reader: Reader, read: list[ReadPart], columns: PartColumns, workers: WorkerCollective
) -> Categories:
    """Categories of each column over all workers, at most 255; sets `code_of` of each partition."""
    for part in read:
        if part.kept is not None and part.categories:
            part.seen = used_codes(reader.values(part), part.categories)
    own = {
        column: sorted_categories([[part.categories[column][k] for k in part.seen[column]] for part in read])
        for column in (read[0].categories if read else {})
    }
    by_worker = workers.all_gather(own)
    merged: dict[int, tuple[Category, ...]] = {
        column: sorted_categories([one[column] for one in by_worker if column in one])
        for column in sorted(set().union(*by_worker))
    }
    codes_of = {column: {value: float(k) for k, value in enumerate(known)} for column, known in merged.items()}
    for part in read:
        part.code_of = {
            column: np.array([codes_of[column].get(value, np.nan) for value in known] or [np.nan])
            for column, known in part.categories.items()
        }
    for column, known in merged.items():
        if len(known) <= MOST_CATEGORIES:
            continue
        codes, weights = _codes_of_all_workers(reader, read, column, workers)
        frequent = most_frequent(codes, weights, len(known), columns, column)
        code_of = np.full(len(known) + 1, np.nan)
        code_of[frequent] = np.arange(len(frequent))
        for part in read:
            assert part.code_of is not None
            before = part.code_of[column]
            part.code_of[column] = code_of[np.where(np.isnan(before), len(known), before).astype(np.int64)]
        merged[column] = tuple(known[int(code)] for code in frequent)
    return merged


def _codes_of_all_workers(
    reader: Reader, read: list[ReadPart], column: int, workers: WorkerCollective
) -> tuple[Codes, FloatArray | None]:
    """Codes of a column and weights (None: all 1), of the rows of all workers where it is not missing."""
    codes, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for part in read:
        assert part.code_of is not None
        own = reader.values(part)[:, column]
        there = ~np.isnan(own)
        codes.append(part.code_of[column][own[there].astype(np.int64)].astype(np.int64))
        weights.append(np.zeros(0) if part.weights is None else part.weights[there])
    from_all = workers.all_gather_array(np.concatenate(weights))
    return workers.all_gather_array(np.concatenate(codes)), from_all if len(from_all) else None
