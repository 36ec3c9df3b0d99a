"""Histograms and the best question at a node, by trying every question and adding the rows up again for each.

Numbers may be Python integers (then everything is exact) or floats (then scores closer than `tie`
count as equal, because sums that are equal on paper need not be equal in floats).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from .binning import MISSING, Column


@dataclass(frozen=True, order=True)
class Question:
    """Left are the bins up to `bin`; missing values go left where `missing_left`."""

    feature: int
    bin: int
    missing_left: bool

    def goes_left(self, code: int) -> bool:
        return self.missing_left if code == MISSING else code <= self.bin


@dataclass(frozen=True)
class Sample:
    """What a tree is grown on. `signed` is D*y, `mass` D, `weight` the sample weight, one per row.

    `judged` is D*y again where leaves are judged by finer numbers than growth uses.
    """

    columns: Sequence[Column]
    codes: Sequence[Sequence[int]]
    signed: Sequence[float]
    mass: Sequence[float]
    weight: Sequence[float]
    judged: Sequence[float] | None = None

    @property
    def judge(self) -> Sequence[float]:
        return self.signed if self.judged is None else self.judged

    @property
    def rows(self) -> list[int]:
        return list(range(len(self.signed)))


class Coded(Protocol):
    """Rows in bins, whatever they are summed by."""

    @property
    def columns(self) -> Sequence[Column]: ...

    @property
    def codes(self) -> Sequence[Sequence[int]]: ...


def make_sample(
    columns: Sequence[Column],
    codes: Sequence[Sequence[int]],
    D: Sequence[float],
    y: Sequence[int],
    weight: Sequence[float] | None = None,
) -> Sample:
    """A sample from the weights D >= 0 and the labels y in {-1, +1}."""
    signed = [d * int(label) for d, label in zip(D, y, strict=True)]
    return Sample(columns, codes, signed, list(D), [1.0] * len(signed) if weight is None else list(weight))


def histogram(sample: Sample, rows: Sequence[int], feature: int) -> dict[int, tuple[float, float, float]]:
    """Sums of (D*y, D, sample weight) per bin of one feature; bins without rows are absent."""
    out: dict[int, tuple[float, float, float]] = {}
    for i in rows:
        b = int(sample.codes[i][feature])
        g, d, w = out.get(b, (0, 0, 0))
        out[b] = (g + sample.signed[i], d + sample.mass[i], w + sample.weight[i])
    return out


def node_score(criterion: str, signed: float, mass: float) -> float | Fraction:
    """What a node contributes: abs(G) for the edge, G^2/W for gini."""
    if criterion == "edge":
        return abs(signed)
    if criterion == "gini":
        return Fraction(signed) ** 2 / Fraction(mass) if mass > 0 else Fraction(0)
    raise ValueError(criterion)


def questions(
    sample: Sample, feature: int, *nodes: Sequence[int], criterion: str = "edge", weighed: bool = False
) -> Iterator[Question]:
    """Every question about one feature, in the order that breaks ties.

    At nodes (given by their rows) a bin that adds nothing to what is summed is passed over: its question scores as
    the one before it. Nothing that is missing there: no question about missing values either.
    """
    column = sample.columns[feature]
    present = set(range(-1, column.n_bins))
    if nodes:
        sums = [item for rows in nodes for item in histogram(sample, rows, feature).items()]
        present = {b for b, s in sums if s[1] != 0 or (weighed and s[2] != 0)}
    missing = column.has_missing and MISSING in present
    for t in range(column.n_bins if missing else column.n_bins - 1):
        if t in present:
            yield Question(feature, t, False)
            if missing:
                yield Question(feature, t, True)


def parts(sample: Coded, rows: Sequence[int], question: Question) -> tuple[list[int], list[int]]:
    """The rows that answer yes (left) and no (right), in their order."""
    left = [i for i in rows if question.goes_left(int(sample.codes[i][question.feature]))]
    chosen = set(left)
    return left, [i for i in rows if i not in chosen]


def threshold_of(sample: Coded, question: Question) -> float:
    """The raw threshold of a question; above the last bin lies everything that is not missing."""
    thresholds = sample.columns[question.feature].thresholds
    return thresholds[question.bin] if question.bin < len(thresholds) else math.inf


def total(values: Sequence[float], rows: Sequence[int]) -> float:
    return sum(values[i] for i in rows)


def split_score(
    sample: Sample, rows: Sequence[int], question: Question, criterion: str, min_leaf_weight: float = 0.0
) -> float | Fraction | None:
    """Score of one question at one node, None where it is not allowed."""
    score: float | Fraction = 0
    for side in parts(sample, rows, question):
        if not side or total(sample.weight, side) < min_leaf_weight:
            return None
        mass = total(sample.mass, side)
        if criterion == "gini" and mass <= 0:
            return None
        score += node_score(criterion, total(sample.signed, side), mass)
    return score


@dataclass(frozen=True)
class Split:
    question: Question
    score: float | Fraction
    gain: float | Fraction  # score less the score of the unsplit node


def best_split(
    sample: Sample,
    rows: Sequence[int],
    criterion: str = "edge",
    *,
    min_leaf_weight: float = 0.0,
    features: Sequence[int] | None = None,
    tie: float = 0,
) -> Split | None:
    """The question that scores most above the node itself; ties: feature, bin, missing right before left."""
    own = node_score(criterion, total(sample.signed, rows), total(sample.mass, rows))
    floor = own * Fraction(10**12 + 1, 10**12) if criterion == "gini" else own
    best: Split | None = None
    for feature in sorted(features) if features is not None else range(len(sample.columns)):
        for question in questions(sample, feature, rows, criterion=criterion, weighed=min_leaf_weight > 0):
            score = split_score(sample, rows, question, criterion, min_leaf_weight)
            if score is None or not score > floor + tie:
                continue
            if best is None or score > best.score + tie:
                best = Split(question, score, score - own)
    return best
