"""What workers of a collective tell each other besides numbers."""

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
class Traffic:
    """What one worker has exchanged with the others so far."""

    n_exchanges: int = 0
    bytes_brought: int = 0  # its own numbers and bytes, before they are packed
    bytes_sent: int = 0  # what it has sent on to other workers: with Dask to the one above it, so none from the first
    seconds_waiting: float = 0.0  # from the call of an exchange to its end

    @contextmanager
    def exchange(self, n_bytes: int) -> Iterator[None]:
        """Counts one exchange, which is what the block does."""
        begin = time.perf_counter()
        yield
        self.n_exchanges += 1
        self.bytes_brought += n_bytes
        self.seconds_waiting += time.perf_counter() - begin


class Workers(Collective):
    """Workers that each own a part of the rows and run the same program: the engine's collective, with its methods.

    Each method is called by all workers, in the same order. `traffic` counts what they exchange.
    """

    def __init__(self) -> None:
        super().__init__()
        self.traffic = Traffic()

    @property
    def alone(self) -> bool:
        """Whether this worker has all rows."""
        raise NotImplementedError

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        """Replaces each integer by its sum over the workers."""
        raise NotImplementedError

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        """Replaces each number by the largest of the workers'."""
        raise NotImplementedError

    def gather(self, data: bytes) -> list[bytes]:
        """The bytes of all workers, in the order of the workers."""
        raise NotImplementedError

    def tell(self, value: Value) -> list[Value]:
        """The values of all workers, in the order of the workers. They trust each other: values are pickled."""
        return [value] if self.alone else [pickle.loads(data) for data in self.gather(pickle.dumps(value))]

    def gathered(self, array: npt.NDArray[Entry]) -> npt.NDArray[Entry]:
        """The entries of all workers, one worker after the other; arrays of one dimension and one type."""
        if self.alone:
            return array
        return np.concatenate([np.frombuffer(data, dtype=array.dtype) for data in self.gather(array.tobytes())])
