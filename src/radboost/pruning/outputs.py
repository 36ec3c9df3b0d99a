"""Common form of scores and predictions in which pruning compares them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray


@dataclass(frozen=True)
class Outputs:
    """Outputs of a model: one score, scores of several classes, or several targets with a unit each.

    Only differences between scores of classes matter: their mean is subtracted.
    """

    number: int
    units: FloatArray | None = None

    @property
    def of_classes(self) -> bool:
        """True for scores of several classes."""
        return self.number > 1 and self.units is None

    def compared(self, numbers: FloatArray) -> FloatArray:
        """Values in the common form, shape (n_rows, n_outputs)."""
        if self.of_classes:
            return np.asarray(numbers - numbers.mean(axis=1, keepdims=True))
        return self.in_units(numbers)

    def in_units(self, numbers: FloatArray) -> FloatArray:
        """Several targets, or their scores, divided by their units; other values unchanged."""
        return numbers if self.units is None else numbers / self.units
