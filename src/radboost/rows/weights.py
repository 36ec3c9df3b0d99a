"""Sample weights, and every sum over the training rows."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import Collective, current, evaluate_loss
from radboost.rows.partitions import Workers

Fixed = npt.NDArray[np.int64]
Entry = TypeVar("Entry", bound=np.generic)

GROWTH_TOTAL = 2**30  # largest sum of the weights that a tree is grown on: histograms count in 32 bits
SUM_BITS = 61  # bits of the largest sum in fixed point


def ends_of_all(values: FloatArray, collective: Collective | None) -> FloatArray:
    """Minimum and maximum of each column over the rows of all workers, shape (2, n_columns).

    This worker may have no rows. Without a collective the values are returned as they are.
    """
    if collective is None:
        return values
    weights = RowWeights(None, len(values), collective=collective)
    return np.array([-weights.largest(-values.T), weights.largest(values.T)])


def exact_sums(ids: npt.NDArray[Any], weights: FloatArray | None, n_ids: int, workers: Workers) -> FloatArray:
    """Exact sum of the weights (None: 1) of the rows of each id over all workers, rounded once; shape (n_ids,)."""
    counts = np.bincount(ids, minlength=n_ids)
    own = counts.astype(np.float64)[:, None].tolist()
    if weights is not None:
        groups = np.split(weights[np.argsort(ids, kind="stable")], np.cumsum(counts)[:-1])
        own = [_summands(group.tolist()) for group in groups]
    of_all = workers.all_gather(own)
    return np.array([math.fsum(x for sums in of_all for x in sums[k]) for k in range(n_ids)])


def _summands(values: list[float]) -> list[float]:
    """Few numbers that have exactly the same sum."""
    few: list[float] = []
    while rest := math.fsum([*values, *(-x for x in few)]):
        few.append(rest)
    return few


class RowWeights:
    """Sample weights of this worker's rows, and sums over the rows of all workers.

    A row of weight w counts as w copies of it. Sums, means and maxima are over the rows of all workers. They are exact:
    neither the order of the rows, nor threads, nor the division among workers changes them. The numbers of a round
    (weights, losses) are given for one copy of a row and rounded. Then they are multiplied by the number of copies, so
    that a row of weight 3 equals three rows. Sample weights that are no numbers of copies, and with `folds_large`
    those that sum to 2^24 or more, are multiplied in before rounding.

    Attributes
    ----------
    native : the same for the native core
    given : array or None
        The weights as they were given; None: every row counts once.
    total : float
        Sum of the weights of all workers, m.
    n_rows, n_own_rows : int
        Rows of all workers and of this one, without copies.
    n_copies : float
        Rows of all workers with their copies; where weights are no numbers of copies, rows alone.
    """

    def __init__(
        self,
        weights: FloatArray | None,
        n_rows: int,
        *,
        folds_large: bool = False,
        collective: Collective | None = None,
    ) -> None:
        self.given = weights
        self.native = current().row_weights(n_rows, weights, folds_large=folds_large, collective=collective)
        self.total, self.n_rows, self.n_own_rows = self.native.total, self.native.n_rows, self.native.n_own_rows
        counts = weights is not None and self.native.whole
        self._copies: Fixed | None = weights.astype(np.int64) if weights is not None and counts else None
        self._factor = None if counts else weights
        self.n_copies = self.total if self.native.given and self.native.whole else float(self.n_rows)

    def sum(self, values: npt.NDArray[Any], n_threads: int = 1) -> float:
        """Sum of w v over all workers; `values` v has shape (n_own_rows,)."""
        return self.native.sum(np.ascontiguousarray(values, dtype=np.float64), n_threads)

    def mean(self, values: npt.NDArray[Any], n_threads: int = 1) -> float:
        """Weighted mean, sum of w v / sum of w, over all workers; `values` v has shape (n_own_rows,)."""
        return self.native.mean(np.ascontiguousarray(values, dtype=np.float64), n_threads)

    def gather(self, array: npt.NDArray[Entry]) -> npt.NDArray[Entry]:
        """Concatenation of the arrays of all workers, in a fixed order of workers.

        Arrays have the same type, and the same shape except for the first dimension.
        """
        if self.native.alone:
            return array
        parts = self.native.gather(np.ascontiguousarray(array).tobytes())
        shape = (-1, *array.shape[1:])
        return np.concatenate([np.frombuffer(part, dtype=array.dtype).reshape(shape) for part in parts])

    def largest(self, values: FloatArray) -> FloatArray:
        """Maximum along the last axis (the rows), over all workers."""
        own = values.max(axis=-1, initial=-np.inf)
        return self.native.largest(np.atleast_1d(own)).reshape(np.shape(own))

    def fixed(self, values: FloatArray) -> tuple[Fixed, int]:
        """Non-negative values of one copy, shape (..., n_rows), as integer multiples of 2^-k; and k."""
        scaled = values if self._factor is None else values * self._factor
        largest = float(self.largest(scaled).max())
        n_terms = self.n_copies * math.prod(scaled.shape[:-1])
        bits = SUM_BITS - math.ceil(math.log2(n_terms)) - math.frexp(largest)[1]
        return np.rint(np.ldexp(scaled, bits)).astype(np.int64), bits

    def counted(self, fixed: Fixed) -> Fixed:
        """Fixed-point values of one copy multiplied by the number of copies, shape (..., n_rows)."""
        return fixed if self._copies is None else fixed * self._copies

    def add(self, counted: Fixed) -> Fixed:
        """Sum of integers of shape (..., n_rows) along the rows, over all workers."""
        own = counted.sum(axis=-1, dtype=np.int64)
        return self.native.add_integers(np.atleast_1d(own).reshape(-1)).reshape(np.shape(own))

    def growth(self, fixed: Fixed, factor: float | FloatArray) -> npt.NDArray[np.uint32]:
        """Weights that trees are grown on, uint32; `factor` must make the sum over all copies at most 2^30."""
        return self.counted((fixed * factor).astype(np.int64)).astype(np.uint32)

    def exponentials(self, exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
        """exp(u - shift), and shift, the maximum of u along the rows; with the engine's exp, equal on any machine."""
        shift = self.largest(exponents)
        arguments = np.ascontiguousarray(exponents - shift[..., None]).reshape(-1)
        values, _ = evaluate_loss("exponential", arguments)
        return values.reshape(exponents.shape), shift
