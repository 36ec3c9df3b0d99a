"""Dense rows that come in blocks, of which one is in memory at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatMatrix


class RowBlocks(ABC):
    """A matrix of float32 or float64 whose blocks of rows are loaded on demand."""

    def __init__(self, heights: Sequence[int], n_columns: int, dtype: npt.DTypeLike) -> None:
        self.first_rows = np.cumsum([0, *heights], dtype=np.int64)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (int(self.first_rows[-1]), n_columns)

    @abstractmethod
    def load(self, block: int) -> FloatMatrix:
        """The rows of a block, the same every time."""

    def __iter__(self) -> Iterator[FloatMatrix]:
        for block in range(len(self.first_rows) - 1):
            yield self.load(block)

    def __getitem__(self, indices: npt.NDArray[Any]) -> FloatMatrix:
        """Rows of these indices; the blocks that have any of them are loaded one after the other."""
        rows = np.empty((len(indices), self.shape[1]), dtype=self.dtype)
        block_of = np.searchsorted(self.first_rows, indices, side="right") - 1
        for block in np.unique(block_of).tolist():
            wanted = np.flatnonzero(block_of == block)
            rows[wanted] = self.load(block)[indices[wanted] - self.first_rows[block]]
        return rows

    def whole(self) -> FloatMatrix:
        """Matrix of all rows."""
        if len(self.first_rows) == 2:
            return self.load(0)
        matrix = np.empty(self.shape, dtype=self.dtype)
        for block, rows in enumerate(self):
            matrix[self.first_rows[block] : self.first_rows[block + 1]] = rows
        return matrix
