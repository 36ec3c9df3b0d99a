"""Partitions of the rows of one worker: in memory, or loaded for each pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Partition(Protocol):
    """Rows of one partition, loaded for each pass over the rows and released after it.

    `load` returns the same rows in the same order every time. A worker holds one loaded partition at a time. Where the
    rows are lost, it raises `WorkerLostError`, and the fit goes on with partitions that are computed again.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows, known without loading them."""
        ...

    @property
    def role(self) -> str:
        """Use of the rows: "training", "validation" or "unlabelled"."""
        ...

    def load(self) -> LoadedPartition:
        """Rows in memory."""
        ...


@dataclass(frozen=True)
class LoadedPartition:
    """`Partition` in memory, in any form that `fit` of an estimator takes."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    sources: Any = None
    offset: Any = None
    cost: Any = None
    role: str = "training"

    @property
    def n_rows(self) -> int:
        shape = getattr(self.X, "shape", None)
        return len(self.X) if shape is None else int(shape[0])

    def load(self) -> LoadedPartition:
        return self
