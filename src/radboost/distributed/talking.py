"""What workers of a collective tell each other besides numbers."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from radboost.engine import Collective

if TYPE_CHECKING:
    Entry = TypeVar("Entry", bound=np.generic)
    Value = TypeVar("Value")


class Workers(Collective):
    """Workers that each own a part of the rows and run the same program: the engine's collective, with its methods.

    Each method is called by all workers, in the same order.
    """

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


class OneWorker(Workers):
    """A worker that has all rows."""

    alone = True

    def gather(self, data: bytes) -> list[bytes]:
        return [data]
