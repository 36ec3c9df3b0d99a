"""Rows in the order of a hash of their content, copies merged: what sums of floating-point numbers are taken along."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from .chance import WORD, keyed


def bits_of(value: float) -> int:
    """The bits of a double; -0 is 0."""
    return int(struct.unpack("<Q", struct.pack("<d", value + 0.0))[0])


def row_hash(row: Sequence[float], first_column: int = 0) -> int:
    """The sum of the hashes of cells and their columns, from 1 on. A zero adds nothing: a sparse row is the same."""
    bits = [bits_of(float(value)) for value in row]
    return sum(keyed(cell, column) for column, cell in enumerate(bits, first_column + 1) if cell) & WORD


def canonical_rows(X: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> list[tuple[int, float]]:
    """(the place of a row, the weight of all its copies) by hash; `labels` has a line for each output.

    Copies are added in ascending order of their weights.
    """
    hashes = [(row_hash(x) + row_hash(own, X.shape[1])) & WORD for x, own in zip(X, labels.T, strict=True)]
    rows: list[tuple[int, float]] = []
    for i in sorted(range(len(X)), key=lambda i: (hashes[i], weights[i], i)):
        last = rows[-1][0] if rows else -1
        if rows and np.array_equal(X[i], X[last]) and np.array_equal(labels[:, i], labels[:, last], equal_nan=True):
            rows[-1] = (last, rows[-1][1] + float(weights[i]))
        else:
            rows.append((i, float(weights[i])))
    return rows
