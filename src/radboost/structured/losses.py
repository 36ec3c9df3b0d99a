"""Losses between strings as weighted transducers: L(y, y_i) is the cost of U(y, y_i), -log of it where U counts.

Storcheus (2021), sections 6.2.1, 6.4 (rational losses) and 6.5 (tropical losses).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import ClassVar

from radboost._validation import check_integer, check_real, resolve
from radboost.model_file import storable_value
from radboost.structured.composition import compose
from radboost.structured.semirings import LOG, TROPICAL
from radboost.structured.transducer import EPSILON, Arc, Transducer


class StringLoss:
    """A loss between strings over 0, ..., alphabet_size - 1.

    A loss of one's own is made of a transducer by `transducer_loss`, or by a subclass with `transducers`. Over the
    tropical semiring the loss is the cheapest path, over the log semiring -log of a sum over paths.
    """

    # True: the automaton of the losses grows slowly with the length, so that it needs no budget.
    is_small: ClassVar[bool] = False

    def transducers(self, alphabet_size: int, target_length: int) -> tuple[Transducer, ...]:
        """Transducers whose composition is U, from the predicted string to the true one."""
        raise NotImplementedError

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        """Pi_1(U o Y_i): the losses of all strings against the true one, y. Storcheus (2021), (6.2).

        Composed from the right, so that only arcs that y can take are made.
        """
        factors = self.transducers(alphabet_size, len(y))
        composed = Transducer.of_string(y, factors[-1].semiring)
        for factor in reversed(factors):
            composed = compose(factor, composed)
        return composed.project()

    def check_lengths(self, length: int, target_length: int) -> None:
        """Raise ValueError for lengths between which the loss is not defined; here there are none."""
        del length, target_length


LARGEST_COST = 1e12  # beyond it, sums of costs lose the digits of small ones


def _check_cost(name: str, value: float) -> float:
    return check_real(name, value, low=-LARGEST_COST, high=LARGEST_COST)


def _alignment(
    y: Sequence[int], alphabet_size: int, match: float, substitution: float, insertion: float, deletion: float
) -> list[Arc]:
    """Arcs of all alignments with y; states are the numbers of its symbols so far. Storcheus (2021), Figure 6.3."""
    arcs = [Arc(s, a, a, deletion, s) for s in range(len(y) + 1) for a in range(alphabet_size)]
    for s, true in enumerate(y):
        arcs.append(Arc(s, EPSILON, EPSILON, insertion, s + 1))
        arcs += [Arc(s, a, a, match if a == true else substitution, s + 1) for a in range(alphabet_size)]
    return arcs


@storable_value
@dataclass(frozen=True)
class EditDistance(StringLoss):
    """The least cost of substitutions, insertions and deletions that turn a string into the true one. Figure 6.3(a)."""

    substitution: float = 1.0
    insertion: float = 1.0
    deletion: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if _check_cost(field.name, getattr(self, field.name)) < 0.0:
                raise ValueError(
                    f"{field.name} must not be negative in an edit distance, got {getattr(self, field.name)!r}; "
                    "smith_waterman() rewards matches."
                )

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        arcs = _alignment(y, alphabet_size, 0.0, self.substitution, self.insertion, self.deletion)
        return Transducer(TROPICAL, len(y) + 1, arcs, {0: 0.0}, {len(y): 0.0})


@storable_value
@dataclass(frozen=True)
class SmithWaterman(StringLoss):
    """The least cost of aligning any part of one string with any part of the other; the rest is free. Figure 6.3(b).

    It is the negative of the best local alignment's score, and never positive.
    """

    match: float = -2.0
    substitution: float = 1.0
    insertion: float = 1.0
    deletion: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_cost(field.name, getattr(self, field.name))
        if self.match > min(self.substitution, 0.0):
            raise ValueError(
                "match must be at most 0 and at most the cost of a substitution, got "
                f"match={self.match!r}, substitution={self.substitution!r}."
            )

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        """Acceptor with states before and after the alignment, in which symbols are free, beside those within."""
        before, after = len(y) + 1, len(y) + 2
        arcs = [Arc(state, a, a, 0.0, state) for state in (before, after) for a in range(alphabet_size)]
        for s in range(len(y) + 1):
            arcs += [Arc(before, EPSILON, EPSILON, 0.0, s), Arc(s, EPSILON, EPSILON, 0.0, after)]
        arcs += _alignment(y, alphabet_size, self.match, self.substitution, self.insertion, self.deletion)
        return Transducer(TROPICAL, len(y) + 3, arcs, {before: 0.0}, {after: 0.0})


@storable_value
@dataclass(frozen=True)
class Hamming(StringLoss):
    """The fraction of positions at which two strings of the same length differ. Section 6.2.1."""

    is_small = True

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        arcs = [
            Arc(s, a, a, 0.0 if a == true else 1.0 / len(y), s + 1)
            for s, true in enumerate(y)
            for a in range(alphabet_size)
        ]
        return Transducer(TROPICAL, len(y) + 1, arcs, {0: 0.0}, {len(y): 0.0})

    def check_lengths(self, length: int, target_length: int) -> None:
        if length != target_length:
            raise ValueError(
                f"The Hamming loss needs strings of the same length, got {length} and {target_length}; "
                "edit_distance() compares strings of different lengths."
            )


@partial(storable_value, name="CrossEntropy")
@dataclass(frozen=True)
class StringCrossEntropy(StringLoss):
    """No loss at all: with L = 0, (6.1) is the cross-entropy of a conditional random field."""

    is_small = True

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        del y
        loops = [(0, symbol, symbol, 0.0, 0) for symbol in range(alphabet_size)]
        return Transducer(TROPICAL, 1, loops, {0: 0.0}, {0: 0.0})


@storable_value
@dataclass(frozen=True)
class NGram(StringLoss):
    """-log(smoothing + the inner product of both strings' n-gram counts). Section 6.4.

    Without smoothing the loss of a string without common n-grams is infinite, and so would be Z. The thesis's
    construction gives such strings no weight at all.
    """

    n: int = 2
    smoothing: float = 1.0

    is_small = True

    def __post_init__(self) -> None:
        check_integer("n", self.n, 1)
        if _check_cost("smoothing", self.smoothing) <= 0.0:
            raise ValueError(
                f"smoothing must be a positive number; got {self.smoothing!r}. Without it the loss of strings that "
                "share no n-gram is infinite."
            )

    def acceptor(self, y: Sequence[int], alphabet_size: int) -> Transducer:
        """Acceptor with one state for each beginning of an n-gram of y."""
        counts = Counter(tuple(y[first : first + self.n]) for first in range(len(y) - self.n + 1))
        beginnings = sorted({gram[:size] for gram in counts for size in range(self.n)} | {()})
        state_of = {beginning: state for state, beginning in enumerate(beginnings)}
        counted, smoothed = len(beginnings), len(beginnings) + 1
        loops = (state_of[()], counted, smoothed)
        arcs = [Arc(state, symbol, symbol, 0.0, state) for state in loops for symbol in range(alphabet_size)]
        for beginning in beginnings[1:]:
            symbol = beginning[-1]
            arcs.append(Arc(state_of[beginning[:-1]], symbol, symbol, 0.0, state_of[beginning]))
        for gram, count in sorted(counts.items()):
            arcs.append(Arc(state_of[gram[:-1]], gram[-1], gram[-1], -math.log(count), counted))
        initial = {state_of[()]: 0.0, smoothed: -math.log(self.smoothing)}
        return Transducer(LOG, smoothed + 1, arcs, initial, {counted: 0.0, smoothed: 0.0})


@dataclass(frozen=True, eq=False)
class TransducerLoss(StringLoss):
    """A loss of one's own: the cost of U over the tropical or over the log semiring."""

    transducer: Transducer

    def __post_init__(self) -> None:
        if not isinstance(self.transducer, Transducer):
            raise TypeError(
                f"transducer must be a radboost.structured.Transducer, got {type(self.transducer).__name__}."
            )

    def transducers(self, alphabet_size: int, target_length: int) -> tuple[Transducer, ...]:
        return (self.transducer,)


def edit_distance(substitution: float = 1.0, insertion: float = 1.0, deletion: float = 1.0) -> EditDistance:
    """The edit distance with costs of one's own (none negative)."""
    return EditDistance(substitution, insertion, deletion)


def smith_waterman(
    match: float = -2.0, substitution: float = 1.0, insertion: float = 1.0, deletion: float = 1.0
) -> SmithWaterman:
    """The negative Smith-Waterman score. A match has a cost of at most 0."""
    return SmithWaterman(match, substitution, insertion, deletion)


def ngram(n: int = 2, smoothing: float = 1.0) -> NGram:
    """-log(smoothing + inner product of n-gram counts)."""
    return NGram(n, smoothing)


def hamming() -> Hamming:
    """The fraction of positions that differ."""
    return Hamming()


def cross_entropy() -> StringCrossEntropy:
    """A loss of 0 between any strings, for the usual training by cross-entropy."""
    return StringCrossEntropy()


def transducer_loss(transducer: Transducer) -> TransducerLoss:
    """The loss of a transducer of one's own."""
    return TransducerLoss(transducer)


STRING_LOSSES: dict[str, Callable[[], StringLoss]] = {
    "edit_distance": EditDistance,
    "smith_waterman": SmithWaterman,
    "ngram": NGram,
    "hamming": Hamming,
    "cross_entropy": StringCrossEntropy,
}


def get_string_loss(loss: StringLoss | str) -> StringLoss:
    """A loss, or the one with this name and its usual costs."""
    known = "a loss of radboost.structured such as edit_distance(2.0)"
    return resolve("loss", loss, STRING_LOSSES, StringLoss, known)
