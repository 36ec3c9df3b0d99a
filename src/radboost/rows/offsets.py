"""Offsets (initial scores) of rows: numbers that are given with the rows and not stored in a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost._tables import read_numbers
from radboost._typing import FloatArray

# Largest absolute offset of classifiers: beyond it probabilities are 0 or 1, and sums of steps are not exact.
LARGEST_OF_CLASSES = 1000.0


def read_offset(
    offset: Any, n_rows: int, n_outputs: int, *, name: str = "offset", rows: str = "X", of_classes: bool = False
) -> FloatArray | None:
    """Offsets of shape (n_rows,), or (n_rows, n_outputs) for several classes or targets; None where all are 0."""
    if offset is None:
        return None
    shape = "one number for each row"
    if n_outputs > 1:
        shape = f"a line of {n_outputs} numbers, one per class or target, for each row"
    numbers = read_numbers(offset, name, shape, "with 0, say")
    if n_outputs == 1 and numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != ((n_rows,) if n_outputs == 1 else (n_rows, n_outputs)):
        raise ValueError(f"{name} must be {shape}; got the shape {numbers.shape}, and {rows} has {n_rows} rows.")
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"{name} holds NaN or infinity; every entry must be a finite number. The logarithm of an exposure of 0 is "
            "infinite: leave such rows out, or give them the weight 0 and any offset."
        )
    if of_classes and len(numbers) and np.abs(numbers).max() > LARGEST_OF_CLASSES:
        raise ValueError(
            f"{name} goes up to {np.abs(numbers).max():g} in size, and scores of classes must not begin beyond "
            f"{LARGEST_OF_CLASSES:g}: offsets are scores, logarithms of odds in RGBClassifier, and no probabilities or "
            "counts."
        )
    return np.ascontiguousarray(numbers + 0.0) if numbers.any() else None  # -0.0 becomes 0.0
