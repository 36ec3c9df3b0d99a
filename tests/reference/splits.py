"""Samples, questions and the best split of a node, by trying every question and adding the rows up again for each.

With integers in the sample everything is exact, except for the one division of each child under "gini", which is taken
in double precision as a native grower would. With floats, scores closer than `tie` count as equal, because sums that
are equal on paper need not be equal in floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from .binning import MISSING, Column
from .multiclass import Objective, Sums


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
    """What a tree is grown on: g(i, c), growth weights, labels and sample weights of the rows.

    `judged`: where given, answers and edges are taken from it, and g only finds the splits (other integers for the
    same numbers). `signs`: leaves say -1 and +1 in place of the classes 0 and 1.
    """

    columns: Sequence[Column]
    codes: Sequence[Sequence[int]]
    y: Sequence[int]
    g: Sequence[Sequence[float]]
    mass: Sequence[float]
    weight: Sequence[float]
    n_classes: int
    judged: Sequence[Sequence[float]] | None = None
    signs: bool = False

    @property
    def rows(self) -> list[int]:
        return list(range(len(self.y)))

    @cached_property
    def signed(self) -> list[float]:
        """D*y of two classes."""
        return [gains[1] for gains in self.g]

    @cached_property
    def judge(self) -> list[float]:
        """D*y of two classes by which leaves are judged."""
        return self.signed if self.judged is None else [gains[1] for gains in self.judged]


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
    """A sample of two classes from the weights D >= 0 and the labels y in {-1, +1}."""
    signed = [d * int(label) for d, label in zip(D, y, strict=True)]
    return sample_of_signs(columns, codes, signed, D, [1.0] * len(signed) if weight is None else weight)


def sample_of_signs(
    columns: Sequence[Column],
    codes: Sequence[Sequence[int]],
    signed: Sequence[float],
    mass: Sequence[float],
    weight: Sequence[float],
    judged: Sequence[float] | None = None,
) -> Sample:
    """A sample of two classes from D*y."""
    y = [int(v > 0) for v in signed]
    g = [[-v, v] for v in signed]
    finer = None if judged is None else [[-v, v] for v in judged]
    return Sample(columns, codes, y, g, list(mass), list(weight), 2, finer, signs=True)


def sample_at(objective: Objective, at: Sums, columns: Sequence[Column], codes: Sequence[Sequence[int]]) -> Sample:
    """The sample of an objective at some scores. Growth weights are integers of total about 2^30."""
    mass = [round(float(v) * 2**30) for v in objective.row_weights(at)]
    return Sample(
        columns,
        codes,
        [int(c) for c in objective.y],
        objective.gradients(at).tolist(),
        mass,
        objective.w.tolist(),
        objective.n_classes,
    )


def total(values: Sequence[float], rows: Sequence[int]) -> float:
    return sum(values[i] for i in rows)


def class_sums(sample: Sample, rows: Sequence[int]) -> list[float]:
    """G_c of some rows."""
    return [sum(sample.g[i][c] for i in rows) for c in range(sample.n_classes)]


def judged_sums(sample: Sample, rows: Sequence[int]) -> list[float]:
    g = sample.g if sample.judged is None else sample.judged
    return [sum(g[i][c] for i in rows) for c in range(sample.n_classes)]


def node_score(sample: Sample, rows: Sequence[int], criterion: str) -> float:
    """What a node contributes: the largest G_c for the edge, the squared masses of the classes over W for gini."""
    if criterion == "edge":
        return max(0, *class_sums(sample, rows))
    by_class: list[float] = [0] * sample.n_classes
    for i in rows:
        by_class[sample.y[i]] += sample.mass[i]
    whole = sum(by_class)
    return float(sum(v * v for v in by_class)) / float(whole) if whole > 0 else 0.0


def questions(sample: Sample, feature: int, rows: Sequence[int]) -> Iterator[Question]:
    """Every question that parts these rows, in the order that breaks ties: bin, missing right before missing left."""
    found = {int(sample.codes[i][feature]) for i in rows}
    present = sorted(found - {MISSING})
    for b in present if MISSING in found else present[:-1]:
        yield Question(feature, b, False)
        if MISSING in found:
            yield Question(feature, b, True)


def parts(sample: Coded, rows: Sequence[int], question: Question) -> tuple[list[int], list[int]]:
    """The rows that answer yes (left) and no (right), in their order."""
    left = [i for i in rows if question.goes_left(int(sample.codes[i][question.feature]))]
    chosen = set(left)
    return left, [i for i in rows if i not in chosen]


def threshold_of(sample: Coded, question: Question) -> float:
    """The raw threshold of a question; above the last bin lies everything that is not missing."""
    thresholds = sample.columns[question.feature].thresholds
    return thresholds[question.bin] if question.bin < len(thresholds) else math.inf


@dataclass(frozen=True)
class Split:
    question: Question
    score: float
    gain: float  # score less the score of the unsplit node


def to_beat(criterion: str, own: float) -> float:
    """Rounding must not make a useless split look useful."""
    return own * (1 + 1e-12) + 1e-12 if criterion == "gini" else own


def split_score(
    sample: Sample, rows: Sequence[int], question: Question, criterion: str, min_leaf_weight: float = 0.0
) -> float | None:
    """Score of one question at one node, None where it is not allowed."""
    sides = parts(sample, rows, question)
    for side in sides:
        if not side or total(sample.weight, side) < min_leaf_weight:
            return None
        if criterion == "gini" and total(sample.mass, side) <= 0:
            return None
    return node_score(sample, sides[0], criterion) + node_score(sample, sides[1], criterion)


def best_split(
    sample: Sample,
    rows: Sequence[int],
    criterion: str,
    *,
    min_leaf_weight: float = 0.0,
    features: Sequence[int] | None = None,
    tie: float = 0,
) -> Split | None:
    """The question that scores most above the node itself; first column, bin, missing right before left on ties."""
    own = node_score(sample, rows, criterion)
    best: Split | None = None
    for feature in sorted(features) if features is not None else range(len(sample.columns)):
        for question in questions(sample, feature, rows):
            score = split_score(sample, rows, question, criterion, min_leaf_weight)
            if score is not None and score > (to_beat(criterion, own) if best is None else best.score) + tie:
                best = Split(question, score, score - own)
    return best
