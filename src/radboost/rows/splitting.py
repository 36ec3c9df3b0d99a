"""Which rows are held back: by their content, so that neither their order nor copies in place of weights matter."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.rows.weights import RowWeights

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Between = tuple[float, float]

# A table has few different rows where copies to be dealt out hold at least this share of the weight. Fewer of them stay
# together, so that models of tables with some repeated cells are what they were.
FEW_DIFFERENT = 0.4
# The copies of a row are dealt out one by one where they are no more than this, otherwise in so many parts.
MOST_UNITS = 1_024
# A smaller share of a row's weight than this comes from rounding.
SLIVER = 1e-9


class NothingToHoldBackError(ValueError):
    """There are too few different rows to hold some back."""


@dataclass(frozen=True)
class RowsByContent:
    """The rows of one worker, by keys that are hashes of their content: copies have the same key and stratum.

    Each stratum (a class, or a class of a source) is split by itself.
    """

    keys: Hashes
    strata: npt.NDArray[np.uint32]
    weights: RowWeights

    @classmethod
    def of(cls, hashes: Hashes, strata: npt.NDArray[np.uint32], seed: int, weights: RowWeights) -> RowsByContent:
        """Keys that the seed draws; the hashes are written over."""
        keys = hashes
        with np.errstate(over="ignore"):
            keys ^= np.uint64(seed % 2**64)
            keys *= np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
            keys *= np.uint64(0xBF58476D1CE4E5B9)
        return cls(keys, strata, weights)

    def together(self, between: Between) -> Mask:
        """The rows to hold back where all copies of a row stay together.

        Of each stratum those are held back that lie between two shares of the order of the keys, and never all.
        """
        keys, strata = self.weights.gather(self.keys), self.weights.gather(self.strata)
        held_back = np.zeros(len(self.strata), dtype=bool)
        for stratum in np.unique(strata):
            ranked = _different(keys[strata == stratum])
            first, last = (math.ceil(share * len(ranked)) for share in between)
            last = min(last, first + len(ranked) - 1)
            if first < last:
                held_back |= (self.strata == stratum) & (self.keys >= ranked[first]) & (self.keys <= ranked[last - 1])
        return held_back

    def any_copies(self) -> bool:
        """Whether a row of any worker occurs twice, or weighs as much as two."""
        given = self.weights.given
        if self.weights.largest(np.ones(0) if given is None else given) >= 2.0:
            return True
        keys = self.weights.gather(self.keys)
        return len(_different(keys.copy())) < len(keys)

    def dealt_out(self, together: Mask, cells: Hashes, class_ids: ClassIds, between: Between) -> FloatArray:
        """The weight of each row that is held back; `cells` are hashes of the rows without their classes.

        Where the same cells come with several classes, their copies are draws from a distribution of the classes, which
        no part shows that has all copies with one class and none with another. Of these rows each copy is dealt out by
        itself, as if it were a row of its own: the first goes where all would go together, so that a row that occurs
        once is held back as ever, and some of every stratum stay. Other copies stay together: they may well be the
        same observation several times. So do all where the others are few (see FEW_DIFFERENT).
        """
        own = np.ones(len(self.keys)) if self.weights.given is None else self.weights.given
        keys, strata, weights = (
            self.weights.gather(self.keys),
            self.weights.gather(self.strata),
            self.weights.gather(own),
        )
        held = self.weights.gather(np.where(together, own, 0.0))
        rows = np.flatnonzero(_of_several_classes(self.weights.gather(cells), self.weights.gather(class_ids)))
        rows = rows[np.lexsort((weights[rows], strata[rows], keys[rows]))]
        w = weights[rows]
        new = (keys[rows[1:]] != keys[rows[:-1]]) | (strata[rows[1:]] != strata[rows[:-1]])
        starts = np.flatnonzero(np.concatenate([[True], new])[: len(rows)])
        totals = np.add.reduceat(w, starts) if len(starts) else w
        if totals[totals >= 2.0].sum() >= FEW_DIFFERENT * self.weights.total:
            drawn = _held_of(totals, keys[rows[starts]], held[rows[starts]] > 0.0, between)
            before = np.cumsum(w) - w
            lump = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
            part = np.clip(drawn[lump] - (before - before[starts][lump]), 0.0, w)
            held[rows] = np.where(part < SLIVER * w, 0.0, np.where(part > (1.0 - SLIVER) * w, w, part))
        return held[self._first_own() :][: len(own)]

    def _first_own(self) -> int:
        """Where the rows of this worker begin among all, in the order in which they are gathered."""
        if self.weights.native.alone:
            return 0
        mine = np.frombuffer(os.urandom(16), dtype=np.uint64).reshape(1, 2)  # workers have no numbers here
        everybody = self.weights.gather(mine)
        lengths = self.weights.gather(np.array([len(self.keys)]))
        return int(lengths[: np.flatnonzero((everybody == mine).all(axis=1))[0]].sum())


def _held_of(totals: FloatArray, keys: Hashes, first_is_held: Mask, between: Between) -> FloatArray:
    """How much of each total is held back: of as many whole units as it has those that are drawn."""
    n_units = np.clip(np.floor(totals), 1.0, MOST_UNITS)

    def end(unit: int, of: npt.NDArray[np.intp]) -> FloatArray:
        whole = np.floor(unit * totals[of] / n_units[of])
        return np.where(unit == n_units[of], totals[of], whole)

    held = np.where(first_is_held, end(1, np.arange(len(totals))), 0.0)
    active = np.arange(len(totals))
    for unit in range(1, int(n_units.max())):
        active = active[n_units[active] > unit]
        places = _uniform(keys[active], unit)
        drawn = active[(places >= between[0]) & (places < between[1])]
        held[drawn] += end(unit + 1, drawn) - end(unit, drawn)
    return held


def _uniform(keys: Hashes, number: int) -> FloatArray:
    """A number between 0 and 1 for each key, another one for each number."""
    with np.errstate(over="ignore"):
        mixed = keys + np.uint64(number * 0x9E3779B97F4A7C15 % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def _of_several_classes(cells: Hashes, class_ids: ClassIds) -> Mask:
    """The rows whose cells come with another class too."""
    order = np.lexsort((class_ids, cells))
    cells, ids = cells[order], class_ids[order]
    new = np.concatenate([[True], cells[1:] != cells[:-1]])[: len(cells)]
    group = np.cumsum(new) - 1
    first = ids[new][group]
    several = np.bincount(group, weights=ids != first) > 0
    found = np.zeros(len(cells), dtype=bool)
    found[order] = several[group]
    return found


def _different(hashes: Hashes) -> Hashes:
    """The different ones in their order, as np.unique finds them in several times the time; sorts in place."""
    hashes.sort()
    first = np.ones(len(hashes), dtype=bool)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    return hashes[first]
