"""Rows of a fit in parts: in memory, or loaded for each pass over them; and what the processes with them exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from sklearn.utils.validation import _num_samples

from radboost.engine import Collective

if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value")

TRAINING, VALIDATION, UNLABELLED = "training", "validation", "unlabelled"  # roles of rows
SUFFIXES = {TRAINING: "", VALIDATION: "_val", UNLABELLED: "_unlabelled"}  # of arguments of `fit`


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
    role: str = TRAINING

    @property
    def n_rows(self) -> int:
        return int(_num_samples(self.X))

    @property
    def given(self) -> frozenset[str]:
        """Names of the arguments of `fit` that are not None."""
        named = (field.name for field in fields(self) if getattr(self, field.name) is not None)
        return frozenset(name + SUFFIXES[self.role] for name in named)

    def load(self) -> LoadedPartition:
        return self


class Workers(Protocol):
    """Exchange between the processes that each hold some of the rows; all of them call it in the same order."""

    @property
    def collective(self) -> Collective | None:
        """Sums over them, for the engine; None: this process has all rows."""
        ...

    @property
    def alone(self) -> bool:
        """True if this process has all rows."""
        ...

    def all_gather(self, value: Value) -> list[Value]:
        """Objects of all processes, by rank."""
        ...


class OneProcess:
    """`Workers` of a fit in one process."""

    alone, collective = True, None

    def all_gather(self, value: Value) -> list[Value]:
        return [value]


ONE_PROCESS = OneProcess()


def parts_of(parts: Sequence[Partition], role: str) -> list[Partition]:
    """Partitions whose rows have this role."""
    return [part for part in parts if part.role == role]
