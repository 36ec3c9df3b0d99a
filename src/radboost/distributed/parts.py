"""The rows of one worker as it is given them: parts that are in memory, or that are loaded when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class LazyPart(Protocol):
    """Rows of one partition that are loaded for each pass over the rows, and given up after it.

    `load` returns the same rows in the same order every time. A worker holds one loaded part at a time. Where the rows
    are gone, it raises `WorkerLostError`: the fit goes on with parts that are made again.
    """

    @property
    def n_rows(self) -> int:
        """How many rows there are, known without loading them."""
        ...

    @property
    def role(self) -> str:
        """What the rows are for: "training", "validation" or "unlabelled"."""
        ...

    def load(self) -> Part:
        """The rows in memory."""
        ...


@dataclass(frozen=True)
class Part:
    """Rows of one partition, in any form that `fit` of an estimator takes. It is a `LazyPart` that is loaded."""

    X: Any
    y: Any
    sample_weight: Any = None
    sources: Any = None
    offset: Any = None
    cost: Any = None
    role: str = "training"

    @property
    def n_rows(self) -> int:
        shape = getattr(self.X, "shape", None)
        return len(self.X) if shape is None else int(shape[0])

    def load(self) -> Part:
        return self
