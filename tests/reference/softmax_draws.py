"""The pairs (row, label) that a round of soft-max boosting draws, one by one in Python's integers.

A draw is a function of (seed, round, number of the draw) and of the content of the rows, whose order is that of their
hashes. The only floating-point numbers are those that the rule and the costs are made of.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from .chance import keyed, row_hash

PAIR, LABEL = 0x70616972, 0x6C6162656C  # what the words are drawn for


@dataclass(frozen=True)
class Pair:
    row: int
    label: int
    weight: np.float32


@dataclass(frozen=True)
class Rows:
    """What the draws of a round see."""

    codes: np.ndarray  # of the bins, one line per row
    classes: Sequence[int]
    weights: np.ndarray | None
    costs: np.ndarray  # float32, one line per row
    costs_per_row: bool
    rule: np.ndarray  # float32, one line per row
    paid: np.ndarray  # what the rule pays in each row

    def order(self) -> list[int]:
        """Rows by the hash of their codes, class and own costs; copies stand together."""
        hashes = []
        for i, codes in enumerate(self.codes):
            found = row_hash(codes.tolist(), int(self.classes[i]))
            if self.costs_per_row:
                for bits in self.costs[i].view(np.uint32).tolist():
                    found = keyed(found, bits)
            hashes.append(found)
        return sorted(range(len(hashes)), key=lambda i: (hashes[i], i))

    def masses(self, sizes: Sequence[float] | None) -> list[int]:
        """Weight times size of each row in multiples of a power of two; whole weights count copies of the rounded size.

        Without sizes they are the weights, and without both every row is one unit.
        """
        if self.weights is None and sizes is None:
            return [1] * len(self.codes)
        weights = [1.0] * len(self.codes) if self.weights is None else self.weights.tolist()
        sizes = [1.0] * len(self.codes) if sizes is None else sizes
        shift = min(40, 61 - math.frexp(math.fsum(weights))[1])
        if all(w == math.floor(w) for w in weights):
            return [round(math.ldexp(s, shift)) * int(w) for s, w in zip(sizes, weights, strict=True)]
        return [round(math.ldexp(s * w, shift)) for s, w in zip(sizes, weights, strict=True)]


def parts_of_labels(rows: Rows, row: int, by_gradient: bool) -> list[float]:
    """What the label of a row is drawn in proportion to, in single precision."""
    if not by_gradient:
        return [float(g) for g in rows.rule[row]]
    paid = np.float32(rows.paid[row])
    return [float(g * abs(c - paid)) for g, c in zip(rows.rule[row], rows.costs[row], strict=True)]


def draw(rows: Rows, n_samples: int, seed: int, round_number: int, sizes: Sequence[float] | None) -> list[Pair]:
    """By the rule, or by the gradient if `sizes` has that of each row's gradient; pairs without weight are left out."""
    order, by_gradient = rows.order(), sizes is not None
    masses = rows.masses(sizes)
    cumulated = list(accumulate(masses[i] for i in order))
    total = cumulated[-1]
    key = keyed(keyed(seed, round_number), PAIR)
    pairs = []
    for number in range(n_samples if total > 0 else 0):
        word = keyed(key, number)
        place = (word * total) >> 64
        if by_gradient:  # one draw in each of n_samples equal parts of the whole
            place = (number * total + place) // n_samples
        row = order[bisect_right(cumulated, min(place, total - 1))]
        parts = parts_of_labels(rows, row, by_gradient)
        wanted = (keyed(word, LABEL) >> 11) * 2.0**-53 * sum(parts)
        below, label = 0.0, 0
        for z, part in enumerate(parts):
            label = z if part > 0 else label
            below += part
            if below > wanted:
                break
        difference = rows.costs[row, label] - np.float32(rows.paid[row])
        weight = np.float32(1.0 if difference > 0 else -1.0) if by_gradient else difference
        if weight != 0:
            pairs.append(Pair(row, label, weight))
    return pairs


def problem_of(pairs: Sequence[Pair], label: int, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weighted problem of one label: for each row its class, the whole weight of its pairs, and their number.

    Weights are brought by a power of two to a sum below 2^29, as integers.
    """
    own = [pair for pair in pairs if pair.label == label]
    classes, weights, counts = np.zeros(n_rows, int), np.zeros(n_rows, int), np.zeros(n_rows)
    if not own:
        return classes, weights, counts
    exponent = math.frexp(float(max(abs(pair.weight) for pair in own)))[1]
    total = sum(round(math.ldexp(abs(float(pair.weight)), 40 - exponent)) for pair in own)
    shift = 29 - (math.frexp(float(total))[1] - 40 + exponent)
    for pair in own:
        weight = round(math.ldexp(abs(float(pair.weight)), shift))
        weights[pair.row] += weight
        counts[pair.row] += weight > 0
        classes[pair.row] = pair.weight > 0
    return classes, weights, counts
