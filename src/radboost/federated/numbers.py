"""Exact sums on their way between machines: integers of 128 bits, and the scales that reals become integers by."""

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
# As in the engine: terms of magnitude up to 2^exponent take 61 bits, and below 2^-900 they are nothing.
SCALE_BITS = 61
SMALLEST_EXPONENT = -900
LIMB_BITS, N_LIMBS = 32, 3


def to_words(values: Iterable[int]) -> Words:
    """A line (high, low) of 64 bits each for every integer."""
    lines = [[(value >> 64) & (2**64 - 1), value & (2**64 - 1)] for value in values]
    return np.array(lines, dtype=np.uint64).reshape(-1, 2).view(np.int64)


def from_words(words: Words) -> list[int]:
    """The inverse of `to_words`."""
    low = np.ascontiguousarray(words[:, 1]).view(np.uint64)
    return [high * 2**64 + rest for high, rest in zip(words[:, 0].tolist(), low.tolist(), strict=True)]


def from_limbs(limbs: npt.NDArray[np.int64]) -> list[int]:
    """Integers that the engine hands to a collective in three limbs of 32 bits."""
    lines = limbs.reshape(-1, N_LIMBS).tolist()
    return [sum(limb << (LIMB_BITS * place) for place, limb in enumerate(line)) for line in lines]


def to_limbs(values: Iterable[int]) -> npt.NDArray[np.int64]:
    """The inverse of `from_limbs`; the highest limb keeps the sign."""
    mask = 2**LIMB_BITS - 1
    lines = [[v & mask, (v >> LIMB_BITS) & mask, v >> (2 * LIMB_BITS)] for v in values]
    return np.array(lines, dtype=np.int64).reshape(-1)


def largest_edge(mass: int, total: int, n_rows: int) -> int:
    """Largest sum of D over some of all rows, in units of 2^-61, given their share of the derivatives.

    A row has p = Phi' Q, and b is the scale. `mass` is the sum of rint(p 2^b) over the `n_rows` rows, so that the sum
    of p 2^b is at most mass + n_rows/2; `total` is that of everybody's rows. D is
    rint(fl(p * fl(2^61 / fl(total 2^-b)))). Three times a double of 53 bits is rounded, which adds less than 2^-51
    of D: hundreds of units where the share is large, however few the rows are. The integer adds 1/2 a row.
    """
    # floor((mass + n/2) (2^61 / total) (1 + 2^-51) + n/2)
    return (((2 * mass + n_rows) * (2**51 + 1) << SCALE_BITS - 51) + n_rows * total) // (2 * total)


@dataclass(frozen=True)
class Scales:
    """The powers of two that no loss and no derivative of a loss reaches: all that is told of the largest of them."""

    loss: int
    slope: int

    @classmethod
    def at(cls, loss: str, argument: float) -> Scales:
        """Those of Phi and Phi', which increase, where their argument is largest."""
        values, derivatives = evaluate_loss(loss, np.array([argument]))
        return cls(math.frexp(float(values[0]))[1], math.frexp(float(derivatives[0]))[1])

    def covers(self, other: Scales) -> bool:
        return self.loss >= other.loss and self.slope >= other.slope

    @classmethod
    def largest(cls, scales: Iterable[Scales]) -> Scales:
        found = list(scales)
        return cls(max(one.loss for one in found), max(one.slope for one in found))

    def loss_value(self, total: int) -> float:
        return _value(total, self.loss)

    def slope_value(self, total: int) -> float:
        return _value(total, self.slope)


def _value(total: int, exponent: int) -> float:
    """The number that an integer stands for."""
    shift = SCALE_BITS - exponent if exponent >= SMALLEST_EXPONENT else SCALE_BITS - SMALLEST_EXPONENT
    return math.ldexp(float(total), -shift)


@lru_cache(maxsize=256)
def argument_with(loss: str, scales: Scales) -> float:
    """The least argument whose loss and derivative have these powers of two, by bisection over all doubles."""

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
    """A NumPy scalar as Python has it."""
    return value.item() if isinstance(value, np.generic) else value
