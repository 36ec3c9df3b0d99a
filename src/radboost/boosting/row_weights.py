"""Weights of rows as integers, so that no sum depends on the order of the rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import evaluate_loss

Fixed = npt.NDArray[np.int64]

GROWTH_TOTAL = 2**30  # what the weights of a tree may sum to: histograms count in 32 bits
LARGE_TOTAL = 2**24  # from this sum of weights on a unit of weight is too small for 30 bits
SUM_BITS = 61  # of the largest sum


class RowWeights:
    """The sample weights, and how weights of a round become integers.

    Weights of a round are given for one copy of a row and rounded before copies are counted in, so that a row of
    weight 3 and three rows are the same. Sample weights that are no numbers of copies are multiplied in at once.
    """

    def __init__(self, weights: FloatArray | None, n_rows: int) -> None:
        self.given = weights
        self.total = float(n_rows) if weights is None else math.fsum(weights)
        count = weights is not None and self.total < LARGE_TOTAL and bool((weights == np.floor(weights)).all())
        self._copies: Fixed | None = weights.astype(np.int64) if weights is not None and count else None
        self._factor = None if count else weights
        self._n_copies = self.total if count else float(n_rows)

    def fixed(self, values: FloatArray) -> tuple[Fixed, int]:
        """Non-negative values of one copy, of shape (..., n_rows), as multiples of 2^-k, and k."""
        scaled = values if self._factor is None else values * self._factor
        largest = float(scaled.max())
        n_terms = self._n_copies * (scaled.size // scaled.shape[-1])
        bits = SUM_BITS - math.ceil(math.log2(n_terms)) - math.frexp(largest)[1]
        return np.rint(np.ldexp(scaled, bits)).astype(np.int64), bits

    def counted(self, fixed: Fixed) -> Fixed:
        """What all copies of each row weigh."""
        return fixed if self._copies is None else fixed * self._copies

    def growth(self, fixed: Fixed, factor: float | FloatArray) -> npt.NDArray[np.uint32]:
        """Weights that trees are grown on; `factor` must bring the sum over all copies to 2^30 or less."""
        return self.counted((fixed * factor).astype(np.int64)).astype(np.uint32)


def exponentials(exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
    """exp(u - shift) with the largest of a line 1, and the shifts; by our own exp, the same on every machine."""
    shift = exponents.max(axis=-1)
    values, _ = evaluate_loss("exponential", np.ascontiguousarray(exponents - shift[..., None]).reshape(-1))
    return values.reshape(exponents.shape), shift
