"""Validation rows, offsets and costs of one worker, checked together with the other workers."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost._validation import check_total_weight, read_sample_weight
from radboost.distributed.arguments import SUFFIXES
from radboost.distributed.metadata import WorkerCollective
from radboost.distributed.partitions import Partition
from radboost.rows.costs import Costs, make_costs, read_some_costs
from radboost.rows.offsets import read_offset
from radboost.rows.prepare import CheckedRows, Watched
from radboost.rows.read import dense_rows, known_labels, read_more_rows, read_targets


def select_kept(values: npt.NDArray[Any], kept: npt.NDArray[np.int64] | None) -> npt.NDArray[Any]:
    """Values of the rows with a positive weight, from values of all rows; `kept`: their indices, None: all."""
    return values if kept is None else values[kept]


def reader_of(estimator: Any, training: CheckedRows) -> Any:
    """Copy of the estimator with the columns of the training rows, for reading further rows."""
    reader = copy(estimator)
    reader.n_features_in_ = training.rows.n_features
    reader.__dict__.pop("feature_names_in_", None)
    if training.feature_names is not None:
        reader.feature_names_in_ = training.feature_names
    return reader


def read_validation_rows(
    estimator: Any, parts: Sequence[Partition], training: CheckedRows, workers: WorkerCollective, *, weighted: bool
) -> Watched:
    """Read the validation rows of this worker (there may be none); `weighted`: weights were given."""
    given = [part.load() for part in parts if part.n_rows]
    reader, categories = reader_of(estimator, training), training.rows.categories
    read = [read_more_rows(reader, part.X, part.y, categories) for part in given]
    weights = None
    if weighted:
        of_parts = [read_sample_weight(part.sample_weight, part.n_rows, "sample_weight_val") for part in given]
        weights = np.concatenate([np.zeros(0), *of_parts])
        largest, totals = zip(*workers.all_gather((float(weights.max(initial=0.0)), float(weights.sum()))), strict=True)
        check_total_weight(max(largest), sum(totals), "sample_weight_val")
    dense = [dense_rows(rows.X) for rows in read]
    by_worker = workers.all_gather([(str(X.dtype), len(X)) for X in dense])
    if not any(height for blocks in by_worker for _, height in blocks):
        raise ValueError("X_val has no rows: every partition is empty. At least one row is needed.")
    dtype = np.float64 if any(name == "float64" for blocks in by_worker for name, _ in blocks) else np.float32
    X: Any = np.concatenate([np.zeros((0, training.rows.n_features), dtype=dtype), *dense]).astype(dtype, copy=False)
    class_ids, targets = np.zeros(len(X), dtype=np.uint16), None
    if training.classes is None:
        assert training.targets is not None
        empty = [] if read else [np.zeros((0, *training.targets.shape[1:]))]
        targets = np.concatenate([*empty, *(read_targets(rows.y, "y_val") for rows in read)])
    else:
        known = [known_labels(rows.y, training.classes) for rows in read]
        class_ids = np.concatenate([np.zeros(0, dtype=np.uint16), *known])
    kept = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0)
    return Watched(
        X[kept],
        class_ids[kept],
        None if weights is None else weights[kept],
        None if targets is None else targets[kept],
        collective=workers,
        kept=kept,
        n_given=len(X),
    )


def offsets_of(
    parts: Sequence[Partition],
    kept: npt.NDArray[np.int64] | None,
    training: CheckedRows,
    workers: WorkerCollective,
    role: str,
) -> FloatArray | None:
    """Offsets of the kept rows of this worker, shape (n_rows,) or (n_rows, n_outputs); None: no worker has any."""
    suffix, n_outputs = SUFFIXES[role], training.n_outputs
    names: dict[str, Any] = {
        "name": f"offset{suffix}",
        "rows": f"X{suffix}",
        "of_classes": training.classes is not None,
    }
    given = [part for part in parts if part.n_rows]
    offsets = [read_offset(part.load().offset, part.n_rows, n_outputs, **names) for part in given]
    shape = () if n_outputs == 1 else (n_outputs,)
    filled = [np.zeros((part.n_rows, *shape)) if one is None else one for part, one in zip(given, offsets, strict=True)]
    offset = select_kept(np.concatenate([np.zeros((0, *shape)), *filled]), kept)
    return np.ascontiguousarray(offset) if any(workers.all_gather(bool(offset.any()))) else None


def costs_of(
    parts: Sequence[Partition],
    kept: npt.NDArray[np.int64] | None,
    training: CheckedRows,
    workers: WorkerCollective,
    role: str,
) -> Costs:
    """Cost of each prediction for the kept rows of this worker, in units of the largest cost of all workers."""
    suffix, classes = SUFFIXES[role], training.known_classes
    name = f"cost{suffix}"
    given = [part for part in parts if part.n_rows]
    costs = [read_some_costs(part.load().cost, part.n_rows, classes, name, f"X{suffix}") for part in given]
    examples = select_kept(np.concatenate([np.zeros((0, len(classes))), *costs]), kept)
    return make_costs(None, examples, len(classes), name=name, largest_of_all=lambda own: max(workers.all_gather(own)))


def parts_of(parts: Sequence[Partition], role: str) -> list[Partition]:
    """Partitions whose rows have this role (training, validation, unlabelled)."""
    return [part for part in parts if part.role == role]
