"""Measures beside the error."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray


def coverage(y_true: Any, scores: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """The mean rank of the true class among the scores: 0 where it is first, 2 where it is third.

    Boosting with Structural Sparsity, section 10. It is at least the error, and tells how wrong a wrong answer is.
    Classes with the same score as the true one count half, as if ties were broken by chance.

    Parameters
    ----------
    y_true : array of labels
    scores : array of shape (n_rows, n_classes), or one score per row for two classes
    classes : array of the labels of the columns, ascending; None for 0, 1, ...
    sample_weight : array or None
    """
    values = _columns(np.asarray(scores, dtype=np.float64))
    labels = np.arange(values.shape[1]) if classes is None else np.asarray(classes)
    if len(labels) != values.shape[1]:
        raise ValueError(f"scores have {values.shape[1]} columns for {len(labels)} classes; one for each is needed.")
    places = _places(np.asarray(y_true), labels)
    if len(places) != len(values):
        raise ValueError(f"y_true has {len(places)} labels for {len(values)} rows of scores.")
    own = values[np.arange(len(values)), places][:, None]
    ranks = (values > own).sum(axis=1) + 0.5 * ((values == own).sum(axis=1) - 1)
    return float(np.average(ranks, weights=sample_weight))


def _columns(scores: FloatArray) -> FloatArray:
    """One score per row is the lead of the second class."""
    if scores.ndim == 1:
        return np.column_stack([np.zeros(len(scores)), scores])
    if scores.ndim != 2:
        raise ValueError(f"scores must have a row for each row and a column for each class; got shape {scores.shape}.")
    return scores


def _places(y: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    places = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
    unknown = np.flatnonzero(labels[places] != y)
    if len(unknown):
        raise ValueError(f"y_true holds {y[unknown[0]]!r}, which is not one of the classes {labels.tolist()[:10]}.")
    return places
