"""Training rows prepared in one call, and the rows of one worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import PreparedRows, read_training


def prepare(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    offset: Any = None,
    max_bins: int = 255,
    n_threads: int = 1,
    **options: Any,
) -> PreparedRows:
    """Rows that models may be learned from with any parameters; `options`: those of `read_training`."""
    part = LoadedPartition(X, y, sample_weight, offset=offset)
    return read_training(estimator, [part], part.given, **options).prepare(max_bins, n_threads)


def part_of(prepared: PreparedRows, rows: np.ndarray, collective: Any) -> PreparedRows:
    """Rows of one worker, given by their indices in X (or a mask), and nothing of the others; may be none."""
    chosen = prepared.select(rows)
    order = np.arange(chosen.n_rows, dtype=np.uint32)
    return replace(chosen, X=prepared.X[chosen.order], order=order, collective=collective)
