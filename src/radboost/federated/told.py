"""A worker of the engine's collective that hears of the others later: what is summed over all is told to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.engine import Collective
from radboost.federated.numbers import from_limbs, to_limbs


class Told(Collective):
    """One owner's rows among those of all.

    The engine asks a collective for sums and maxima over everybody's rows. Here nobody can be asked: the own part is
    kept, to be sent away, and the answer is what the server has said before, or else the own part.
    """

    alone = False

    def __init__(self) -> None:
        super().__init__()
        self.own_largest: npt.NDArray[np.float64] = np.zeros(0)
        self.own_sums: list[int] = []
        self._largest: float | None = None
        self._sums: Sequence[int] | None = None

    @contextmanager
    def answering(self, largest: float | None = None, sums: Sequence[int] | None = None) -> Iterator[None]:
        """What is told within the block."""
        self._largest, self._sums = largest, sums
        try:
            yield
        finally:
            self._largest = self._sums = None

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        self.own_largest = values.copy()
        if self._largest is not None:
            values[:] = self._largest

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self.own_sums = from_limbs(values) if len(values) % 3 == 0 else []
        if self._sums is not None:
            values[:] = to_limbs(self._sums)

    def gather(self, data: bytes) -> list[Any]:
        raise NotImplementedError("the rows of an owner stay where they are")
