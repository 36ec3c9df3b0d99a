"""Rows in the order of a hash of their content, copies merged: what sums of floating-point numbers are taken along."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

WORD = 2**64 - 1


def bits_of(value: float) -> int:
    """The bits of a double; -0 is 0."""
    return int(struct.unpack("<Q", struct.pack("<d", value + 0.0))[0])


def odd_number(column: int) -> int:
    """A number of the column's own: without a factor in common with 2^64, so that a product with it loses nothing."""
    spread = column + 1
    spread ^= spread >> 32
    spread = (spread * 0x9E3779B97F4A7C15) & WORD
    return (spread ^ (spread >> 29)) | 1


def row_hash(row: Sequence[float], first_column: int = 0) -> int:
    """The sum of the cells' bits times the number of their column. A zero adds nothing: a sparse row is the same."""
    total = 0
    for place, value in enumerate(row):
        bits = bits_of(float(value))
        total += (bits ^ (bits >> 32)) * odd_number(first_column + place)
    return total & WORD


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
