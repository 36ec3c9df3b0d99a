"""Weights of rows as integers, so that no sum depends on the order of the rows, or on who has which of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import RowWeights, evaluate_loss

Fixed = npt.NDArray[np.int64]

GROWTH_TOTAL = 2**30  # what the weights of a tree may sum to: histograms count in 32 bits
LARGE_TOTAL = 2**24  # from this sum of weights on a unit of weight is too small for 30 bits
SUM_BITS = 61  # of the largest sum


class FixedWeights:
    """The sample weights, and how weights of a round become integers.

    Weights of a round are given for one copy of a row and rounded before copies are counted in, so that a row of
    weight 3 and three rows are the same. Sample weights that are no numbers of copies are multiplied in at once. Sums
    and maxima are over all rows, of which this process may have a part (`RowWeights`).
    """

    def __init__(self, weights: FloatArray | None, rows: RowWeights) -> None:
        self.given = weights
        self._rows = rows
        self.total = rows.total
        broken = weights is not None and bool((weights != np.floor(weights)).any())
        count = weights is not None and self.total < LARGE_TOTAL and not rows.largest(np.array([float(broken)]))[0]
        self._copies: Fixed | None = weights.astype(np.int64) if weights is not None and count else None
        self._factor = None if count else weights
        self._n_copies = self.total if count else float(rows.n_rows)

    @property
    def n_rows(self) -> int:
        """Of all workers."""
        return self._rows.n_rows

    def fixed(self, values: FloatArray) -> tuple[Fixed, int]:
        """Non-negative values of one copy, of shape (..., n_rows), as multiples of 2^-k, and k."""
        scaled = values if self._factor is None else values * self._factor
        largest = float(self._rows.largest(np.array([scaled.max(initial=0.0)]))[0])
        n_terms = self._n_copies * math.prod(scaled.shape[:-1])
        bits = SUM_BITS - math.ceil(math.log2(n_terms)) - math.frexp(largest)[1]
        return np.rint(np.ldexp(scaled, bits)).astype(np.int64), bits

    def counted(self, fixed: Fixed) -> Fixed:
        """What all copies of each row weigh."""
        return fixed if self._copies is None else fixed * self._copies

    def sums(self, counted: Fixed) -> Fixed:
        """Of each line, over all rows."""
        return self._rows.add_integers(np.atleast_1d(counted.sum(axis=-1)))

    def sum(self, counted: Fixed) -> int:
        """Of one line, over all rows."""
        return int(self.sums(counted)[0])

    def growth(self, fixed: Fixed, factor: float | FloatArray) -> npt.NDArray[np.uint32]:
        """Weights that trees are grown on; `factor` must bring the sum over all copies to 2^30 or less."""
        return self.counted((fixed * factor).astype(np.int64)).astype(np.uint32)

    def exponentials(self, exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
        """exp(u - shift) with the largest of a line 1, and the shifts; by our own exp, the same on every machine."""
        shift = self._rows.largest(np.atleast_1d(exponents.max(axis=-1, initial=-np.inf)))
        moved = exponents - shift.reshape(exponents.shape[:-1])[..., None]
        values, _ = evaluate_loss("exponential", np.ascontiguousarray(moved).reshape(-1))
        return values.reshape(exponents.shape), shift
