"""Exact sums between machines: integers of 128 bits, and the powers of two by which reals become integers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.engine import evaluate_loss

Words = npt.NDArray[np.int64]
# As in the engine: terms of magnitude up to 2^exponent take 61 bits; exponents below -900 count as -900.
SCALE_BITS = 61
SMALLEST_EXPONENT = -900
LIMB_BITS, N_LIMBS = 32, 3


def to_words(values: Iterable[int]) -> Words:
    """Row (high, low) of two 64-bit words for every integer; int64, shape (n, 2)."""
    rows = [[(value >> 64) & (2**64 - 1), value & (2**64 - 1)] for value in values]
    return np.array(rows, dtype=np.uint64).reshape(-1, 2).view(np.int64)


def from_words(words: Words) -> list[int]:
    """Inverse of `to_words`."""
    low = np.ascontiguousarray(words[:, 1]).view(np.uint64)
    return [high * 2**64 + rest for high, rest in zip(words[:, 0].tolist(), low.tolist(), strict=True)]


def from_limbs(limbs: npt.NDArray[np.int64]) -> list[int]:
    """Integers from the three limbs of 32 bits in which the engine gives them to a collective."""
    rows = limbs.reshape(-1, N_LIMBS).tolist()
    return [sum(limb << (LIMB_BITS * k) for k, limb in enumerate(row)) for row in rows]


def to_limbs(values: Iterable[int]) -> npt.NDArray[np.int64]:
    """Inverse of `from_limbs`; the highest limb keeps the sign."""
    mask = 2**LIMB_BITS - 1
    rows = [[v & mask, (v >> LIMB_BITS) & mask, v >> (2 * LIMB_BITS)] for v in values]
    return np.array(rows, dtype=np.int64).reshape(-1)


def largest_edge(mass: int, total: int, n_rows: int) -> int:
    """Upper bound of the sum of D over some of all rows, in units of 2^-61, from their sum of derivatives.

    A row has p = Phi' Q, and b is the scale. `mass` is the sum of rint(p 2^b) over the `n_rows` rows, so that the sum
    of p 2^b is at most mass + n_rows/2; `total` is that of the rows of all clients. D is
    rint(fl(p * fl(2^61 / fl(total 2^-b)))). A double of 53 bits is rounded three times, which adds less than 2^-51
    of D: hundreds of units where D is large, however few the rows are. The last rint adds 1/2 a row.
    """
    # floor((mass + n/2) (2^61 / total) (1 + 2^-51) + n/2)
    return (((2 * mass + n_rows) * (2**51 + 1) << SCALE_BITS - 51) + n_rows * total) // (2 * total)


@dataclass(frozen=True)
class Scales:
    """Exponents of the powers of two that no loss and no derivative reaches: all that is sent of the largest ones."""

    loss: int
    slope: int

    @classmethod
    def at(cls, loss: str, argument: float) -> Scales:
        """Scales for rows whose largest argument of Phi this is; Phi and Phi' increase."""
        values, derivatives = evaluate_loss(loss, np.array([argument]))
        return cls(math.frexp(float(values[0]))[1], math.frexp(float(derivatives[0]))[1])

    def covers(self, other: Scales) -> bool:
        return self.loss >= other.loss and self.slope >= other.slope

    @classmethod
    def largest(cls, scales: Iterable[Scales]) -> Scales:
        every = list(scales)
        return cls(max(one.loss for one in every), max(one.slope for one in every))

    def loss_value(self, total: int) -> float:
        return _value(total, self.loss)

    def slope_value(self, total: int) -> float:
        return _value(total, self.slope)


def _value(total: int, exponent: int) -> float:
    """Real number from a fixed-point integer."""
    shift = SCALE_BITS - exponent if exponent >= SMALLEST_EXPONENT else SCALE_BITS - SMALLEST_EXPONENT
    return math.ldexp(float(total), -shift)


@lru_cache(maxsize=256)
def argument_with(loss: str, scales: Scales) -> float:
    """Least argument whose loss and derivative have these scales, by bisection over all doubles."""

    def reaches(argument: float) -> bool:
        return Scales.at(loss, argument).covers(scales)

    low, high = -800.0, 1.0
    while not reaches(high):
        low, high = high, 2.0 * high if high > 0 else 1.0
        if high > 2.0**20:
            raise ValueError(f"no argument of the {loss} loss has the powers of two {scales}.")
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        low, high = (low, middle) if reaches(middle) else (middle, high)


def plain(value: Any) -> Any:
    """Python value of a NumPy scalar; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value
