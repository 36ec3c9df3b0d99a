"""The automata of the thesis's figures (Storcheus, chapter 6), and strings of 200 symbols."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from radboost.structured.operations import (
    compose,
    determinize,
    pair_weight,
    remove_epsilon,
    string_weight,
    total_weight,
)
from radboost.structured.semirings import LOG, PROBABILITY, TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import bigram_transducer, close, edit_distance, edit_transducer, language, strings

COSTS = {"substitution": 1.0, "deletion": 2.0, "insertion": 3.0}  # of Figure 6.3(a)


def test_long_strings_stay_within_the_range_of_floats() -> None:
    """At exp(-10) for each of 200 symbols, probabilities would be zero."""
    arcs = [Arc(state, 0, 0, 10.0, target) for state in (0, 1) for target in (0, 1)]
    for semiring, ways in ((LOG, math.log(2.0)), (TROPICAL, 0.0)):
        acceptor = Transducer(semiring, 2, arcs, {0: 0.0}, {0: 0.0, 1: 0.0})
        assert string_weight(acceptor, [0] * 200) == close(200 * (10.0 - ways))
        deterministic = determinize(compose(Transducer.of_length(200, 1, semiring), acceptor))
        assert deterministic.n_states == 201
        assert string_weight(deterministic, [0] * 200) == close(200 * (10.0 - ways))


@pytest.mark.slow
def test_the_edit_distance_of_long_strings() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(2, size=200).tolist(), rng.integers(2, size=190).tolist()
    assert pair_weight(edit_transducer(2, **COSTS, semiring=TROPICAL), x, y) == close(edit_distance(x, y, **COSTS))
    # The sum over all ways to edit lies below the cheapest of them, by at most the logarithm of their number.
    summed = pair_weight(edit_transducer(2, **COSTS, semiring=LOG), x, y)
    assert edit_distance(x, y, **COSTS) - 390 * math.log(3.0) < summed < edit_distance(x, y, **COSTS)


@pytest.mark.parametrize("semiring", [PROBABILITY, LOG])
def test_figure_6_1_counts_bigrams(semiring: Semiring) -> None:
    transducer = bigram_transducer(2, semiring)
    for y in strings(2, 5):
        counts = Counter(pairwise(y))
        for bigram in product(range(2), repeat=2):
            weight = pair_weight(transducer, y, bigram)
            assert (weight if semiring is PROBABILITY else math.exp(-weight)) == close(counts[bigram])


def test_the_bigram_kernel_is_the_inner_product_of_counts() -> None:
    """Section 6.4: T o T^-1, and M = Pi_1(Y o U o Y_i), which is determinized (equation 6.2)."""
    counter = bigram_transducer(2, PROBABILITY)
    kernel = compose(counter, counter.inverse())
    target = (0, 1, 1, 0, 1)
    fixed = compose(kernel, Transducer.of_string(target, PROBABILITY))
    every = compose(Transducer.of_length(5, 2, PROBABILITY), fixed)
    deterministic = determinize(remove_epsilon(every.project("input")))
    assert deterministic.is_deterministic
    for y in product(range(2), repeat=5):
        counts, others = Counter(pairwise(y)), Counter(pairwise(target))
        expected = sum(counts[bigram] * others[bigram] for bigram in counts)
        assert pair_weight(kernel, y, target) == close(expected)
        assert string_weight(deterministic, y) == close(expected)


def factors_of_edits() -> tuple[Transducer, Transducer]:
    """T1 and T2 of Storcheus, Figure 6.4(b): symbol 2 substitutes and deletes, symbol 3 inserts."""
    changed, inserted = 2, 3
    kept = [Arc(0, a, a, 0.0, 0) for a in range(2)]
    first = [Arc(0, a, changed, 0.0, 0) for a in range(2)] + [Arc(0, EPSILON, inserted, 0.0, 0)]
    second = [Arc(0, changed, a, COSTS["substitution"], 0) for a in range(2)]
    second += [Arc(0, changed, EPSILON, COSTS["deletion"], 0)]
    second += [Arc(0, inserted, a, COSTS["insertion"], 0) for a in range(2)]
    return (
        Transducer(TROPICAL, 1, kept + first, {0: 0.0}, {0: 0.0}),
        Transducer(TROPICAL, 1, kept + second, {0: 0.0}, {0: 0.0}),
    )


def test_figures_6_3_and_6_4_are_the_edit_distance() -> None:
    edits = edit_transducer(2, **COSTS, semiring=TROPICAL)
    factored = compose(*factors_of_edits())
    assert factored.n_states == 1
    for x, y in product(strings(2, 4), repeat=2):
        distance = edit_distance(x, y, **COSTS)
        assert pair_weight(edits, x, y) == distance
        assert pair_weight(factored, x, y) == distance


def test_factors_can_be_composed_with_the_strings_first() -> None:
    """(Y_1 o T_1) o (T_2 o Y_2), of size |Y_1| |Y_2| (Storcheus, section 6.5)."""
    first, second = factors_of_edits()
    x, y = (0, 1, 1, 0, 0, 1), (1, 0, 0, 1)
    left = compose(Transducer.of_string(x, TROPICAL), first)
    right = compose(second, Transducer.of_string(y, TROPICAL))
    composed = compose(left, right)
    assert composed.n_states <= (len(x) + 1) * (len(y) + 1)
    assert total_weight(composed) == edit_distance(x, y, **COSTS)


def test_the_edit_distance_to_a_string_is_determinized() -> None:
    target = (0, 1, 1, 0)
    edits = compose(edit_transducer(2, **COSTS, semiring=TROPICAL), Transducer.of_string(target, TROPICAL))
    every = compose(Transducer.of_length(5, 2, TROPICAL), edits)
    deterministic = determinize(remove_epsilon(every.project("input")))
    assert deterministic.is_deterministic
    assert language(deterministic) == {y: edit_distance(y, target, **COSTS) for y in product(range(2), repeat=5)}
