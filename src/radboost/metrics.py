"""Measures beside the error."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_sample_weight
from radboost.objectives.over_sources import agnostic, read_mixtures, vertices_of
from radboost.rows.read import known_labels
from radboost.rows.sources import ids_among, known_sources, read_sources


def coverage(y_true: Any, scores: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Mean rank of the true class among the scores: 0 where it is first, 2 where it is third.

    Boosting with Structural Sparsity, section 10. It is at least the error, and grows with how wrong predictions are.
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
    indices = known_labels(np.asarray(y_true), labels, "y_true")
    if len(indices) != len(values):
        raise ValueError(f"y_true has {len(indices)} labels for {len(values)} rows of scores.")
    own = values[np.arange(len(values)), indices][:, None]
    ranks = (values > own).sum(axis=1) + 0.5 * ((values == own).sum(axis=1) - 1)
    return float(np.average(ranks, weights=sample_weight))


def agnostic_error(y_true: Any, y_pred: Any, sources: Any, *, sample_weight: Any = None, mixtures: Any = None) -> float:
    """The error of the worst source, or of the worst of some mixtures of the sources.

    Storcheus, equation (4.1) with the zero-one loss.

    Parameters
    ----------
    y_true, y_pred : arrays of labels
    sources : array
        The source of each row.
    sample_weight : array or None
    mixtures : array, data frame, Mixtures, or None
        The corners of the set of mixtures, as for `MultiSourceBoostClassifier`; None for all.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.shape != predicted.shape or truth.ndim != 1:
        raise ValueError(
            f"y_true and y_pred must be lists of labels of one length; got {truth.shape} and {predicted.shape}."
        )
    given_sources = read_sources(sources, len(truth))
    names = known_sources(given_sources)
    ids = ids_among(given_sources, names, "sources")
    given = check_sample_weight(sample_weight, len(truth))
    weights = np.ones(len(truth)) if given is None else given
    totals = np.bincount(ids, weights, len(names))
    if (totals == 0).any():
        kept = totals[ids] > 0
        part = None if given is None else given[kept]
        return agnostic_error(truth[kept], predicted[kept], given_sources[kept], sample_weight=part, mixtures=mixtures)
    errors = np.bincount(ids, weights * (truth != predicted), len(names)) / totals
    return agnostic(errors, vertices_of(read_mixtures(mixtures), names))


def _columns(scores: FloatArray) -> FloatArray:
    """One score per row is the lead of the second class."""
    if scores.ndim == 1:
        return np.column_stack([np.zeros(len(scores)), scores])
    if scores.ndim != 2:
        raise ValueError(f"scores must have a row for each row and a column for each class; got shape {scores.shape}.")
    return scores
