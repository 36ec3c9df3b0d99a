"""How many labelings trees have, against all of them; and Massart's lemma against drawn and enumerated signs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from radboost.guarantees.tree_counts import (
    log_catalan,
    log_labelings,
    log_multisets,
    log_pair_labelings,
    massart,
)
from reference import rademacher


def questions(X: np.ndarray, categorical: frozenset[int] = frozenset()) -> set[tuple[bool, ...]]:
    """All ways in which questions about single columns part the rows: who goes left. NaN goes either way."""
    found = set()
    for column in range(X.shape[1]):
        values = X[:, column]
        missing, known = np.isnan(values), np.unique(values[~np.isnan(values)])
        if column in categorical:
            sets = itertools.chain.from_iterable(itertools.combinations(known, k) for k in range(len(known) + 1))
            lefts = [np.isin(values, list(chosen)) for chosen in sets]
        else:
            lefts = [values <= threshold for threshold in [-np.inf, *known]]
        found |= {tuple((left | (missing & both)).tolist()) for left in lefts for both in (False, True)}
    return found


def labelings(X: np.ndarray, n: int, answers: int, categorical: frozenset[int] = frozenset()) -> set[tuple[int, ...]]:
    """All labelings of the rows by trees with n splits, by recursion over the questions of the root."""
    asked = questions(X, categorical)

    def of(n_splits: int) -> set[tuple[int, ...]]:
        if n_splits == 0:
            return {(answer,) * len(X) for answer in range(answers)}
        return {
            tuple(a if left else b for a, b, left in zip(one, other, side, strict=True))
            for k in range(n_splits)
            for one in of(k)
            for other in of(n_splits - 1 - k)
            for side in asked
        }

    return of(n)


def generic(m: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((m, d))


@pytest.mark.parametrize(
    ("n", "m", "d", "answers"), [(1, 6, 2, 2), (1, 5, 2, 3), (2, 5, 2, 2), (2, 4, 2, 3), (3, 5, 1, 2)]
)
def test_no_more_labelings_than_counted(n: int, m: int, d: int, answers: int) -> None:
    found = labelings(generic(m, d), n, answers)
    assert len(found) <= math.exp(log_labelings(n, m, d, math.log(answers))) * (1 + 1e-9)
    assert labelings(generic(m, d), n - 1, answers) <= found


def test_the_count_is_exact_for_stumps_on_one_column() -> None:
    for m in (2, 5, 9):
        assert len(labelings(generic(m, 1), 1, 2)) == 2 * m == pytest.approx(math.exp(log_labelings(1, m, 1)))


def test_missing_values_double_a_column() -> None:
    X = generic(6, 2, 1)
    X[0, 0] = X[3, 0] = X[2, 1] = np.nan
    found = labelings(X, 1, 2)
    assert len(found) > math.exp(log_labelings(1, 6, 1.3))  # one of them alone would not do
    assert len(found) <= math.exp(log_labelings(1, 6, 4))
    assert len(labelings(X, 2, 2)) <= math.exp(log_labelings(2, 6, 4))


def test_categories_pay_their_bits() -> None:
    """Five categories: 2^4 ways to part them, and not the 6 of a column of numbers."""
    X = np.column_stack([[0, 1, 2, 3, 4, 4], generic(6, 1)[:, 0]])
    found = labelings(X, 1, 2, frozenset({0}))
    assert len(found) > math.exp(log_labelings(1, 6, 2))
    assert len(found) <= math.exp(log_labelings(1, 6, 2, bits=4))
    assert len(labelings(X, 2, 2, frozenset({0}))) <= math.exp(log_labelings(2, 6, 2, bits=8))


@pytest.mark.parametrize("answers", [2, 3])
def test_stump_pairs(answers: int) -> None:
    X = generic(5, 2, 3)
    asked = [np.array(side) for side in questions(X)]
    found = {
        tuple(np.array(leaves)[2 * first + second].tolist())
        for first, second in itertools.product(asked, asked)
        for leaves in itertools.product(range(answers), repeat=4)
    }
    assert len(found) <= math.exp(log_pair_labelings(5, 2, math.log(answers)))
    assert labelings(X, 1, answers) <= found


def test_shapes_of_trees() -> None:
    def shapes(n: int) -> int:
        return 1 if n == 0 else sum(shapes(k) * shapes(n - 1 - k) for k in range(n))

    for n in range(8):
        assert math.exp(log_catalan(n)) == pytest.approx(shapes(n))


@pytest.mark.parametrize(("p", "n"), [(1, 5), (2, 1), (3, 4), (64, 500), (5, 10**7)])
def test_ways_to_draw_from_families(p: int, n: int) -> None:
    assert log_multisets(p, n) == pytest.approx(math.log(math.comb(p + n - 1, p - 1)), rel=1e-10, abs=1e-10)
    if n <= 5:
        drawn = {tuple(sorted(one)) for one in itertools.product(range(p), repeat=n)}
        assert len(drawn) == math.comb(p + n - 1, n)


# --- Massart's lemma -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m", "d"), [(1, 10, 2), (2, 8, 2), (3, 7, 1)])
def test_complexity_of_votes(n: int, m: int, d: int) -> None:
    """All labelings and all signs."""
    votes = 2.0 * np.array(sorted(labelings(generic(m, d), n, 2))) - 1.0
    exact = rademacher.by_all_signs(votes)
    bound = massart(log_labelings(n, m, d), m)
    assert 0.4 * bound < exact <= bound


@pytest.mark.parametrize("c", [3, 5])
def test_vectors_of_votes_and_of_numbers(c: int) -> None:
    """docs/theory.md, (11e), (11f), (11g): signs for each row and class."""
    m, rng = 8, np.random.default_rng(c)
    X = generic(m, 1, 2)
    signs = rng.choice([-1.0, 1.0], (3000, m, c))

    def measured(n: int, vectors: np.ndarray) -> float:
        largest = np.full(len(signs), -np.inf)
        for labels in labelings(X, n, len(vectors)):
            largest = np.maximum(largest, np.einsum("smc,mc->s", signs, vectors[list(labels)]))
        return float(largest.mean() / m)

    votes = np.eye(c) - 1.0 / c
    bound = massart(log_labelings(1, m, 1, math.log(c)), m, math.sqrt(1 - 1 / c))
    found = measured(1, votes)
    assert 0.5 * bound < found <= bound
    # To abstain, a row of zeros, is in the hull: it does not add anything.
    assert measured(1, np.vstack([votes, np.zeros(c)])) == pytest.approx(found, abs=1e-12)
    if c == 3:
        rated = np.array([(np.eye(c)[a] - np.eye(c)[b]) / 2 for a in range(c) for b in range(c) if a != b] + [[0] * c])
        assert measured(1, rated) <= massart(log_labelings(1, m, 1, math.log(7)), m, math.sqrt(0.5))
        corners = np.array(list(itertools.product((-0.5, 0.5), repeat=c)))
        assert measured(1, corners) <= massart(log_labelings(1, m, 1, c * math.log(2)), m, 0.5 * math.sqrt(c))


def test_the_paper_counts_fewer_stump_pairs_than_there_are() -> None:
    """(DB 8) has 2 m^2 d (d - 1), which forgets that two questions have four answers."""
    m, d = 30, 2
    X = np.random.default_rng(0).standard_normal((m, d))
    parts = [column <= cut for column in X.T for cut in column]
    places = 2 ** np.arange(m)
    found = set()
    for first, second in itertools.product(parts, parts):
        cells = [(a & b) @ places for a in (first, ~first) for b in (second, ~second)]
        found.update(int(np.dot(cells, signs)) for signs in itertools.product((0, 1), repeat=4))
    assert 2 * m**2 * d * (d - 1) < len(found) <= math.exp(log_pair_labelings(m, d))
