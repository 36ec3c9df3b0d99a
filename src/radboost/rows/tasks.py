"""Labels of several tasks with two classes each, some of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import is_missing, known_form, without_arrow, without_mask
from radboost._typing import FloatArray
from radboost.rows.read import plain_labels

Labels = npt.NDArray[Any]


def as_tasks(y: Any) -> Labels:
    """Checked labels of shape (n_rows, n_tasks)."""
    y = without_mask(y, "y", "y.filled(np.nan) makes missing labels of them")
    labels = known_form(y, "y").toarray() if sparse.issparse(y) else np.asarray(without_arrow(y))
    if labels.ndim == 1:
        labels = labels[:, None]
    if labels.ndim != 2 or not labels.shape[1]:
        raise ValueError(
            f"y must have a column of labels for each task; got the shape {labels.shape}. Reshape your data."
        )
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: labels are numbers, strings or booleans.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity; a label is finite, or NaN where it is missing.")
    return labels


def missing_labels(labels: Labels) -> npt.NDArray[np.bool_]:
    """Mask of labels that are NaN, None or pandas' NA; shape (n_rows, n_tasks)."""
    if labels.dtype.kind in "fmM":
        return np.isnan(labels) if labels.dtype.kind == "f" else np.isnat(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    return np.array([[is_missing(label) for label in line] for line in labels], dtype=bool).reshape(labels.shape)


def read_tasks(labels: Labels) -> tuple[list[Labels], FloatArray]:
    """The two labels of each task in ascending order, and -1, +1 or NaN (missing), shape (n_tasks, n_rows)."""
    missing = missing_labels(labels)
    classes, signs = [], np.full(labels.shape[::-1], np.nan)
    for task in range(labels.shape[1]):
        known = ~missing[:, task]
        found, places = np.unique(plain_labels(labels[known, task]), return_inverse=True)
        if len(found) != 2:
            _complain(task, found, labels.dtype.kind)
        classes.append(found)
        signs[task, known] = 2.0 * places.ravel() - 1.0
    return classes, signs


def _complain(task: int, found: Labels, kind: str) -> None:
    shown = f" ({found.tolist()})" if len(found) <= 5 else ""
    said = f"Column {task} of y holds {len(found)} different labels{shown}"
    if len(found) < 2:
        raise ValueError(f"{said}: with one class there is nothing to tell apart. Leave the task out.")
    type_of_target = "continuous" if kind == "f" and (found != np.floor(found)).any() else "multiclass"
    raise ValueError(
        f"Only binary classification is supported. The type of the target is {type_of_target} "
        f"(Unknown label type: {type_of_target}). {said}; make a task of each label."
    )
