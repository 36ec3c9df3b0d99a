"""Exchange of Python objects and arrays between workers, beside the engine's sums, and a count of what is sent."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from radboost.engine import Collective

if TYPE_CHECKING:
    Entry = TypeVar("Entry", bound=np.generic)
    Value = TypeVar("Value")


@dataclass
class WorkerTraffic:
    """Collective operations of one worker so far."""

    n_exchanges: int = 0
    bytes_sent: int = 0  # to other workers; with Dask to the parent in the tree, so 0 for the first worker
    seconds_waiting: float = 0.0  # from the call of an operation to its result

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """Count the block as one operation."""
        begin = time.perf_counter()
        yield
        self.n_exchanges += 1
        self.seconds_waiting += time.perf_counter() - begin


class WorkerCollective(Collective):
    """The engine's collective over workers that each hold some of the rows, with gathers of objects and arrays.

    All workers run the same program: each method is called by all of them, in the same order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.traffic = WorkerTraffic()

    @property
    def collective(self) -> Collective:
        return self

    @property
    def alone(self) -> bool:
        """True if this worker has all rows."""
        raise NotImplementedError

    def gather(self, data: bytes) -> list[bytes]:
        """Bytes of all workers, by rank."""
        raise NotImplementedError

    def all_gather(self, value: Value) -> list[Value]:
        """Objects of all workers, by rank. They are pickled: workers trust each other."""
        return [value] if self.alone else [pickle.loads(data) for data in self.gather(pickle.dumps(value))]

    def all_gather_array(self, array: npt.NDArray[Entry]) -> npt.NDArray[Entry]:
        """Concatenation of the workers' arrays, by rank; one dimension, one dtype, any lengths."""
        if self.alone:
            return array
        return np.concatenate([np.frombuffer(data, dtype=array.dtype) for data in self.gather(array.tobytes())])
