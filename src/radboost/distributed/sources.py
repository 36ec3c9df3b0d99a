"""Sources of the rows of one worker, with Q(k | x) of each row, for fits of MultiSourceBoostClassifier on clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from radboost._typing import FloatArray
from radboost.distributed.domains import fit_on_sample
from radboost.distributed.metadata import WorkerCollective
from radboost.estimators._learning import FitSettings
from radboost.estimators._sources import check_fitting, check_validation_sources
from radboost.rows.domains import DomainModel, shares_of_own
from radboost.rows.partitions import TRAINING, VALIDATION, Partition, column_of, parts_of
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.sources import Sources, ids_among, known_sources, on_share_grid, read_sources


def sources_of(
    estimator: Any,
    parts: Sequence[Partition],
    training: CheckedRows,
    prepared: PreparedRows,
    workers: WorkerCollective,
    settings: FitSettings,
    *,
    first: bool,
    val_named: bool,
) -> Mapping[str, Any]:
    """Names of all sources, with the source and Q of each row of this worker, training and validation rows."""
    rows = [part for part in parts_of(parts, TRAINING) if part.n_rows]
    own = _names_of(rows, training.kept, "sources")
    of_workers = [names for names in workers.all_gather(np.unique(own)) if len(names)]
    names = known_sources(np.concatenate(of_workers))
    ids = ids_among(own, names, "sources") if len(own) else np.zeros(0, dtype=np.uint16)
    domain = None
    if len(names) > 1:
        named = replace(prepared, sources=Sources(names, ids, np.zeros((len(ids), 1)), None))
        domain = _domain(estimator, parts, training, named, workers, settings, first)

    def shares(X: Any, of: Sequence[Partition], kept: npt.NDArray[np.int64] | None) -> FloatArray:
        if domain is None:
            return np.ones((X.shape[0], 1))
        if isinstance(domain, DomainModel):
            q = domain.shares(X, settings.growth.n_threads)
        else:
            of_parts = [shares_of_own(domain, part.load().X, names) for part in of]
            q = _kept(np.concatenate([np.zeros((0, len(names))), *of_parts]), kept)
        return on_share_grid(q, len(training.known_classes))

    of_rows = Sources(names, ids, shares(training.X, rows, training.kept), domain)
    validated, of_validated = prepared.validation, None
    if validated is not None:
        validation_parts = [part for part in parts_of(parts, VALIDATION) if part.n_rows]
        ids = np.zeros(len(validated.class_ids), dtype=np.uint16)
        if not val_named:
            check_validation_sources(len(names))
        elif len(ids):
            ids = ids_among(_names_of(validation_parts, validated.kept, "sources_val"), names, "sources_val")
        of_validated = Sources(names, ids, shares(validated.X, validation_parts, validated.kept), None)
    return {"sources": of_rows, "validation_sources": of_validated}


def _names_of(parts: Sequence[Partition], kept: npt.NDArray[np.int64] | None, name: str) -> npt.NDArray[Any]:
    names = [read_sources(own, n_rows, name) for own, n_rows in column_of(parts, "sources")]
    return _kept(np.concatenate(names), kept) if names else np.zeros(0)


def _kept(values: npt.NDArray[Any], kept: npt.NDArray[np.int64] | None) -> npt.NDArray[Any]:
    return values if kept is None else values[kept]


def _domain(
    estimator: Any,
    parts: Sequence[Partition],
    training: CheckedRows,
    prepared: PreparedRows,
    workers: WorkerCollective,
    settings: FitSettings,
    first: bool,
) -> Any:
    """Q as it was given, or learned from a sample of the rows."""
    assert prepared.sources is not None
    domain = estimator.domain_classifier
    if isinstance(domain, DomainModel):
        return check_fitting(domain, training.n_features, prepared.sources.names)
    if isinstance(domain, FrozenEstimator):
        return domain
    return fit_on_sample(estimator, parts, training, prepared, workers, settings, first=first)
