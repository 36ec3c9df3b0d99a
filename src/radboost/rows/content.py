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
    data, order, weights = prepared.data, prepared.order, prepared.row_weights()
    bins = [data.thresholds(column) for column in range(data.n_columns)]
    hashes = prepared.row_hashes(n_threads)
    sums = {"rows": hashes, "labels": joined(hashes, prepared.targets), "weights": joined(hashes, prepared.weights)}
    if prepared.offset is not None:
        sums["offsets"] = joined(hashes, prepared.offset)
    if prepared.costs is not None:
        costs = prepared.costs
        sums["costs"] = joined(hashes, costs.scale * costs.table[order].astype(np.float64) + costs.floor[order, None])
    if prepared.sources is not None:
        sources = prepared.sources
        sums["sources"] = joined(joined(hashes, sources.ids[order]), sources.shares[order])
    columns = [prepared.n_features, prepared.feature_names, sorted(prepared.categories.items())]
    digests = {"columns": digest_of(columns)} | {name: _sum_over_all(one, weights) for name, one in sums.items()}
    digests["rows"] = digest_of([digests["rows"], *bins])
    digests["labels"] = digest_of([digests["labels"], prepared.classes])
    if prepared.validation is not None:
        validation, weights = prepared.validation, prepared.validation.row_weights()
        hashes = _hashes_of_validation(validation)
        digests["validation rows"] = _sum_over_all(hashes, weights)
        if validation.offset is not None:
            digests["validation offsets"] = _sum_over_all(joined(hashes, validation.offset), weights)
    if prepared.metrics:
        digests["metrics"] = digest_of([[metric.name for metric in prepared.metrics]])
    return digests


def _hashes_of_validation(rows: Watched) -> Hashes:
    labels = joined(row_hashes(rows.X), rows.class_ids)
    return joined(joined(labels, rows.targets), rows.weights)


def _sum_over_all(hashes: Hashes, weights: RowWeights) -> str:
    """Digest of the sum of all workers' hashes; 32-bit halves are summed apart, so that 2^31 rows fit 64 bits."""
    halves = np.array([(hashes >> HALF).sum(), (hashes & LOW).sum(), len(hashes)], dtype=np.uint64).astype(np.int64)
    return digest_of([weights.native.add_integers(halves).tolist()])
