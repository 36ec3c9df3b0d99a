"""Digests of training rows, by which a checkpoint tells them from others."""

from __future__ import annotations

import hashlib
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy import sparse

from radboost.rows.binned import BinnedRows
from radboost.rows.fields import Rows
from radboost.rows.hashing import Hashes, joined, row_hashes
from radboost.rows.prepare import PreparedRows
from radboost.rows.read import BLOCK_BYTES
from radboost.rows.weights import RowWeights


def content_digests(prepared: PreparedRows, n_threads: int, *, in_any_order: bool = True) -> dict[str, str]:
    """Digests of rows, labels, weights and so on by name; all workers must call it together.

    In any order they are over the rows of all workers, and training rows enter by their bins with the thresholds of
    these. Otherwise they are of the values and the order of this worker's rows.
    """
    columns = [prepared.n_features, prepared.feature_names, sorted(prepared.categories.items())]
    digests = {"columns": digest_of(columns)}
    if prepared.metrics:
        digests["metrics"] = digest_of([[metric.name for metric in prepared.metrics]])
    for role, rows in (("", prepared), ("validation ", prepared.validation)):
        if rows is None:
            continue
        digest, values = digest_of, [rows.X, prepared.order if rows is prepared else None]
        if in_any_order:
            binned = rows is prepared
            hashes = prepared.row_hashes(n_threads) if binned else row_hashes(rows.X)
            values = [prepared.data.thresholds(column) for column in range(prepared.data.n_columns)] if binned else []
            digest = partial(_sum_over_all, hashes, rows.row_weights())
        found = {name: digest(entries) for name, entries in _entries(rows).items()}
        found["labels"] = digest_of([found["labels"], rows.classes])
        if rows is prepared.validation:
            values = [*values, found.pop("labels"), found.pop("weights")]
        found["rows"] = digest_of([found["rows"], *values])
        digests |= {role + name: one for name, one in found.items()}
    return digests


def _entries(rows: Rows) -> dict[str, list[Any]]:
    """Arrays with an entry for each row, by the name of their digest."""
    entries: dict[str, list[Any]] = {"rows": [], "labels": [rows.class_ids, rows.targets], "weights": [rows.weights]}
    if rows.offset is not None:
        entries["offsets"] = [rows.offset]
    if rows.costs is not None:
        entries["costs"] = [rows.costs.scale * rows.costs.table.astype(np.float64) + rows.costs.floor[:, None]]
    if rows.sources is not None:
        entries["sources"] = [rows.sources.names[rows.sources.ids], rows.sources.shares]
    return entries


def _sum_over_all(hashes: Hashes, weights: RowWeights, entries: list[Any]) -> str:
    """Digest of the sum of all workers' hashes; 32-bit halves are summed apart, so that 2^31 rows fit 64 bits."""
    hashes = reduce(joined, entries, hashes)
    halves = np.array(
        [(hashes >> np.uint64(32)).sum(), (hashes & np.uint64(2**32 - 1)).sum(), len(hashes)], dtype=np.uint64
    ).astype(np.int64)
    return digest_of([weights.native.add_integers(halves).tolist()])


def digest_of(parts: list[Any]) -> str:
    """Hexadecimal hash of arrays, sparse matrices and plain values."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if sparse.issparse(part):
            arrays = [part.data, part.indices, part.indptr]
        elif isinstance(part, BinnedRows):
            arrays = [part.data.codes(), *(part.data.thresholds(column) for column in range(part.shape[1]))]
        elif isinstance(part, np.ndarray) and part.dtype != object:
            arrays = [part]
        else:
            plain = part.tolist() if isinstance(part, np.ndarray) else part
            digest.update(f"{plain!r};".encode())
            continue
        for array in arrays:
            digest.update(f"{array.dtype.str} {array.shape};".encode())
            height = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
            for first in range(0, len(array), height):
                digest.update(np.ascontiguousarray(array[first : first + height]).data)
    return digest.hexdigest()
