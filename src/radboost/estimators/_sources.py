"""Sources of a fit (MultiSourceBoostClassifier): arguments, and Q(k | x), learned before the first round."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost._validation import resolve_n_jobs
from radboost.rows.domains import DomainModel, fit_domains, fit_own_classifier, shares_of_own
from radboost.rows.partitions import ONE_PROCESS, VALIDATION, LoadedPartition, Partition, Workers, column_of
from radboost.rows.prepare import CheckedRows, Watched
from radboost.rows.read import read_matrix
from radboost.rows.sources import Sources, ids_among, known_sources, on_share_grid, read_sources

Pair = tuple[Any, Any]
Ids = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.int64]


class SourcesOfFit:
    """Arguments of `fit` on sources, checked and read."""

    def __init__(self, estimator: Any, X: Any, sources: Any, validation: Pair, unlabelled: Pair) -> None:
        self._estimator = estimator
        self._X, self._sources = X, sources
        self._X_val, self._sources_val = validation
        self._X_more, self._sources_more = unlabelled
        if (self._X_more is None) != (self._sources_more is None):
            raise ValueError("X_unlabelled and sources_unlabelled belong together; only one of them was given.")
        if self._X_val is None and self._sources_val is not None:
            raise ValueError("sources_val was given without X_val and y_val.")
        if self._sources is None and (self._X_more is not None or self._sources_val is not None):
            raise ValueError(
                "sources_val and sources_unlabelled go with sources, which says where the rows of X come from."
            )

    def read(self, training: CheckedRows, validation: Watched | None) -> Mapping[str, Any]:
        """Sources of training and validation rows, with Q of each row; shape (n_rows, n_sources)."""
        if self._sources is None:
            warnings.warn(
                "fit was given no sources, so that all rows are taken as those of one source: the model is that of a "
                "DeepBoostClassifier. Give the source of each row: fit(X, y, sources=...).",
                UserWarning,
                stacklevel=6,
            )
            return {}
        rows = [LoadedPartition(self._X, sources=self._sources)]
        watched = [LoadedPartition(self._X_val, sources=self._sources_val, role=VALIDATION)]
        n_threads, named = resolve_n_jobs(self._estimator.n_jobs), self._sources_val is not None
        learn = partial(self._learn, training)
        return sources_of_rows(rows, watched, training, validation, learn, n_threads, named=named)

    def _read_more(self, training: CheckedRows, names: npt.NDArray[Any]) -> tuple[Any, npt.NDArray[np.uint16]] | None:
        if self._X_more is None:
            return None
        matrix = read_matrix(self._estimator._reader(training), self._X_more, training.categories)
        given = read_sources(self._sources_more, matrix.shape[0], "sources_unlabelled")
        return matrix, ids_among(given, names, "sources_unlabelled")

    def _learn(self, training: CheckedRows, names: npt.NDArray[Any], ids: Ids) -> Any:
        """The model of Q, learned from the training rows and the unlabeled ones."""
        more = self._read_more(training, names)
        classifier, weights, X = self._estimator.domain_classifier, training.weights, training.X
        if more is not None and weights is not None:
            weights = np.concatenate([weights, np.ones(len(more[1]))])
        if isinstance(classifier, DomainModel):
            return check_fitting(classifier, X.shape[1], names)
        if classifier is None:
            if more is not None:
                X = sparse.vstack([X, more[0]], format="csr") if sparse.issparse(X) else np.vstack([X, more[0]])
                ids = np.concatenate([ids, more[1]])
            return fit_domains(X, ids, weights, training.categories, len(names))
        if isinstance(classifier, FrozenEstimator):
            return classifier
        rows, labels = rows_of(self._X, training.kept) if training.kept is not None else self._X, names[ids]
        if more is not None:
            rows, labels = stacked(rows, self._X_more), np.concatenate([labels, names[more[1]]])
        return fit_own_classifier(classifier, rows, labels, weights)


def sources_of_rows(
    parts: Sequence[Partition],
    validation_parts: Sequence[Partition],
    training: CheckedRows,
    validated: Watched | None,
    learn: Callable[[npt.NDArray[Any], Ids], Any],
    n_threads: int,
    workers: Workers = ONE_PROCESS,
    *,
    named: bool,
) -> dict[str, Sources | None]:
    """Names of all sources, with the source and Q of each row of this process, training and validation rows.

    `learn` returns the model of Q for these names and the source of each training row. `named`: the validation rows
    have sources.
    """
    own = _names_of(parts, training.kept, "sources")
    of_workers = [names for names in workers.all_gather(np.unique(own)) if len(names)]
    names = known_sources(np.concatenate(of_workers))
    ids = ids_among(own, names, "sources") if len(own) else np.zeros(0, dtype=np.uint16)
    domain = learn(names, ids) if len(names) > 1 else None

    def shares(X: Any, of: Sequence[Partition], kept: Indices | None) -> FloatArray:
        if domain is None:
            return np.ones((X.shape[0], 1))
        if isinstance(domain, DomainModel):
            q = domain.shares(X, n_threads)
        else:
            given = [shares_of_own(domain, rows, names) for rows in given_rows(of, kept)]
            q = np.concatenate([np.zeros((0, len(names))), *given])
        return on_share_grid(q, len(training.known_classes))

    sources = Sources(names, ids, shares(training.X, parts, training.kept), domain)
    if validated is None:
        return {"sources": sources, "validation_sources": None}
    ids = np.zeros(len(validated.class_ids), dtype=np.uint16)
    if not named and len(names) > 1:
        raise ValueError(
            f"X_val was given without sources_val; with {len(names)} sources each needs a loss of its own."
        )
    if named and len(ids):
        ids = ids_among(_names_of(validation_parts, validated.kept, "sources_val"), names, "sources_val")
    q = shares(validated.X, validation_parts, validated.kept)
    return {"sources": sources, "validation_sources": Sources(names, ids, q, None)}


def _names_of(parts: Sequence[Partition], kept: Indices | None, name: str) -> npt.NDArray[Any]:
    names = [read_sources(own, n_rows, name) for own, n_rows in column_of(parts, "sources")]
    joined = np.concatenate(names) if names else np.zeros(0)
    return joined if kept is None else joined[kept]


def given_rows(parts: Sequence[Partition], chosen: Indices | None) -> Iterator[Any]:
    """Rows of X of each part in the form that the user passed, at these indices among all rows; None: all."""
    start = 0
    for part in (part for part in parts if part.n_rows):
        own = None if chosen is None else chosen[(chosen >= start) & (chosen < start + part.n_rows)] - start
        X, start = part.load().X, start + part.n_rows
        yield X if own is None else rows_of(X, own)


def check_fitting(model: DomainModel, n_features: int, names: npt.NDArray[Any]) -> DomainModel:
    """Given model of Q, checked for the number of columns and sources."""
    if (len(model.instead), model.n_sources) != (n_features, len(names)):
        raise ValueError(
            f"domain_classifier is a model of {model.n_sources} sources on {len(model.instead)} columns; here are "
            f"{len(names)} sources ({names.tolist()[:10]}) and {n_features} columns."
        )
    return model


def stacked(rows: Any, more: Any) -> Any:
    """Concatenated rows of two tables of equal type, for a user-defined classifier."""
    if sparse.issparse(rows):
        return sparse.vstack([rows, more], format="csr")
    if type(rows).__module__.partition(".")[0] == "pandas":
        import pandas as pd

        return pd.concat([rows, more], ignore_index=True)
    if hasattr(rows, "vstack"):  # polars
        return rows.vstack(more)
    return np.vstack([np.asarray(rows), np.asarray(more)])
