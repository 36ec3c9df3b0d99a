"""Choice of rows to hold back by hashes of their content: order has no effect, an integer weight w is w copies."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.rows.hashing import Hashes, mix
from radboost.rows.weights import RowWeights

Mask = npt.NDArray[np.bool_]
Strata = npt.NDArray[np.uint32]
Interval = tuple[float, float]  # fractions a < b in [0, 1]: the interval [a, b)
Bounds = tuple[int, np.uint64, np.uint64]  # a stratum, and the lowest and highest of its keys in an interval

# A unit is one draw, or up to 2^k draws of equal rows that are held back together: with the smallest k for which there
# are at most this many units, or twice the number of distinct rows if that is larger.
MOST_UNITS = 2**22
TOLERANCE = 1e-9  # rounding error of fraction * number of rows, which is rounded up: 3 / 25 of 25 rows are 3


class NothingToHoldBackError(ValueError):
    """Raised if there are too few rows to hold some back."""


@dataclass(frozen=True)
class RowsByContent:
    """Rows of one worker. A row counts as `copies` draws: its weight without class weights if all are integers, else 1.

    Each stratum (a class, or a class of a source) is split by itself. Methods are collective: all workers call them.
    """

    keys: Hashes
    """`order_of` the hash of each row's content and a seed: equal rows have equal keys and strata; shape (n_rows,)."""
    strata: Strata
    weights: RowWeights
    copies: FloatArray
    """Number of draws of each row: integers, at least 1."""
    tie_breakers: FloatArray
    """Weight, targets and costs, by which rows with equal keys are sorted; shape (n_rows, at least 1)."""

    def distinct_rows(self, interval: Interval) -> Mask:
        """Mask of the rows in this interval of their stratum's distinct rows, sorted by key; never all of a stratum.

        All copies of a row are in the mask, or none.
        """
        keys, strata = self.weights.gather(self.keys), self.weights.gather(self.strata)
        return _in_interval(self.keys, self.strata, _key_bounds(keys, strata, interval, distinct=True))

    def draws(self, interval: Interval) -> FloatArray:
        """Number of each row's draws in this interval of their stratum's draws, sorted by key; never all of a stratum.

        The first draw of equal rows has their key, and every further one a key of its own. Without copies the draws
        are therefore those of `distinct_rows`.
        """
        keys, strata = self.weights.gather(self.keys), self.weights.gather(self.strata)
        sorted_keys = np.sort(keys)
        equals_next = sorted_keys[1:] == sorted_keys[:-1]
        if self.weights.largest(self.copies) <= 1.0 and not equals_next.any():
            return _in_interval(self.keys, self.strata, _key_bounds(keys, strata, interval)).astype(np.float64)
        copies, tie_breakers = self.weights.gather(self.copies), self.weights.gather(self.tie_breakers)
        order = np.argsort(keys)
        tied = np.flatnonzero(np.append(equals_next, False) | np.append(False, equals_next))
        rows = order[tied]
        order[tied] = rows[np.lexsort((*tie_breakers[rows].T, strata[rows], keys[rows]))]
        keys, strata, copies = keys[order], strata[order], copies[order]
        starts = np.flatnonzero(np.append(True, ~equals_next | (strata[1:] != strata[:-1])))
        n_held = np.empty(len(keys))
        n_held[order] = _held_draws(keys[starts], strata[starts], starts, copies, interval)
        return n_held[self._first_own_row() :][: len(self.keys)]

    def _first_own_row(self) -> int:
        """Index of this worker's first row among the gathered rows of all workers."""
        if self.weights.native.alone:
            return 0
        token = np.frombuffer(os.urandom(16), dtype=np.uint64).reshape(1, 2)  # workers have no index here
        tokens = self.weights.gather(token)
        lengths = self.weights.gather(np.array([len(self.keys)]))
        return int(lengths[: np.flatnonzero((tokens == token).all(axis=1))[0]].sum())


def _held_draws(
    keys: Hashes, strata: Strata, starts: npt.NDArray[np.intp], copies: FloatArray, interval: Interval
) -> FloatArray:
    """Draws held back of each row; equal rows are a group, which has one of `keys`, `strata`, `starts` (first row)."""
    group_draws = np.add.reduceat(copies, starts)
    unit_size = 1
    while np.ceil(group_draws / unit_size).sum() > max(MOST_UNITS, 2 * len(group_draws)):
        unit_size *= 2
    n_units = np.ceil(group_draws / unit_size).astype(np.int64)
    group = np.repeat(np.arange(len(group_draws)), n_units)  # of each unit
    number = np.arange(len(group)) - np.repeat(np.cumsum(n_units) - n_units, n_units)  # of the unit in its group
    unit_keys = _draw_keys(keys[group], number)
    is_held = _in_interval(unit_keys, strata[group], _key_bounds(unit_keys, strata[group], interval))
    # Draws are numbered through all groups. The number of held ones before a draw is linear in it within each unit.
    unit_starts = (np.cumsum(group_draws) - group_draws)[group] + number * float(unit_size)
    unit_starts = np.append(unit_starts, group_draws.sum())
    held_before = np.concatenate([[0.0], np.cumsum(is_held * np.diff(unit_starts))])
    row_ends = np.cumsum(copies)
    row_starts = row_ends - copies
    return np.asarray(np.interp(row_ends, unit_starts, held_before) - np.interp(row_starts, unit_starts, held_before))


def _key_bounds(keys: Hashes, strata: Strata, interval: Interval, *, distinct: bool = False) -> list[Bounds]:
    """Bounds of the keys in the interval of each stratum that has any; `distinct`: equal keys count once."""
    bounds = []
    for stratum in np.unique(strata).tolist():
        sorted_keys = np.sort(keys[strata == stratum])
        if distinct:
            sorted_keys = sorted_keys[np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]])]
        first, end = (math.ceil(fraction * len(sorted_keys) - TOLERANCE) for fraction in interval)
        end = min(end, first + len(sorted_keys) - 1)  # never all keys
        if first < end:
            bounds.append((stratum, sorted_keys[first], sorted_keys[end - 1]))
    return bounds


def _in_interval(keys: Hashes, strata: Strata, bounds: list[Bounds]) -> Mask:
    """Mask of the keys within the bounds of their stratum; none in strata without bounds."""
    mask = np.zeros(len(keys), dtype=bool)
    for stratum, low, high in bounds:
        mask |= (strata == stratum) & (keys >= low) & (keys <= high)
    return mask


def _draw_keys(keys: Hashes, number: npt.NDArray[np.int64]) -> Hashes:
    """Key of draw (or unit) `number` of a group of equal rows: the group's key for 0, a hash of both otherwise."""
    return np.where(number == 0, keys, mix(keys, number - 1))
