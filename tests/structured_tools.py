"""Automata by brute force: sums over paths that are found one by one, and random automata to try them on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from radboost.structured.gradient import substring_numbers
from radboost.structured.semirings import TROPICAL, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer

String = tuple[int, ...]
Relation = dict[tuple[String, String], float]

every_semiring = pytest.mark.parametrize("semiring", Semiring, ids=str)


def all_strings(potentials: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every string of the length of the potentials, the numbers of its substrings, and its score."""
    length, width = potentials.shape
    size = round(width ** (1.0 / order))
    strings = np.array(list(product(range(size), repeat=length)), dtype=np.int32)
    numbers = np.array([substring_numbers(x, size, order) for x in strings])
    return strings, numbers, potentials[np.arange(length), numbers].sum(axis=1)


def naive_sum(semiring: Semiring, weights: Sequence[float]) -> float:
    """The sum in a semiring by its definition, for weights of moderate size."""
    if semiring is TROPICAL:
        return min(weights, default=math.inf)
    total = sum(math.exp(-weight) for weight in weights)
    return -math.log(total) if total > 0.0 else math.inf


def close(value: float) -> Any:
    """What is equal but for rounding."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def paths(transducer: Transducer, longest: int = 50) -> Iterator[tuple[float, tuple[Arc, ...], int]]:
    """All paths from initial states, of up to so many arcs: the initial weight, the arcs, the last state."""

    def continued(arcs: tuple[Arc, ...], state: int) -> Iterator[tuple[tuple[Arc, ...], int]]:
        yield arcs, state
        if len(arcs) < longest:
            for arc in transducer.arcs:
                if arc.origin == state:
                    yield from continued((*arcs, arc), arc.target)

    for state, weight in transducer.initial.items():
        for arcs, last in continued((), state):
            yield weight, arcs, last


def label(arcs: Sequence[Arc]) -> tuple[String, String]:
    """What a path reads and writes."""
    read = tuple(arc.input for arc in arcs if arc.input != EPSILON)
    written = tuple(arc.output for arc in arcs if arc.output != EPSILON)
    return read, written


def relation(transducer: Transducer) -> Relation:
    """T(x, y) of an acyclic transducer for all x and y that are not of weight zero, path by path."""
    found: dict[tuple[String, String], list[float]] = {}
    for weight, arcs, last in paths(transducer):
        if last in transducer.final:
            factors = [weight, *(arc.weight for arc in arcs), transducer.final[last]]
            found.setdefault(label(arcs), []).append(math.fsum(factors))
    return {pair: naive_sum(transducer.semiring, weights) for pair, weights in found.items()}


def language(acceptor: Transducer) -> dict[String, float]:
    """A(x) of an acyclic acceptor for all x that are not of weight zero."""
    assert all(arc.input == arc.output for arc in acceptor.arcs)
    return {read: weight for (read, _), weight in relation(acceptor).items()}


def brute_composition(left: Transducer, right: Transducer) -> Relation:
    """The sum over all strings in the middle: Storcheus, equation D.1, for acyclic transducers."""
    semiring = left.semiring
    found: dict[tuple[String, String], list[float]] = {}
    for ((x, middle), first), ((other, y), second) in product(relation(left).items(), relation(right).items()):
        if middle == other:
            found.setdefault((x, y), []).append(first + second)
    return {pair: naive_sum(semiring, weights) for pair, weights in found.items()}


def assert_same(found: Mapping[Any, float], expected: Mapping[Any, float]) -> None:
    assert dict(found) == {key: close(weight) for key, weight in expected.items()}


def random_weight(rng: np.random.Generator) -> float:
    return float(rng.uniform(-1.0, 3.0))


def random_transducer(
    rng: np.random.Generator,
    semiring: Semiring,
    n_states: int = 4,
    n_arcs: int = 7,
    alphabet_size: int = 2,
    *,
    epsilons: float = 0.3,
) -> Transducer:
    """A transducer of which each label is an epsilon with some chance; several states are initial and final.

    Arcs lead to higher states.
    """
    arcs = []
    for _ in range(n_arcs):
        low, high = sorted(rng.choice(n_states, size=2, replace=False).tolist())
        read, written = (
            EPSILON if rng.random() < epsilons else int(rng.integers(alphabet_size)) for _ in ("input", "output")
        )
        arcs.append(Arc(low, read, written, random_weight(rng), high))
    initial = {state: random_weight(rng) for state in {0, int(rng.integers(n_states))}}
    final = {state: random_weight(rng) for state in {n_states - 1, int(rng.integers(n_states))}}
    return Transducer(semiring, n_states, arcs, initial, final)


def edit_transducer(
    alphabet_size: int, substitution: float, deletion: float, insertion: float, semiring: Semiring | str
) -> Transducer:
    """The edit-distance transducer of Storcheus, Figure 6.3(a)."""
    symbols = range(alphabet_size)
    arcs = [Arc(0, a, b, 0.0 if a == b else substitution, 0) for a, b in product(symbols, symbols)]
    arcs += [Arc(0, a, EPSILON, deletion, 0) for a in symbols]
    arcs += [Arc(0, EPSILON, a, insertion, 0) for a in symbols]
    return Transducer(semiring, 1, arcs, {0: 0.0}, {0: 0.0})
