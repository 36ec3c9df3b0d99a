"""Sources of the rows of one worker, with Q(k | x) of each row, for fits of MultiSourceBoostClassifier on clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from radboost.distributed.domains import fit_on_sample
from radboost.distributed.metadata import WorkerCollective
from radboost.estimators._learning import FitSettings
from radboost.estimators._sources import check_fitting, sources_of_rows
from radboost.rows.domains import DomainModel
from radboost.rows.partitions import TRAINING, VALIDATION, Partition, parts_of
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.sources import Sources


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

    def learn(names: Any, ids: Any) -> Any:
        """Q as it was given, or learned from a sample of the rows."""
        domain = estimator.domain_classifier
        if isinstance(domain, DomainModel):
            return check_fitting(domain, training.n_features, names)
        if isinstance(domain, FrozenEstimator):
            return domain
        named = replace(prepared, sources=Sources(names, ids, np.zeros((len(ids), 1)), None))
        return fit_on_sample(estimator, parts, training, named, workers, settings, first=first)

    rows, validation = parts_of(parts, TRAINING), parts_of(parts, VALIDATION)
    n_threads = settings.growth.n_threads
    return sources_of_rows(rows, validation, training, prepared.validation, learn, n_threads, workers, named=val_named)
