"""Composition and trimming of automata, against sums over paths that are found one by one."""

from __future__ import annotations

import numpy as np
import pytest

from radboost.structured import compose
from radboost.structured.graphs import trim
from radboost.structured.semirings import LOG, TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import (
    assert_same,
    brute_composition,
    edit_transducer,
    every_semiring,
    paths,
    random_transducer,
    relation,
)

seeds = pytest.mark.parametrize("seed", range(12))


# Composition


@every_semiring
@seeds
def test_composition_is_the_sum_over_middle_strings(semiring: Semiring, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (random_transducer(rng, semiring, n_states=5, n_arcs=9, epsilons=0.4) for _ in range(2))
    composed = compose(left, right)
    assert_same(relation(composed), brute_composition(left, right))
    assert trim(composed) is composed


@pytest.mark.parametrize("n_left", range(4))
@pytest.mark.parametrize("n_right", range(4))
def test_one_path_for_each_pair_of_paths(n_left: int, n_right: int) -> None:
    """Epsilons before, between and after symbols, in the numbers given: always one path of the composition."""
    before, between = [EPSILON] * n_left + [0], [EPSILON] * n_right + [0]
    left = [*before, *before, *[EPSILON] * n_left]
    right = [*between, *between, *[EPSILON] * n_right]
    sides = [
        Transducer(LOG, len(labels) + 1, arcs, {0: 0.0}, {len(labels): 0.0})
        for labels, arcs in (
            (left, [Arc(place, 1, label, 0.0, place + 1) for place, label in enumerate(left)]),
            (right, [Arc(place, label, 1, 0.0, place + 1) for place, label in enumerate(right)]),
        )
    ]
    composed = compose(*sides)
    assert list(relation(composed).values()) == [0.0]
    assert sum(last in composed.final for _, _, last in paths(composed)) == 1


def test_the_filter_adds_no_states_where_one_side_has_no_epsilons() -> None:
    """Each pair of states is met once, though the other side moves alone."""
    edits = edit_transducer(2, 1.0, 2.0, 3.0, TROPICAL)
    x = Transducer.of_string([0, 1, 0, 1, 1], TROPICAL)
    assert compose(x, edits).n_states == x.n_states
    assert compose(edits, x).n_states == x.n_states


def test_semirings_do_not_mix() -> None:
    first, second = Transducer.of_string([0], LOG), Transducer.of_string([0], TROPICAL)
    with pytest.raises(ValueError, match=r"composition needs .* same semiring; got 'log' and 'tropical'"):
        compose(first, second)


# Trim


@every_semiring
@seeds
def test_trim_keeps_what_lies_on_paths(semiring: Semiring, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=8)
    trimmed = trim(transducer)
    assert_same(relation(trimmed), relation(transducer))
    on_paths = {
        state
        for _, arcs, last in paths(transducer)
        if last in transducer.final
        for state in [last, *(arc.origin for arc in arcs)]
    }
    assert trimmed.n_states == len(on_paths)


def test_nothing_may_be_left() -> None:
    nothing = trim(Transducer(LOG, 2, [], {0: 0.0}, {1: 0.0}))
    assert nothing.n_states == 0
    assert compose(nothing, nothing).n_states == 0
