"""Sources of a fit (MultiSourceBoostClassifier), with Q(k | x) of each row, learned before the first round."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost._validation import resolve_n_jobs
from radboost.estimators._held_back import sample
from radboost.rows.domains import (
    MOST_DENSE_CELLS,
    DomainModel,
    canonical,
    check_fitting,
    fit_domains,
    fit_own_classifier,
    hashes_of,
    probabilities_of,
    stacked,
)
from radboost.rows.fields import Indices, Rows
from radboost.rows.partitions import ONE_PROCESS, TRAINING, UNLABELLED, VALIDATION, Partition, Workers
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.read import read_matrix
from radboost.rows.sources import Ids, Sources, ids_among, known_sources, read_sources

# Largest number of distinct rows that Q is learned from on several workers; `MOST_DENSE_CELLS` limits them further.
# They are gathered, and one worker learns from them while the others wait. The standard error of the logits of p
# columns is about sqrt(p / n), 0.015 for 30 columns: less than the error of a linear model.
MOST_ROWS = 2**17


def check_sources(sources: Any, X_val: Any, sources_val: Any, X_unlabelled: Any, sources_unlabelled: Any) -> None:
    """Raise ValueError for arguments of `fit` that do not belong together."""
    if (X_unlabelled is None) != (sources_unlabelled is None):
        raise ValueError("X_unlabelled and sources_unlabelled belong together; only one of them was given.")
    if X_val is None and sources_val is not None:
        raise ValueError("sources_val was given without X_val and y_val.")
    if sources is None and (X_unlabelled is not None or sources_val is not None):
        raise ValueError(
            "sources_val and sources_unlabelled go with sources, which says where the rows of X come from."
        )


@dataclass(frozen=True)
class Sample:
    """Rows that Q is learned from."""

    rows: Any  # as they were read; for a user-defined classifier as they were given; None: there are none
    ids: Ids
    weights: FloatArray | None
    hashes: npt.NDArray[np.uint64] | None = None  # of the rows, which are sorted by them; None: in this order


@dataclass(frozen=True)
class SourceReader:
    """Reader of the sources of the rows of this process, which learns Q together with the other processes."""

    estimator: Any  # which has read the training rows
    parts: Sequence[Partition]
    training: CheckedRows
    validation: Rows | None
    workers: Workers = ONE_PROCESS
    prepared: PreparedRows | None = None  # training rows, of which a sample is drawn for Q; None: Q is of all rows
    seed: int = 0  # of the sample
    first: bool = True  # whether this process learns Q

    def read(self) -> tuple[Sources | None, Sources | None]:
        """Sources of the training rows, as they were given, and of the validation rows; None: they have one."""
        own = self.training.source_names
        if own is None:
            warnings.warn(
                "fit was given no sources, so that all rows are taken as those of one source: the model is that of a "
                "DeepBoostClassifier. Give the source of each row: fit(X, y, sources=...).",
                UserWarning,
                stacklevel=6,
            )
            return None, None
        names = known_sources(np.concatenate([some for some in self.workers.all_gather(np.unique(own)) if len(some)]))
        ids = ids_among(own, names, "sources")
        rows: list[tuple[str, CheckedRows | Rows, Ids]] = [(TRAINING, self.training, ids)]
        if self.validation is not None:
            rows.append((VALIDATION, self.validation, _validation_ids(names, self.validation)))
        domain = None if len(names) == 1 else self._domain(names, ids)
        n_classes, sources = len(self.training.known_classes), list[Sources]()
        for role, checked, own_ids in rows:
            given = self._given_rows(role, checked.kept)
            shares = probabilities_of(domain, checked.X, given, names, n_classes, self._n_threads)
            sources.append(Sources(names, own_ids, shares, domain))
        return sources[0], sources[1] if len(sources) > 1 else None

    @property
    def _n_threads(self) -> int:
        return resolve_n_jobs(self.estimator.n_jobs)

    def _parts(self, role: str) -> list[Partition]:
        """Parts of this role that have rows; those of one machine also without, to be refused."""
        return [part for part in self.parts if part.role == role and (part.n_rows or self.prepared is None)]

    def _given_rows(self, role: str, kept: Indices | None) -> Iterator[Any]:
        """X of each part as the user passed it, of the rows with these indices; None: of all."""
        first = 0
        for part in self._parts(role):
            own = None if kept is None else kept[(kept >= first) & (kept < first + part.n_rows)] - first
            if own is None or len(own):
                rows = part.load().X
                yield rows if own is None else rows_of(rows, own)
            first += part.n_rows

    def _domain(self, names: npt.NDArray[Any], ids: Ids) -> Any:
        """Q as it was given, or learned by the first process: a `DomainModel`, or a user-defined classifier."""
        classifier = self.estimator.domain_classifier
        ready = isinstance(classifier, DomainModel | FrozenEstimator)
        most = max(1, min(MOST_ROWS, MOST_DENSE_CELLS // max(1, self.training.n_features)))
        unlabelled = self._unlabelled(names, None if ready or self.prepared is None else most)
        if ready:
            check_fitting(classifier, self.training.n_features, names)
            return classifier
        own = joined([self._training(names, ids, most), *unlabelled])
        if classifier is None and self.prepared is not None:
            # Sums of whole weights are exact in any order: copies are sent once.
            whole = self.training.weights is None or self.prepared.row_weights().native.whole
            own = Sample(*canonical(own.rows, own.ids, own.weights)) if whole and len(own.ids) else own
        of_all = self.workers.all_gather(own)
        return self.workers.all_gather(self._learned(joined(of_all), names) if self.first else None)[0]

    def _training(self, names: npt.NDArray[Any], ids: Ids, most: int) -> Sample:
        """Training rows; on several workers a sample of about `most` distinct ones, or all if there are no more."""
        X, weights, chosen = self.training.X, self.training.weights, self.training.kept
        if self.prepared is not None:
            of_rows = Sources(names, ids, np.zeros((len(ids), 1)))
            of_source = replace(self.prepared, sources=of_rows.select(self.prepared.order))
            n_different = self.prepared.n_different(self._n_threads)
            drawn = sample(of_source, most, n_different, self.seed, self._n_threads)
            indices = np.sort(drawn.order).astype(np.int64)
            X, ids, weights = X[indices], ids[indices], None if weights is None else weights[indices]
            chosen = indices if chosen is None else chosen[indices]
        return self._sample(X, ids, weights, self._given_rows(TRAINING, chosen))

    def _unlabelled(self, names: npt.NDArray[Any], most: int | None) -> list[Sample]:
        """Rows for Q without labels, of each part; at most `most` of all processes."""
        parts = self._parts(UNLABELLED)
        n_rows = sum(self.workers.all_gather(sum(part.n_rows for part in parts)))
        if most is not None and n_rows > most:
            raise ValueError(
                f"X_unlabelled has {n_rows} rows, and Q learns from {most} of so many columns at most on several "
                "workers. Give a sample of them."
            )
        samples = []
        for loaded in (part.load() for part in parts):
            matrix = read_matrix(self.estimator, loaded.X, self.training.categories)
            sources = read_sources(loaded.sources, matrix.shape[0], "sources_unlabelled")
            samples.append(self._sample(matrix, ids_among(sources, names, "sources_unlabelled"), None, [loaded.X]))
        return samples

    def _sample(self, matrix: Any, ids: Ids, weights: FloatArray | None, given: Iterable[Any]) -> Sample:
        if self.estimator.domain_classifier is None:
            return Sample(matrix, ids, weights)
        tables = list(given)
        hashes = None if self.prepared is None else hashes_of(matrix)
        return Sample(stacked(tables) if tables else None, ids, weights, hashes)

    def _learned(self, sample: Sample, names: npt.NDArray[Any]) -> Any:
        classifier, rows, ids, weights = self.estimator.domain_classifier, sample.rows, sample.ids, sample.weights
        if classifier is None:
            return fit_domains(rows, ids, weights, self.training.categories, len(names))
        if sample.hashes is not None:
            # In an order by content: classifiers may depend on the order, which differs between workers.
            order = np.lexsort((np.ones(len(ids)) if weights is None else weights, ids, sample.hashes))
            rows, ids, weights = rows_of(rows, order), ids[order], None if weights is None else weights[order]
        return fit_own_classifier(classifier, rows, names[ids], weights)


def _validation_ids(names: npt.NDArray[Any], validation: Rows) -> Ids:
    if validation.source_names is not None:
        return ids_among(validation.source_names, names, "sources_val")
    if len(names) > 1:
        raise ValueError(
            f"X_val was given without sources_val; with {len(names)} sources each needs a loss of its own."
        )
    return np.zeros(len(validation.class_ids), dtype=np.uint16)


def joined(samples: Sequence[Sample]) -> Sample:
    """Concatenated samples; rows of samples without weights get weight 1 if others have weights."""
    samples = [one for one in samples if len(one.ids)] or samples[:1]
    if len(samples) == 1:
        return samples[0]
    weights = hashes = None
    if any(one.weights is not None for one in samples):
        weights = np.concatenate([np.ones(len(one.ids)) if one.weights is None else one.weights for one in samples])
    if samples[0].hashes is not None:
        hashes = np.concatenate([one.hashes for one in samples])
    return Sample(stacked([one.rows for one in samples]), np.concatenate([one.ids for one in samples]), weights, hashes)
