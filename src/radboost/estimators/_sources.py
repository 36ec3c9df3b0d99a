"""Sources of a fit (MultiSourceBoostClassifier): arguments, and Q(k | x), learned before the first round."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost._validation import resolve_n_jobs
from radboost.rows.domains import DomainModel, fit_domains, fit_own_classifier, shares_of_own
from radboost.rows.prepare import CheckedRows, Watched
from radboost.rows.read import read_matrix
from radboost.rows.sources import Sources, ids_among, known_sources, on_share_grid, read_sources

Pair = tuple[Any, Any]


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
        given = _kept(read_sources(self._sources, training.n_given), training.kept)
        names = known_sources(given)
        ids = ids_among(given, names, "sources")
        domain = None if len(names) == 1 else self._learn(training, given, ids, names)

        def probabilities(matrix: Any, X: Any, kept: npt.NDArray[np.int64] | None) -> FloatArray:
            if domain is None:
                return np.ones((matrix.shape[0], 1))
            return on_share_grid(self._probabilities(domain, matrix, X, kept, names), len(training.known_classes))

        sources = Sources(names, ids, probabilities(training.X, self._X, training.kept), domain)
        if validation is None:
            return {"sources": sources, "validation_sources": None}
        of_validation = probabilities(validation.X, self._X_val, validation.kept)
        ids = self._validation_ids(validation, names)
        return {"sources": sources, "validation_sources": Sources(names, ids, of_validation, None)}

    def _validation_ids(self, validation: Watched, names: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
        if self._sources_val is None:
            check_validation_sources(len(names))
            return np.zeros(len(validation.class_ids), dtype=np.uint16)
        given = _kept(read_sources(self._sources_val, validation.n_given, "sources_val"), validation.kept)
        return ids_among(given, names, "sources_val")

    def _read_more(self, training: CheckedRows, names: npt.NDArray[Any]) -> tuple[Any, npt.NDArray[np.uint16]] | None:
        if self._X_more is None:
            return None
        matrix = read_matrix(self._estimator._reader(training), self._X_more, training.categories)
        given = read_sources(self._sources_more, matrix.shape[0], "sources_unlabelled")
        return matrix, ids_among(given, names, "sources_unlabelled")

    def _learn(
        self,
        training: CheckedRows,
        given: npt.NDArray[Any],
        ids: npt.NDArray[np.uint16],
        names: npt.NDArray[Any],
    ) -> Any:
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
        rows, labels = rows_of(self._X, training.kept) if training.kept is not None else self._X, given
        if more is not None:
            rows, labels = stacked(rows, self._X_more), np.concatenate([labels, names[more[1]]])
        return fit_own_classifier(classifier, rows, labels, weights)

    def _probabilities(
        self, domain: Any, matrix: Any, given: Any, kept: npt.NDArray[np.int64] | None, names: npt.NDArray[Any]
    ) -> FloatArray:
        if isinstance(domain, DomainModel):
            return domain.shares(matrix, resolve_n_jobs(self._estimator.n_jobs))
        return shares_of_own(domain, given if kept is None else rows_of(given, kept), names)


def check_validation_sources(n_sources: int) -> None:
    """Raise ValueError for validation rows without sources if there are several sources."""
    if n_sources > 1:
        raise ValueError(f"X_val was given without sources_val; with {n_sources} sources each needs a loss of its own.")


def _kept(values: npt.NDArray[Any], kept: npt.NDArray[np.int64] | None) -> npt.NDArray[Any]:
    return values if kept is None else values[kept]


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
