"""Digests of training rows that depend neither on the order of the rows nor on their division among workers."""

from __future__ import annotations

import numpy as np

from radboost.rows.hashing import Hashes, joined, row_hashes
from radboost.rows.prepare import PreparedRows, Watched, digest_of
from radboost.rows.weights import RowWeights

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)


def content_digests(prepared: PreparedRows, n_threads: int) -> dict[str, str]:
    """Compute `PreparedRows.digests` over the rows of all workers, for any order; all workers must call it together.

    A row enters by its bins, and the thresholds of the bins enter too.
    """
    data, order = prepared.data, prepared.order
    bins = [data.thresholds(column) for column in range(data.n_columns)]
    own = prepared.row_hashes(n_threads)
    sums = {"rows": own, "labels": joined(own, prepared.targets), "weights": joined(own, prepared.weights)}
    if prepared.offset is not None:
        sums["offsets"] = joined(own, prepared.offset)
    if prepared.costs is not None:
        costs = prepared.costs
        sums["costs"] = joined(own, costs.scale * costs.table[order].astype(np.float64) + costs.floor[order, None])
    if prepared.sources is not None:
        sources = prepared.sources
        sums["sources"] = joined(own, np.column_stack([sources.ids[order], sources.shares[order]]).astype(np.float64))
    columns = [prepared.n_features, prepared.feature_names, sorted(prepared.categories.items())]
    found = {"columns": digest_of(columns)}
    weights = prepared.row_weights()
    found |= {name: _sum_over_all(hashes, weights) for name, hashes in sums.items()}
    found["rows"] = digest_of([found["rows"], *bins])
    found["labels"] = digest_of([found["labels"], prepared.classes])
    if prepared.validation is not None:
        watched = prepared.validation
        own = _of_watched(watched)
        found["validation rows"] = _sum_over_all(own, watched.row_weights())
        if watched.offset is not None:
            found["validation offsets"] = _sum_over_all(joined(own, watched.offset), watched.row_weights())
    if prepared.metrics:
        found["metrics"] = digest_of([[metric.name for metric in prepared.metrics]])
    return found


def _of_watched(rows: Watched) -> Hashes:
    labels = joined(row_hashes(rows.X), rows.class_ids)
    return joined(joined(labels, rows.targets), rows.weights)


def _sum_over_all(hashes: Hashes, weights: RowWeights) -> str:
    """Digest of the sum of all workers' hashes; 32-bit halves are summed apart, so that 2^31 rows fit 64 bits."""
    halves = np.array([(hashes >> HALF).sum(), (hashes & LOW).sum(), len(hashes)], dtype=np.uint64).astype(np.int64)
    return digest_of([weights.native.add_integers(halves).tolist()])
