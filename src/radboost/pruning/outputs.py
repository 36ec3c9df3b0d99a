"""How the numbers that hypotheses give for a row are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray


@dataclass(frozen=True)
class Outputs:
    """The numbers for a row: one, or scores of several classes, or several targets, each of which has a unit.

    Of scores of classes only the differences matter: they are compared with the mean 0.
    """

    number: int
    units: FloatArray | None = None

    @property
    def of_classes(self) -> bool:
        """Whether there are several, of as many classes."""
        return self.number > 1 and self.units is None

    def compared(self, numbers: FloatArray) -> FloatArray:
        """What is compared of these numbers, in a line for each row."""
        if self.of_classes:
            return np.asarray(numbers - numbers.mean(axis=1, keepdims=True))
        return self.in_units(numbers)

    def in_units(self, numbers: FloatArray) -> FloatArray:
        """Several targets, or what is said of them, divided by their units; of all else what was given."""
        return numbers if self.units is None else numbers / self.units
