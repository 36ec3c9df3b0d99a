"""Collective of the engine whose other members are on machines that cannot be reached from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.engine import Collective
from radboost.federated.fixed_point import from_limbs, to_limbs


class RemoteCollective(Collective):
    """Collective of one client of a federation.

    The engine reduces sums and maxima over the rows of all clients. Here the local part is kept, to be sent to the
    server; the result is what the server has sent before, or the local part where it has sent nothing.
    """

    alone = False

    def __init__(self) -> None:
        super().__init__()
        self.local_sums: list[int] = []
        self._largest: float | None = None
        self._sums: Sequence[int] | None = None

    @contextmanager
    def results(self, largest: float | None = None, sums: Sequence[int] | None = None) -> Iterator[None]:
        """Results of all reductions within the block; None: those of the local rows."""
        self._largest, self._sums = largest, sums
        try:
            yield
        finally:
            self._largest = self._sums = None

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        if self._largest is not None:
            values[:] = self._largest

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self.local_sums = from_limbs(values) if len(values) % 3 == 0 else []
        if self._sums is not None:
            values[:] = to_limbs(self._sums)

    def gather(self, data: bytes) -> list[Any]:
        raise NotImplementedError("the rows of a client stay where they are")
