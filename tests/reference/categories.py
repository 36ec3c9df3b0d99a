"""Growth on columns of numbers and of categories, for any number of classes, with every question written out as a set.

A question is the set of codes that go left and the side of the missing values. Only where trees ask is grown here; what
their leaves answer has twins of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from . import chance
from .binning import MISSING


@dataclass(frozen=True)
class Question:
    column: int
    left: frozenset[int]
    missing_left: bool
    placed: frozenset[int]  # codes that the search decided about


@dataclass(frozen=True)
class Rows:
    """Codes, class, growth weight and sample weight of every row; gains of every answer where splits go by them."""

    codes: Sequence[Sequence[int]]
    n_codes: Sequence[int]
    categorical: Sequence[bool]
    y: Sequence[int]
    n_classes: int
    growth: Sequence[int]
    weight: Sequence[int]
    gains: Sequence[Sequence[int]] | None = None

    @property
    def all(self) -> list[int]:
        return list(range(len(self.y)))


def sums(rows: Rows, some: Sequence[int]) -> list[int]:
    """The gain of every answer, or the weight of every class."""
    if rows.gains is not None:
        return [sum(rows.gains[i][c] for i in some) for c in range(rows.n_classes)]
    return [sum(rows.growth[i] for i in some if rows.y[i] == c) for c in range(rows.n_classes)]


def score(rows: Rows, some: Sequence[int], criterion: str) -> int | Fraction | None:
    """What a node contributes, None where it may not be: gini needs weight on both sides."""
    values = sums(rows, some)
    if rows.gains is not None:
        return max(0, *values)
    whole = sum(values)
    if criterion == "edge":
        return max(0, 2 * max(values) - whole)
    return Fraction(sum(v * v for v in values), whole) if whole > 0 else None


def with_code(rows: Rows, some: Sequence[int], column: int, code: int) -> list[int]:
    return [i for i in some if rows.codes[i][column] == code]


def counting(rows: Rows, some: Sequence[int], column: int) -> list[int]:
    """The categories that have any weight among some rows."""
    codes = range(rows.n_codes[column])
    return [code for code in codes if any(sums(rows, with_code(rows, some, column, code)))]


def ordered(rows: Rows, some: Sequence[int], column: int) -> list[int]:
    """By the share of the second of two classes, or of the heaviest, or by the gain of the best answer."""
    values = sums(rows, some)
    key = 1 if rows.n_classes == 2 and rows.gains is None else values.index(max(values))

    def place(code: int) -> tuple[Fraction, int]:
        here = sums(rows, with_code(rows, some, column, code))
        return (Fraction(here[key]) if rows.gains is not None else Fraction(here[key], sum(here))), code

    return sorted(counting(rows, some, column), key=place)


def sides(missing: bool) -> tuple[bool, ...]:
    return (False, True) if missing else (False,)


def along(column: int, order: Sequence[int], missing: bool) -> Iterator[Question]:
    """The cuts along an order; with missing values the last one parts these from all others."""
    for n in range(1, len(order) + (1 if missing else 0)):
        for side in sides(missing):
            yield Question(column, frozenset(order[:n]), side, frozenset(order))


def questions(rows: Rows, some: Sequence[int], column: int, minimum: float = 0) -> Iterator[Question]:
    """All that the search asks about a column, in the order that breaks ties.

    Codes without weight are passed over, except that their rows count for a leaf minimum.
    """
    seen = {rows.codes[i][column] for i in some}
    if rows.categorical[column]:
        yield from along(column, ordered(rows, some, column), MISSING in seen)
        return
    every = frozenset(range(rows.n_codes[column]))
    found = sorted(seen - {MISSING}) if minimum > 0 else counting(rows, some, column)
    for question in along(column, found, MISSING in seen):
        left = frozenset(range(max(question.left) + 1))
        yield replace(question, left=left, placed=every)


def subsets(rows: Rows, some: Sequence[int], column: int, minimum: float = 0) -> Iterator[Question]:
    """Every way to part the categories that occur in two, and the missing values to either side; all thresholds."""
    if not rows.categorical[column]:
        yield from questions(rows, some, column, minimum)
        return
    seen = {rows.codes[i][column] for i in some}
    codes = sorted(seen - {MISSING})
    for n in range(len(codes) + 1):
        for left in itertools.combinations(codes, n):
            for side in sides(MISSING in seen):
                yield Question(column, frozenset(left), side, frozenset(codes))


def parts(rows: Rows, some: Sequence[int], question: Question) -> tuple[list[int], list[int]]:
    left = []
    for i in some:
        code = rows.codes[i][question.column]
        if question.missing_left if code == MISSING else code in question.left:
            left.append(i)
    chosen = set(left)
    return left, [i for i in some if i not in chosen]


def completed(rows: Rows, some: Sequence[int], question: Question) -> Question:
    """Codes that the search left open go with the heavier child, left on a tie."""
    column = question.column
    decided = [i for i in some if rows.codes[i][column] in question.placed | {MISSING}]
    left, right = (sum(rows.weight[i] for i in side) for side in parts(rows, decided, question))
    every = frozenset(range(rows.n_codes[column]))
    others = every - question.placed if left >= right else frozenset()
    missing = any(rows.codes[i][column] == MISSING for i in some)
    return Question(column, question.left | others, question.missing_left if missing else left >= right, every)


def split_score(
    rows: Rows, some: Sequence[int], question: Question, criterion: str, minimum: float = 0
) -> int | Fraction | None:
    halves = parts(rows, some, completed(rows, some, question))
    if any(sum(rows.weight[i] for i in half) < minimum for half in halves):
        return None
    scores = [score(rows, half, criterion) for half in halves]
    return None if None in scores else scores[0] + scores[1]  # type: ignore[operator]


Asker = Callable[[Rows, Sequence[int], int, float], Iterator[Question]]


def best_question(
    rows: Rows, some: Sequence[int], criterion: str, minimum: float = 0, ask: Asker = questions
) -> tuple[Question, int | Fraction] | None:
    own = score(rows, some, criterion)
    if own is None:
        return None
    best: tuple[Question, int | Fraction] | None = None
    floor = own * Fraction(10**12 + 1, 10**12) if criterion == "gini" and rows.gains is None else own
    for column in range(len(rows.n_codes)):
        for question in ask(rows, some, column, minimum):
            found = split_score(rows, some, question, criterion, minimum)
            if found is not None and found > (floor if best is None else best[1]):
                best = question, found
    return best


def drawn_subset(key: int, codes: Sequence[int], missing: bool) -> frozenset[int]:
    """The first of 64 coins that does not fall alike for all categories; with missing values the first coin."""
    words = {code: chance.keyed(key, code) for code in codes}
    for coin in range(64):
        left = frozenset(code for code in codes if words[code] >> coin & 1)
        if missing:
            return left or frozenset(codes)
        if 0 < len(left) < len(codes):
            return left
    raise AssertionError("64 coins alike")


def random_questions(rows: Rows, some: Sequence[int], column: int, key: int) -> list[Question]:
    """One threshold or one subset, and both sides for missing values."""
    seen = {rows.codes[i][column] for i in some}
    codes, missing = sorted(seen - {MISSING}), MISSING in seen
    if not codes or len(seen) < 2:
        return []
    key = chance.keyed(key, column)
    if rows.categorical[column]:
        left, placed = drawn_subset(key, codes, missing), frozenset(codes)
    else:
        last = codes[0] + chance.below(key, codes[-1] - codes[0] + missing)
        left, placed = frozenset(range(last + 1)), frozenset(range(rows.n_codes[column]))
    return [Question(column, left, side, placed) for side in sides(missing)]


def random_question(
    rows: Rows, some: Sequence[int], criterion: str, key: int, max_features: int, minimum: float
) -> Question | None:
    """The best of one draw per drawn column; more columns are drawn while the rows are alike in all."""
    n, own = len(rows.n_codes), score(rows, some, criterion)
    first, last = 0, max_features or n
    best: tuple[Question, int | Fraction] | None = None
    asked = False
    while first < n and not asked:
        for column in chance.drawn_columns(key, n, first, last):
            for question in random_questions(rows, some, column, key):
                asked = True
                found = split_score(rows, some, question, criterion, minimum)
                if found is not None and own is not None and found > (own if best is None else best[1]):
                    best = question, found
        first, last = last, min(n, 2 * last)
    return best[0] if best else None


def grow(
    rows: Rows, some: Sequence[int], depth: int, choose: Callable[[Sequence[int], str], Question | None], path: str = ""
) -> dict[str, tuple[int, frozenset[int], bool]]:
    """The questions of a tree by their place: a path of L and R."""
    hopeless = rows.gains is None and sum(v > 0 for v in sums(rows, some)) <= 1
    question = None if depth == 0 or len(some) < 2 or hopeless else choose(some, path)
    if question is None:
        return {}
    question = completed(rows, some, question)
    left, right = parts(rows, some, question)
    return {
        path: (question.column, question.left, question.missing_left),
        **grow(rows, left, depth - 1, choose, path + "L"),
        **grow(rows, right, depth - 1, choose, path + "R"),
    }
