"""Operations on automata, against sums over paths that are found one by one."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from radboost.structured.operations import (
    LazyComposition,
    compose,
    determinize,
    distance_from_initial,
    distance_to_final,
    pair_weight,
    remove_epsilon,
    string_weight,
    total_weight,
    trim,
    union,
)
from radboost.structured.semirings import LOG, PROBABILITY, TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import (
    acceptor_of,
    assert_same,
    bigram_transducer,
    brute_composition,
    brute_weight,
    close,
    edit_transducer,
    epsilon_cycle,
    every_semiring,
    language,
    naive_product,
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
        Transducer(PROBABILITY, len(labels) + 1, arcs, {0: 1.0}, {len(labels): 1.0})
        for labels, arcs in (
            (left, [Arc(place, 1, label, 1.0, place + 1) for place, label in enumerate(left)]),
            (right, [Arc(place, label, 1, 1.0, place + 1) for place, label in enumerate(right)]),
        )
    ]
    composed = compose(*sides)
    assert total_weight(composed) == 1.0
    assert sum(last in composed.final for _, _, last in paths(composed)) == 1


def test_the_filter_adds_no_states_where_one_side_has_no_epsilons() -> None:
    """Each pair of states is met once, though the other side moves alone."""
    edits = edit_transducer(2, 1.0, 2.0, 3.0, TROPICAL)
    x = Transducer.of_string([0, 1, 0, 1, 1], TROPICAL)
    assert compose(x, edits).n_states == x.n_states
    assert compose(edits, x).n_states == x.n_states
    lazy = LazyComposition(x, edits)
    assert list(lazy.initial()) == [0]
    for state in range(x.n_states):
        lazy.arcs(state)
    assert [lazy.pair(state) for state in range(lazy.n_states)] == [(place, 0) for place in range(x.n_states)]


def test_states_are_made_on_demand() -> None:
    left = Transducer.of_length(1000, 2, LOG)
    lazy = LazyComposition(left, Transducer.of_length(1000, 2, LOG))
    assert lazy.n_states == 0
    (start,) = lazy.initial()
    assert lazy.n_states == 1
    arcs = lazy.arcs(start)
    assert [(arc.input, arc.output, arc.weight) for arc in arcs] == [(0, 0, 0.0), (1, 1, 0.0)]
    assert lazy.n_states == 2
    assert lazy.arcs(start) == arcs
    assert lazy.pair(arcs[0].target) == (1, 1)
    assert lazy.final(start) == math.inf


def test_semirings_do_not_mix() -> None:
    first, second = Transducer.of_string([0], LOG), Transducer.of_string([0], TROPICAL)
    with pytest.raises(ValueError, match=r"composition needs .* same semiring; got 'log' and 'tropical'.*map_weights"):
        compose(first, second)
    with pytest.raises(ValueError, match=r"union needs .* same semiring; got 'tropical' and 'log'"):
        union(second, first)


# Weights of pairs and strings


@every_semiring
@seeds
def test_the_weight_of_a_pair(semiring: Semiring, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_arcs=10, cyclic=True)
    for x, y in product(strings(2, 3), repeat=2):
        assert pair_weight(transducer, x, y) == close(brute_weight(transducer, x, y))


def test_a_transducer_gives_no_weight_to_a_string() -> None:
    with pytest.raises(ValueError, match=r"string_weight needs an acceptor, .*Call pair_weight"):
        string_weight(bigram_transducer(2, LOG), [0, 1])


# Union, trim, epsilons


@every_semiring
@seeds
def test_union_adds_weights(semiring: Semiring, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (random_transducer(rng, semiring) for _ in range(2))
    both = union(first, second)
    assert both.n_states == first.n_states + second.n_states
    expected: dict[object, list[float]] = {}
    for pair, weight in [*relation(first).items(), *relation(second).items()]:
        expected.setdefault(pair, []).append(weight)
    assert_same(relation(both), {pair: naive_sum(semiring, weights) for pair, weights in expected.items()})


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
    assert determinize(nothing).n_states == 0
    assert remove_epsilon(nothing).n_states == 0
    assert compose(nothing, nothing).n_states == 0
    assert distance_from_initial(nothing) == distance_to_final(nothing) == []
    assert total_weight(nothing) == string_weight(nothing, [0]) == math.inf


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
        assert string_weight(remove_epsilon(cyclic), x) == close(brute_weight(cyclic, x, x))


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
    for semiring in (LOG, PROBABILITY):
        with pytest.raises(ValueError, match=rf"remove_epsilon .*state [01] lies on one.* {semiring.name} semiring"):
            remove_epsilon(epsilon_cycle(semiring, 0.5))


def test_epsilons_on_no_path_do_not_matter() -> None:
    arcs = [(0, EPSILON, 0.5, 1), (1, EPSILON, 0.5, 1), (0, 3, 1.0, 2)]
    assert language(remove_epsilon(acceptor_of(LOG, 3, arcs))) == {(3,): 1.0}


# Distances


@every_semiring
@seeds
def test_distances_are_sums_over_paths(semiring: Semiring, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=6, n_arcs=14)
    arriving: dict[int, list[float]] = {state: [] for state in range(6)}
    for weight, arcs, last in paths(transducer):
        arriving[last].append(naive_product(semiring, [weight, *(arc.weight for arc in arcs)]))
    assert_same(
        dict(enumerate(distance_from_initial(transducer))),
        {state: naive_sum(semiring, weights) for state, weights in arriving.items()},
    )
    for state, distance in enumerate(distance_to_final(transducer)):
        started = Transducer(semiring, 6, transducer.arcs, {state: semiring.one}, transducer.final)
        assert distance == close(naive_sum(semiring, list(relation(started).values())))
    assert total_weight(transducer) == close(naive_sum(semiring, list(relation(transducer).values())))


@seeds
def test_shortest_distances_with_cycles(seed: int) -> None:
    """Costs of at least 0 between states, to which a potential is added: arcs become negative, but no cycle does."""
    rng = np.random.default_rng(seed)
    height = rng.uniform(-5.0, 5.0, size=6)
    arcs = []
    for _ in range(15):
        origin, target = rng.integers(6, size=2).tolist()
        arcs.append(Arc(origin, 0, 0, float(rng.choice([0.0, 1.0, 2.5]) + height[target] - height[origin]), target))
    transducer = Transducer(TROPICAL, 6, arcs, {0: 1.0, 3: 0.5}, {2: 2.0, 5: 0.0})
    expected = {state: [math.inf] for state in range(6)}
    for weight, taken, last in paths(transducer, longest=5):
        expected[last].append(weight + math.fsum(arc.weight for arc in taken))
    assert_same(dict(enumerate(distance_from_initial(transducer))), {s: min(costs) for s, costs in expected.items()})
    for state, distance in enumerate(distance_to_final(transducer)):
        started = Transducer(TROPICAL, 6, arcs, {state: 0.0}, {})
        ends = [
            math.fsum(arc.weight for arc in taken) + transducer.final[last]
            for _, taken, last in paths(started, longest=5)
            if last in transducer.final
        ]
        assert distance == close(min(ends, default=math.inf))


def test_a_cycle_of_cost_zero_may_seem_negative_by_rounding() -> None:
    costs = [0.3, -0.1, -0.2]
    assert sum(costs) < 0.0
    arcs = [Arc(state, 0, 0, cost, (state + 1) % 3) for state, cost in enumerate(costs)]
    transducer = Transducer(TROPICAL, 3, arcs, {0: 0.0}, {2: 0.0})
    assert distance_from_initial(transducer) == [close(0.0), close(0.3), close(0.2)]
    assert distance_to_final(transducer) == [close(0.2), close(-0.1), close(0.0)]


def test_cycles_without_distances() -> None:
    arcs = [Arc(0, 0, 0, 1.0, 1), Arc(1, 0, 0, 1.0, 2), Arc(2, 0, 0, -2.5, 1), Arc(2, 0, 0, 1.0, 3)]
    for distance in (distance_from_initial, distance_to_final):
        negative = (
            rf"{distance.__name__} .*smallest cost of a path, but a cycle of negative cost leads through state [12],"
        )
        with pytest.raises(ValueError, match=negative):
            distance(Transducer(TROPICAL, 4, arcs, {0: 0.0}, {3: 0.0}))
        infinite = rf"{distance.__name__} adds up .*: state [12] lies on one\. In the log semiring there must be none"
        with pytest.raises(ValueError, match=infinite):
            distance(Transducer(LOG, 4, arcs, {0: 0.0}, {3: 0.0}))
        # No path goes through the cycle.
        away = Transducer(LOG, 4, arcs, {3: 1.0}, {0: 2.0})
        assert distance(away) == (
            [math.inf] * 3 + [1.0] if distance is distance_from_initial else [2.0] + [math.inf] * 3
        )


def test_sums_beyond_the_range_of_floats_are_refused() -> None:
    arcs = [Arc(0, 0, 0, 1e200, 1), Arc(1, 0, 0, 1e200, 2)]
    transducer = Transducer(PROBABILITY, 3, arcs, {0: 1.0}, {2: 1.0})
    with pytest.raises(ValueError, match=r"distance_from_initial: the sum at state 2 .*; got inf\. .* log semiring"):
        distance_from_initial(transducer)
    ends = Transducer(PROBABILITY, 1, [], {0: 1e200}, {0: 1e200})
    with pytest.raises(ValueError, match=r"the sum over all paths must be .*; got inf"):
        total_weight(ends)


def test_long_strings_stay_within_the_range_of_floats() -> None:
    """At exp(-10) for each of 200 symbols, probabilities would be zero."""
    arcs = [Arc(state, 0, 0, 10.0, target) for state in (0, 1) for target in (0, 1)]
    for semiring, ways in ((LOG, math.log(2.0)), (TROPICAL, 0.0)):
        acceptor = Transducer(semiring, 2, arcs, {0: 0.0}, {0: 0.0, 1: 0.0})
        assert string_weight(acceptor, [0] * 200) == close(200 * (10.0 - ways))
        deterministic = determinize(compose(Transducer.of_length(200, 1, semiring), acceptor))
        assert deterministic.n_states == 201
        assert string_weight(deterministic, [0] * 200) == close(200 * (10.0 - ways))
