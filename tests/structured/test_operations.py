"""Operations on automata, against sums over paths that are found one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from radboost.structured import compose, remove_epsilon
from radboost.structured.distances import epsilon_sums
from radboost.structured.graphs import forward_edges, trim
from radboost.structured.semirings import LOG, TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import (
    acceptor_of,
    assert_same,
    brute_composition,
    brute_weight,
    close,
    edit_transducer,
    epsilon_cycle,
    every_semiring,
    language,
    naive_sum,
    paths,
    random_transducer,
    relation,
    strings,
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


# Trim, epsilons


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
    assert remove_epsilon(nothing).n_states == 0
    assert compose(nothing, nothing).n_states == 0


@every_semiring
@seeds
def test_no_epsilons_remain_in_an_acceptor(semiring: Semiring, seed: int) -> None:
    rng = np.random.default_rng(seed)
    acceptor = random_transducer(rng, semiring, n_states=6, n_arcs=12, acceptor=True, epsilons=0.5)
    removed = remove_epsilon(acceptor)
    assert all(arc.input != EPSILON for arc in removed.arcs)
    assert_same(language(removed), language(acceptor))
    cyclic = random_transducer(rng, semiring, n_arcs=10, acceptor=True, cyclic=True, epsilons=0.4)
    for x in strings(2, 3):
        assert brute_weight(remove_epsilon(cyclic), x, x) == close(brute_weight(cyclic, x, x))


@seeds
def test_arcs_with_one_epsilon_stay(seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), LOG, n_states=6, n_arcs=12, epsilons=0.6)
    removed = remove_epsilon(transducer)
    assert not any(arc.input == arc.output == EPSILON for arc in removed.arcs)
    assert_same(relation(removed), relation(transducer))


def test_cycles_of_epsilons() -> None:
    for back in (0.0, 1.0, -0.25):
        assert language(remove_epsilon(epsilon_cycle(TROPICAL, back))) == {(3,): 0.75}
    with pytest.raises(
        ValueError, match=r"remove_epsilon .* a cycle of epsilons of negative cost leads through state [01]"
    ):
        remove_epsilon(epsilon_cycle(TROPICAL, -0.5))
    with pytest.raises(ValueError, match=r"remove_epsilon .*state [01] lies on one.* log semiring"):
        remove_epsilon(epsilon_cycle(LOG, 0.5))


def test_epsilons_on_no_path_do_not_matter() -> None:
    arcs = [(0, EPSILON, 0.5, 1), (1, EPSILON, 0.5, 1), (0, 3, 1.0, 2)]
    assert language(remove_epsilon(acceptor_of(LOG, 3, arcs))) == {(3,): 1.0}


# Sums over paths of epsilons


@every_semiring
@seeds
def test_sums_over_paths(semiring: Semiring, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=6, n_arcs=14)
    arriving: dict[int, list[float]] = {}
    for weight, arcs, last in paths(transducer):
        arriving.setdefault(last, []).append(math.fsum([weight, *(arc.weight for arc in arcs)]))
    expected = {state: naive_sum(semiring, weights) for state, weights in arriving.items()}
    assert_same(epsilon_sums(semiring, transducer.initial, forward_edges(transducer)), expected)


@seeds
def test_shortest_distances_with_cycles(seed: int) -> None:
    """Costs of at least 0 between states, to which a potential is added: arcs become negative, but no cycle does."""
    rng = np.random.default_rng(seed)
    height = rng.uniform(-5.0, 5.0, size=6)
    arcs = []
    for _ in range(15):
        origin, target = rng.integers(6, size=2).tolist()
        arcs.append(Arc(origin, 0, 0, float(rng.choice([0.0, 1.0, 2.5]) + height[target] - height[origin]), target))
    transducer = Transducer(TROPICAL, 6, arcs, {0: 1.0, 3: 0.5}, {})
    expected: dict[int, list[float]] = {}
    for weight, taken, last in paths(transducer, longest=5):
        expected.setdefault(last, []).append(weight + math.fsum(arc.weight for arc in taken))
    shortest = epsilon_sums(TROPICAL, transducer.initial, forward_edges(transducer))
    assert_same(shortest, {state: min(costs) for state, costs in expected.items()})


def test_a_cycle_of_cost_zero_may_seem_negative_by_rounding() -> None:
    costs = [0.3, -0.1, -0.2]
    assert sum(costs) < 0.0
    edges = [[((state + 1) % 3, cost)] for state, cost in enumerate(costs)]
    assert epsilon_sums(TROPICAL, {0: 0.0}, edges) == {0: close(0.0), 1: close(0.3), 2: close(0.2)}


def test_sums_beyond_the_range_of_floats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"remove_epsilon: the sum at state 2 .*; got nan"):
        epsilon_sums(LOG, {0: 0.0}, [[(1, -1e308)], [(2, -1e308)], []])
