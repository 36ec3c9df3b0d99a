"""The same operations by OpenFst, which Pynini brings with it: `pip install pynini`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from radboost.structured.operations import (
    compose,
    determinize,
    distance_from_initial,
    distance_to_final,
    remove_epsilon,
    total_weight,
    trim,
)
from radboost.structured.semirings import LOG, TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import random_transducer, relation

pytest.importorskip("pynini", reason="OpenFst, to compare with, comes with pynini: pip install pynini")

import pywrapfst

pytestmark = pytest.mark.slow

ARC_TYPES = [(TROPICAL, "standard"), (LOG, "log"), (LOG, "log64")]
every_arc_type = pytest.mark.parametrize(("semiring", "arc_type"), ARC_TYPES, ids=[name for _, name in ARC_TYPES])
seeds = pytest.mark.parametrize("seed", range(40))
# OpenFst's weights have 32 bits, but for log64.
TOLERANCE = 2e-5
# At which OpenFst takes residuals, and sums that still change, for the same.
DELTA = 1e-6


def to_openfst(transducer: Transducer, arc_type: str) -> Any:
    """OpenFst has one initial state, without a weight: it becomes an additional state, the last. Label 0 is epsilon."""
    machine = pywrapfst.VectorFst(arc_type)
    kind = machine.weight_type()
    machine.add_states(transducer.n_states + 1)
    machine.set_start(transducer.n_states)
    starting = [Arc(transducer.n_states, EPSILON, EPSILON, weight, s) for s, weight in transducer.initial.items()]
    for arc in [*transducer.arcs, *starting]:
        weight = pywrapfst.Weight(kind, arc.weight)
        machine.add_arc(arc.origin, pywrapfst.Arc(arc.input + 1, arc.output + 1, weight, arc.target))
    for state, weight in transducer.final.items():
        machine.set_final(state, pywrapfst.Weight(kind, weight))
    return machine


def from_openfst(machine: Any, semiring: Semiring) -> Transducer:
    arcs = [
        Arc(state, arc.ilabel - 1, arc.olabel - 1, float(arc.weight), arc.nextstate)
        for state in machine.states()
        for arc in machine.arcs(state)
    ]
    final = {state: float(machine.final(state)) for state in machine.states()}
    initial = {machine.start(): 0.0} if machine.num_states() else {}
    return Transducer(semiring, machine.num_states(), arcs, initial, final)


def same(expected: object) -> Any:
    return pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


def assert_same_relation(ours: Transducer, machine: Any) -> None:
    assert relation(ours) == same(relation(from_openfst(machine, ours.semiring)))


def random_acceptor(seed: int, semiring: Semiring, epsilons: float) -> Transducer:
    rng = np.random.default_rng(seed)
    return random_transducer(rng, semiring, 7, 22, epsilons=epsilons, acceptor=True)


@every_arc_type
@seeds
def test_composition(semiring: Semiring, arc_type: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (random_transducer(rng, semiring, n_states=6, n_arcs=14, epsilons=0.35) for _ in range(2))
    sorted_left = to_openfst(left, arc_type).arcsort("olabel")
    assert_same_relation(compose(left, right), pywrapfst.compose(sorted_left, to_openfst(right, arc_type)))


@every_arc_type
@seeds
@pytest.mark.parametrize("side", ["input", "output"])
def test_projection(semiring: Semiring, arc_type: str, seed: int, side: str) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=6, n_arcs=14)
    machine = to_openfst(transducer, arc_type).project(side)
    assert_same_relation(transducer.project(side), machine)
    assert_same_relation(remove_epsilon(transducer.project(side)), machine.rmepsilon(delta=DELTA))


@every_arc_type
@seeds
def test_determinization(semiring: Semiring, arc_type: str, seed: int) -> None:
    acceptor = random_acceptor(seed, semiring, epsilons=0.0)
    machine = to_openfst(acceptor, arc_type).rmepsilon(delta=DELTA).connect()
    expected = pywrapfst.determinize(machine, delta=DELTA)
    ours = determinize(acceptor)
    assert_same_relation(ours, expected)
    # OpenFst rounds residuals to a grid, and does not merge those that rounding errors have put on two sides of it.
    assert ours.n_states <= expected.num_states()


@pytest.mark.parametrize("seed", range(10))
def test_determinization_of_costs_that_meet_again(seed: int) -> None:
    """Costs of few values, where different strings lead to the same residuals."""
    rng = np.random.default_rng(seed)
    arcs = [
        Arc(4 * layer + origin, symbol, symbol, int(rng.integers(4)) / 2.0, 4 * layer + 4 + int(rng.integers(4)))
        for layer in range(12)
        for origin in range(4)
        for symbol in (0, 0, 1, 1)
    ]
    acceptor = Transducer(TROPICAL, 52, arcs, {0: 0.0}, dict.fromkeys(range(48, 52), 0.0))
    machine = to_openfst(acceptor, "standard").rmepsilon().connect()
    expected = pywrapfst.determinize(machine, delta=DELTA)
    ours = determinize(acceptor)
    assert ours.n_states == expected.num_states()
    assert total_weight(ours) == same(total_weight(from_openfst(expected, TROPICAL)))
    assert_same_relation(ours, expected)


@every_arc_type
@seeds
def test_distances(semiring: Semiring, arc_type: str, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=12, n_arcs=40)
    machine = to_openfst(transducer, arc_type)
    assert_same_distances(transducer, machine)


@seeds
def test_distances_with_cycles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.integers(10, size=(30, 2)).tolist()
    arcs = [Arc(origin, 0, 0, float(rng.uniform(0.0, 3.0)), target) for origin, target in ends]
    transducer = Transducer(TROPICAL, 10, arcs, {0: 1.5, 1: 0.0}, {8: 0.5, 9: 0.0})
    assert_same_distances(transducer, to_openfst(transducer, "standard"))


def assert_same_distances(transducer: Transducer, machine: Any) -> None:
    """OpenFst leaves out the last states where nothing reaches them."""
    n_states = transducer.n_states
    for ours, reverse in ((distance_from_initial(transducer), False), (distance_to_final(transducer), True)):
        theirs = [float(weight) for weight in pywrapfst.shortestdistance(machine, delta=DELTA, reverse=reverse)]
        theirs += [math.inf] * (n_states - len(theirs))
        assert ours == same(theirs[:n_states])
        if reverse and len(theirs) > n_states:
            assert total_weight(transducer) == same(theirs[n_states])


@every_arc_type
@seeds
def test_trimming(semiring: Semiring, arc_type: str, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring, n_states=9, n_arcs=12)
    n_states = to_openfst(transducer, arc_type).connect().num_states()
    assert trim(transducer).n_states == max(n_states - 1, 0)
