"""Transducers: what is checked, and the operations that only change labels or weights."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from radboost.structured.semirings import LOG, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer
from structured_tools import assert_same, every_semiring, language, naive_sum, random_transducer, relation


def test_arcs_are_grouped_by_origin() -> None:
    arcs = [(1, 0, 1, 0.5, 2), (0, 2, EPSILON, 1.0, 1), (1, EPSILON, 0, 2.0, 0)]
    transducer = Transducer("log", 3, arcs, {0: 1.0}, {2: 0.25})
    assert transducer.semiring is LOG
    assert transducer.n_states == 3
    assert transducer.n_arcs == 3
    assert transducer.arcs == (arcs[1], arcs[0], arcs[2])
    assert transducer.arcs_from(1) == (Arc(1, 0, 1, 0.5, 2), Arc(1, EPSILON, 0, 2.0, 0))
    assert transducer.arcs_from(2) == ()
    assert dict(transducer.initial) == {0: 1.0}
    assert dict(transducer.final) == {2: 0.25}
    assert repr(transducer) == "Transducer('log', n_states=3, n_arcs=3, n_initial=1, n_final=1)"


def test_a_transducer_never_changes() -> None:
    initial = {0: 1.0}
    transducer = Transducer(LOG, 1, [], initial, {0: 1.0})
    initial[0] = 2.0
    assert transducer.initial[0] == 1.0
    with pytest.raises(TypeError):
        transducer.initial[0] = 2.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        transducer.n_states = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        transducer.note = "new"  # type: ignore[attr-defined]


def test_what_costs_too_much_is_left_out() -> None:
    arcs = [Arc(0, 0, 0, math.inf, 1), Arc(0, 1, 1, 0.0, 1)]
    transducer = Transducer(LOG, 2, arcs, {0: 0.0, 1: math.inf}, {0: math.inf, 1: 0.0})
    assert transducer.arcs == (arcs[1],)
    assert set(transducer.initial) == {0}
    assert set(transducer.final) == {1}


def test_numbers_of_numpy_become_those_of_python() -> None:
    arc = (np.int64(0), np.uint8(1), np.int32(1), np.float32(0.5), np.int64(1))
    transducer = Transducer(LOG, np.int64(2), [arc], {np.int64(0): np.float64(0.0)}, {1: 0})  # type: ignore[arg-type]
    values = [*transducer.arcs[0], *transducer.initial, *transducer.initial.values(), *transducer.final.values()]
    assert [type(value) for value in values] == [int, int, int, float, int, int, float, float]
    assert Transducer.of_string(np.array([0, 1]), LOG).n_arcs == 2


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"n_states": -1}, ValueError, "n_states must be at least 0; got -1"),
    ({"n_states": 1.5}, TypeError, "n_states must be an integer; got 1.5"),
    ({"semiring": "max"}, ValueError, "semiring must be one of .*; got 'max'"),
    ({"arcs": [(0, 0, 0, 1.0)]}, TypeError, r"must be a tuple \(origin, input, output, weight, target\); got \(0, 0"),
    ({"arcs": [7]}, TypeError, "An arc must be a tuple .*got 7"),
    ({"arcs": [(2, 0, 0, 1.0, 0)]}, ValueError, "origin of an arc must be a state, .*; got 2, where n_states is 2"),
    ({"arcs": [(0, 0, 0, 1.0, 9)]}, ValueError, "target of an arc must be a state, .*; got 9, where n_states is 2"),
    ({"arcs": [(-1, 0, 0, 1.0, 0)]}, ValueError, "origin of an arc must be at least 0; got -1"),
    ({"arcs": [("a", 0, 0, 1.0, 0)]}, TypeError, "origin of an arc must be an integer; got 'a'"),
    ({"arcs": [(0, -2, 0, 1.0, 0)]}, ValueError, r"input of an arc must be a symbol, .*or EPSILON \(-1\); got -2"),
    ({"arcs": [(0, 0, "b", 1.0, 0)]}, TypeError, r"output of an arc must be a symbol, .*; got 'b'"),
    ({"arcs": [(0, 0, 0, -math.inf, 0)]}, ValueError, r"weight of an arc must be a finite number or \+inf; got -inf"),
    ({"arcs": [(0, 0, 0, None, 0)]}, TypeError, "weight of an arc must be a finite number .*got None"),
    ({"initial": {5: 1.0}}, ValueError, "initial state must be a state, .*; got 5"),
    ({"initial": [0]}, TypeError, r"initial must be a mapping from states to weights, .*; got \[0\]"),
    ({"final": {1: math.nan}}, ValueError, "final weight of state 1 must be a finite number .*; got nan"),
]


@pytest.mark.parametrize(("change", "kind", "message"), REFUSED)
def test_what_is_refused(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    right: dict[str, Any] = {"semiring": LOG, "n_states": 2, "arcs": [], "initial": {0: 1.0}, "final": {1: 1.0}}
    with pytest.raises(kind, match=message):
        Transducer(**right | change)


@every_semiring
def test_the_acceptor_of_a_string(semiring: Semiring) -> None:
    for y in [(), (1,), (0, 3, 0)]:
        acceptor = pickle.loads(pickle.dumps(Transducer.of_string(y, semiring)))
        assert acceptor.semiring is semiring
        assert language(acceptor) == {y: 0.0}


def test_what_the_constructors_refuse() -> None:
    with pytest.raises(ValueError, match=r"A string must consist of symbols, .*; got EPSILON \(-1\) at position 1"):
        Transducer.of_string([0, EPSILON], LOG)
    with pytest.raises(TypeError, match=r"input of an arc must be a symbol, .*; got 'a'"):
        Transducer.of_string("ab", LOG)  # type: ignore[arg-type]


@every_semiring
@pytest.mark.parametrize("seed", range(5))
def test_a_projection_adds_over_what_is_written(semiring: Semiring, seed: int) -> None:
    transducer = random_transducer(np.random.default_rng(seed), semiring)
    weights: dict[tuple[int, ...], list[float]] = {}
    for (read, _), weight in relation(transducer).items():
        weights.setdefault(read, []).append(weight)
    expected = {string: naive_sum(semiring, found) for string, found in weights.items()}
    assert_same(language(transducer.project()), expected)
