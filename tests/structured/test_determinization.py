"""Determinization: the same weights, one path for each string, and residuals that differ by rounding."""

from __future__ import annotations

import numpy as np
import pytest

from radboost.structured import determinize, string_weight
from radboost.structured.determinization import RESIDUAL_TOLERANCE
from radboost.structured.semirings import LOG, PROBABILITY, TROPICAL, Semiring
from radboost.structured.transducer import Transducer
from structured_tools import (
    acceptor_of,
    bigram_transducer,
    brute_weight,
    close,
    epsilon_cycle,
    every_semiring,
    language,
    random_transducer,
    strings,
)


@every_semiring
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alphabet_size", [1, 2, 3])
def test_a_deterministic_acceptor_of_the_same_weights(semiring: Semiring, seed: int, alphabet_size: int) -> None:
    rng = np.random.default_rng(seed)
    acceptor = random_transducer(rng, semiring, 6, 20, alphabet_size, epsilons=0.0, acceptor=True)
    deterministic = determinize(acceptor)
    assert deterministic.is_deterministic
    assert deterministic.is_acceptor
    for x in strings(alphabet_size, 5):
        assert string_weight(deterministic, x) == close(brute_weight(acceptor, x, x))


@every_semiring
def test_what_lies_on_no_path_does_not_matter(semiring: Semiring) -> None:
    """A cycle from which no final state is reached."""
    acceptor = acceptor_of(semiring, 3, [(0, 0, 0.5, 2), (0, 0, 0.5, 1), (1, 0, 0.5, 1)])
    assert language(determinize(acceptor)) == {(0,): 0.5}


def two_ways(semiring: Semiring, first: list[float], second: list[float]) -> Transducer:
    """Symbols 0 and 1 lead to the same two states, with the weights `first` and `second`."""
    arcs = [(0, symbol, weights[place], 1 + place) for symbol, weights in ((0, first), (1, second)) for place in (0, 1)]
    return acceptor_of(semiring, 4, [*arcs, (1, 0, semiring.one, 3), (2, 1, semiring.one, 3)])


@every_semiring
def test_residuals_that_differ_by_rounding_are_one_state(semiring: Semiring) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        first = rng.uniform(0.1, 5.0, size=2).tolist()
        step = float(rng.uniform(0.1, 5.0))
        rounded = [
            semiring.times(semiring.times(weight, step), -0.3 if semiring.one == 0.0 else 0.3) for weight in first
        ]
        assert determinize(two_ways(semiring, first, rounded)).n_states == 3
        other = [rounded[0], rounded[1] * (1.0 + 1e-9)]
        assert determinize(two_ways(semiring, first, other)).n_states == 4


def test_no_two_residuals_within_the_tolerance_are_kept_apart() -> None:
    """Wherever they lie: a grid would keep some of them apart."""
    step = 5.0 * RESIDUAL_TOLERANCE
    for cost in np.random.default_rng(4).uniform(0.0, 4.9, size=200).tolist():
        for way in (-step, step):
            assert determinize(two_ways(TROPICAL, [5.0, cost], [5.0, cost + 0.9 * way])).n_states == 3
            assert determinize(two_ways(TROPICAL, [5.0, cost], [5.0, cost + 1.1 * way])).n_states == 4


def test_the_scale_of_costs_does_not_matter() -> None:
    """Costs of any size: what differs is kept apart, what is the same is merged."""
    for scale in (1e-15, 1.0, 1e12):
        first, second = [0.1 * scale, 0.4 * scale], [0.2 * scale, 0.5 * scale]
        assert determinize(two_ways(TROPICAL, first, second)).n_states == 3
        assert determinize(two_ways(TROPICAL, first, [0.2 * scale, 0.5001 * scale])).n_states == 4


@pytest.mark.parametrize("share", [1e-30, 1e-300])
def test_small_residuals_are_kept_apart(share: float) -> None:
    """They are all that counts for a string that only they belong to."""
    acceptor = two_ways(PROBABILITY, [1.0, share], [1.0, 2.0 * share])
    deterministic = determinize(acceptor)
    assert string_weight(deterministic, (1, 1)) == pytest.approx(2.0 * share, rel=1e-12, abs=0.0)
    assert string_weight(deterministic, (0, 1)) == pytest.approx(share, rel=1e-12, abs=0.0)


def test_what_determinize_refuses() -> None:
    with pytest.raises(ValueError, match=r"determinize needs an acceptor, .*Call project first"):
        determinize(bigram_transducer(2, LOG))
    with pytest.raises(ValueError, match=r"determinize needs an acceptor without epsilons\. Call remove_epsilon"):
        determinize(epsilon_cycle(TROPICAL, 1.0))
    with pytest.raises(ValueError, match=r"determinize needs an acyclic acceptor, but state 1 lies on a cycle"):
        determinize(acceptor_of(TROPICAL, 3, [(0, 0, 1.0, 1), (1, 1, 1.0, 1), (1, 0, 1.0, 2)]))
    acceptor = acceptor_of(LOG, 6, [(place, symbol, 1.0, place + 1) for place in range(5) for symbol in (0, 1)])
    assert determinize(acceptor, max_states=6).n_states == 6
    with pytest.raises(ValueError, match=r"more than max_states=5 states of an acceptor of 6 states\. Allow more"):
        determinize(acceptor, max_states=5)
    with pytest.raises(ValueError, match="max_states must be at least 1; got 0"):
        determinize(acceptor, max_states=0)
    with pytest.raises(ValueError, match=r"determinize: the sum of the residuals must be a finite number .*got inf"):
        determinize(acceptor_of(PROBABILITY, 2, [(0, 0, 1e308, 1), (0, 0, 1e308, 1)]))
