"""Q(k | x) for fits on clusters: learned by one worker from a sample of the rows of all workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost.distributed.metadata import WorkerCollective
from radboost.estimators._held_back import sample
from radboost.estimators._learning import FitSettings
from radboost.estimators._sources import given_rows, stacked
from radboost.rows.domains import MOST_DENSE_CELLS, canonical, fit_domains, fit_own_classifier, hashes_of
from radboost.rows.partitions import TRAINING, UNLABELLED, Partition, parts_of
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.read import read_matrix
from radboost.rows.sources import ids_among, read_sources

# Largest number of distinct rows that Q is learned from; `MOST_DENSE_CELLS` limits them further. They are gathered,
# and one worker learns from them while the others wait. The standard error of the logits of p columns is about
# sqrt(p / n), 0.015 for 30 columns: less than the error of a linear model.
MOST_ROWS = 2**17

Ids = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class Sample:
    """Rows of this worker that Q may learn from."""

    matrix: Any
    ids: Ids
    weights: FloatArray | None
    given: Any = None  # rows in the form that the user passed, for a user-defined classifier; None: built-in model


def fit_on_sample(
    estimator: Any,
    parts: Sequence[Partition],
    training: CheckedRows,
    prepared: PreparedRows,
    workers: WorkerCollective,
    settings: FitSettings,
    *,
    first: bool,
) -> Any:
    """Q, learned by the first worker: a `DomainModel`, or a fitted user-defined classifier.

    With at most `MOST_ROWS` distinct rows all are in the sample. Q then equals that of a fit on one machine, unless it
    depends on the order of the rows.
    """
    assert prepared.sources is not None
    names, classifier = prepared.sources.names, estimator.domain_classifier
    most = max(1, min(MOST_ROWS, MOST_DENSE_CELLS // max(1, prepared.n_features)))
    n_threads = settings.growth.n_threads
    sampled = sample(prepared, most, prepared.n_different(n_threads), settings.growth.seed, n_threads)
    indices = np.sort(sampled.order).astype(np.int64)
    more = _read_unlabelled(estimator, parts_of(parts, UNLABELLED), training, names, workers, most)
    own = Sample(
        training.X[indices],
        prepared.sources.ids[indices],
        None if training.weights is None else training.weights[indices],
        None if classifier is None else _as_given(parts_of(parts, TRAINING), training, indices),
    )
    own = own if more is None else _together([own, more])
    if classifier is None and (own.weights is None or prepared.row_weights().native.whole):
        # Sums of whole weights are exact in any order: copies are sent once.
        own = (
            Sample(*canonical(own.matrix, own.ids, own.weights)) if len(own.ids) else replace(own, weights=np.zeros(0))
        )
    of_all = [one for one in workers.all_gather(own) if len(one.ids)]
    learned = _learned(classifier, _together(of_all), training, names) if first else None
    return workers.all_gather(learned)[0]


def _learned(classifier: Any, sample: Sample, training: CheckedRows, names: npt.NDArray[Any]) -> Any:
    if classifier is None:
        return fit_domains(sample.matrix, sample.ids, sample.weights, training.categories, len(names))
    # In an order by content: classifiers may depend on the order, which differs between workers.
    counts = np.ones(len(sample.ids)) if sample.weights is None else sample.weights
    order = np.lexsort((counts, sample.ids, hashes_of(sample.matrix)))
    weights = None if sample.weights is None else sample.weights[order]
    return fit_own_classifier(classifier, rows_of(sample.given, order), names[sample.ids[order]], weights)


def _together(samples: Sequence[Sample]) -> Sample:
    """Concatenated samples; rows of samples without weights get weight 1 if others have weights."""
    matrices = [one.matrix for one in samples]
    matrix = sparse.vstack(matrices, format="csr") if sparse.issparse(matrices[0]) else np.vstack(matrices)
    weights = None
    if any(one.weights is not None for one in samples):
        weights = np.concatenate([np.ones(len(one.ids)) if one.weights is None else one.weights for one in samples])
    given = samples[0].given
    for one in samples[1:]:
        given = None if given is None else stacked(given, one.given)
    return Sample(matrix, np.concatenate([one.ids for one in samples]), weights, given)


def _as_given(parts: Sequence[Partition], training: CheckedRows, indices: npt.NDArray[np.int64]) -> Any:
    """Rows of X in the form that the user passed, by indices among rows with a weight; None: this worker has none."""
    rows = list(given_rows(parts, indices if training.kept is None else training.kept[indices]))
    return reduce(stacked, rows) if rows else None


def _read_unlabelled(
    estimator: Any,
    parts: Sequence[Partition],
    training: CheckedRows,
    names: npt.NDArray[Any],
    workers: WorkerCollective,
    most: int,
) -> Sample | None:
    """Rows for Q without labels; None if this worker has none."""
    given = [part.load() for part in parts if part.n_rows]
    n_rows = sum(workers.all_gather(sum(part.n_rows for part in given)))
    if n_rows > most:
        raise ValueError(
            f"X_unlabelled has {n_rows} rows, and Q learns from {most} of so many columns at most on several workers. "
            "Give a sample of them."
        )
    samples = []
    for part in given:
        matrix = read_matrix(estimator, part.X, training.categories)
        sources = read_sources(part.sources, matrix.shape[0], "sources_unlabelled")
        samples.append(Sample(matrix, ids_among(sources, names, "sources_unlabelled"), None, part.X))
    return _together(samples) if samples else None
