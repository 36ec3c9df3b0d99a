"""Choice of rows to hold back by hashes of their content: order has no effect, a whole weight w equals w copies."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.rows.hashing import FIRST_FACTOR, GOLDEN, Hashes, mix
from radboost.rows.weights import RowWeights

Mask = npt.NDArray[np.bool_]
Between = tuple[float, float]  # fractions a < b in [0, 1]: the interval [a, b)

# Maximum number of units, or twice the number of distinct rows if that is larger. Up to it each draw is a unit; beyond
# it a unit is at most 2^k draws of equal rows, which are held back together.
MOST_UNITS = 2**22
ROUNDING = 1e-9  # of fraction * number of rows, before it is rounded up: 3 / 25 of 25 rows are 3


class NothingToHoldBackError(ValueError):
    """Raised if there are too few rows to hold some back."""


@dataclass(frozen=True)
class RowsByContent:
    """The rows of one worker, each of `copies` draws: its weight without class weights, or all 1 if one is not whole.

    Each stratum (a class, or a class of a source) is split by itself. Methods are collective: all workers call them.
    """

    keys: Hashes
    """Hash of each row's content, mixed with the seed: equal rows have equal keys and strata; shape (n_rows,)."""
    strata: npt.NDArray[np.uint32]
    weights: RowWeights
    copies: FloatArray
    """Number of draws of each row: whole numbers, at least 1."""
    ties: FloatArray
    """Weight, targets and costs, by which rows with equal keys are sorted; shape (n_rows, at least 1)."""

    @classmethod
    def of(
        cls,
        hashes: Hashes,
        strata: npt.NDArray[np.uint32],
        seed: int,
        weights: RowWeights,
        copies: FloatArray,
        ties: FloatArray,
    ) -> RowsByContent:
        """Rows with keys from the hashes and the seed."""
        keys = (hashes ^ np.uint64(seed % 2**64)) * GOLDEN
        keys = (keys ^ (keys >> np.uint64(29))) * FIRST_FACTOR
        return cls(keys, strata, weights, copies, ties)

    def different(self, between: Between) -> Mask:
        """Mask of rows in this interval of their stratum's distinct rows, sorted by key, with all copies; never all."""
        keys, strata = self.weights.gather(self.keys), self.weights.gather(self.strata)
        return _between(self.keys, self.strata, *_ends(keys, strata, between, distinct=True))

    def draws(self, between: Between) -> FloatArray:
        """Number of draws of each row that lie in this interval of their stratum's draws, sorted by key; never all.

        The first draw of equal rows has their key, and every further one a key of its own. A table without copies is
        therefore split as by `different`.
        """
        keys, strata = self.weights.gather(self.keys), self.weights.gather(self.strata)
        ranked = np.sort(keys)
        if self.weights.largest(self.copies) <= 1.0 and not (ranked[1:] == ranked[:-1]).any():
            return _between(self.keys, self.strata, *_ends(keys, strata, between)).astype(np.float64)
        copies, ties = self.weights.gather(self.copies), self.weights.gather(self.ties)
        order = np.argsort(keys)
        same = ranked[1:] == ranked[:-1]
        among = np.flatnonzero(np.append(same, False) | np.append(False, same))
        rows = order[among]
        order[among] = rows[np.lexsort((*ties[rows].T, strata[rows], keys[rows]))]
        keys, strata, copies = keys[order], strata[order], copies[order]
        firsts = np.flatnonzero(np.append(True, ~same | (strata[1:] != strata[:-1])))
        held = np.empty(len(keys))
        held[order] = _held_draws(keys[firsts], strata[firsts], firsts, copies, between)
        return held[self._first_own() :][: len(self.keys)]

    def _first_own(self) -> int:
        """Index of this worker's first row among the gathered rows of all workers."""
        if self.weights.native.alone:
            return 0
        mine = np.frombuffer(os.urandom(16), dtype=np.uint64).reshape(1, 2)  # workers have no index here
        everybody = self.weights.gather(mine)
        lengths = self.weights.gather(np.array([len(self.keys)]))
        return int(lengths[: np.flatnonzero((everybody == mine).all(axis=1))[0]].sum())


def _held_draws(
    keys: Hashes, strata: npt.NDArray[np.uint32], firsts: npt.NDArray[np.intp], copies: FloatArray, between: Between
) -> FloatArray:
    """Draws held back of each row, sorted into groups of equal rows; `keys`, `strata`, `firsts` (start): by group."""
    totals = np.add.reduceat(copies, firsts)
    size = 1
    while np.ceil(totals / size).sum() > max(MOST_UNITS, 2 * len(totals)):
        size *= 2
    n_units = np.ceil(totals / size).astype(np.int64)
    group = np.repeat(np.arange(len(totals)), n_units)
    number = np.arange(len(group)) - np.repeat(np.cumsum(n_units) - n_units, n_units)
    of_units = _of_copies(keys[group], number)
    held = _between(of_units, strata[group], *_ends(of_units, strata[group], between))
    # Draws are numbered through all groups. The number of held ones before a draw is linear in it within each unit.
    begin = (np.cumsum(totals) - totals)[group] + number * float(size)
    begin = np.append(begin, totals.sum())
    held_before = np.concatenate([[0.0], np.cumsum(held * np.diff(begin))])
    end = np.cumsum(copies)
    return np.asarray(np.interp(end, begin, held_before) - np.interp(end - copies, begin, held_before))


def _ends(
    keys: Hashes, strata: npt.NDArray[np.uint32], between: Between, *, distinct: bool = False
) -> tuple[npt.NDArray[np.uint32], Hashes, Hashes]:
    """Strata with keys in the interval, and the lowest and highest of these; `distinct`: equal keys count once."""
    ends = []
    for stratum in np.unique(strata).tolist():
        ranked = np.sort(keys[strata == stratum])
        if distinct:
            ranked = ranked[np.concatenate([[True], ranked[1:] != ranked[:-1]])]
        first, last = (math.ceil(fraction * len(ranked) - ROUNDING) for fraction in between)
        last = min(last, first + len(ranked) - 1)
        if first < last:
            ends.append((stratum, ranked[first], ranked[last - 1]))
    numbers, lowest, highest = zip(*ends, strict=True) if ends else ((), (), ())
    return np.array(numbers, dtype=np.uint32), np.array(lowest, dtype=np.uint64), np.array(highest, dtype=np.uint64)


def _between(
    keys: Hashes,
    strata: npt.NDArray[np.uint32],
    numbers: npt.NDArray[np.uint32],
    lowest: Hashes,
    highest: Hashes,
) -> Mask:
    """Mask of the rows whose key lies between the ends of their stratum, inclusive."""
    held_back = np.zeros(len(keys), dtype=bool)
    for stratum, low, high in zip(numbers, lowest, highest, strict=True):
        held_back |= (strata == stratum) & (keys >= low) & (keys <= high)
    return held_back


def _of_copies(keys: Hashes, number: npt.NDArray[np.int64]) -> Hashes:
    """Key of draw `number` of a group of equal rows: the group's own for 0, a hash of both otherwise."""
    return np.where(number == 0, keys, mix(keys, number - 1))
