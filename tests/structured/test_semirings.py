"""Semirings: their laws, numbers at the ends of the range of floats, and what is no weight."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost.structured.semirings import LOG, PROBABILITY, SEMIRINGS, TROPICAL, Semiring, get_semiring
from structured_tools import close, every_semiring, naive_sum

INF = math.inf
# Neither so large that products leave the range of floats nor so small that sums lose them.
weights = st.floats(0.01, 100.0)


@every_semiring
@given(a=weights, b=weights, c=weights)
def test_the_laws_of_a_semiring(semiring: Semiring, a: float, b: float, c: float) -> None:
    times = semiring.times

    def plus(*several: float) -> float:
        return semiring.sum(several)

    assert plus(a, b) == plus(b, a)
    assert times(a, b) == times(b, a)
    assert plus(plus(a, b), c) == close(plus(a, plus(b, c)))
    assert times(times(a, b), c) == close(times(a, times(b, c)))
    assert times(a, plus(b, c)) == close(plus(times(a, b), times(a, c)))
    assert plus(a, semiring.zero) == a
    assert times(a, semiring.one) == a
    assert times(a, semiring.zero) == semiring.zero
    assert (plus(a, a) == a) is semiring.idempotent


@every_semiring
@given(values=st.lists(weights, max_size=8))
def test_sums_are_those_of_the_definition(semiring: Semiring, values: list[float]) -> None:
    assert semiring.sum(iter(values)) == semiring.sum(values) == close(naive_sum(semiring, values))


def test_logarithms_neither_overflow_nor_lose_infinity() -> None:
    assert LOG.sum([-1e300, 1e300]) == -1e300
    assert LOG.sum([800.0, 800.0]) == 800.0 - math.log(2.0)
    assert LOG.sum([-800.0, -800.0]) == -800.0 - math.log(2.0)
    assert LOG.times(INF, -1e308) == INF
    assert LOG.sum([]) == LOG.sum([INF, INF]) == INF
    assert LOG.sum([INF, 2.0]) == 2.0
    assert LOG.sum([1000.0] * 8) == close(1000.0 - math.log(8.0))
    assert LOG.sum([-1000.0] * 8) == close(-1000.0 - math.log(8.0))
    assert LOG.sum([-1.7e308, 1.7e308]) == -1.7e308


def test_sums_of_the_other_semirings_at_the_ends() -> None:
    assert TROPICAL.sum([]) == TROPICAL.sum([INF, INF]) == INF
    assert TROPICAL.times(INF, -5.0) == INF
    assert PROBABILITY.sum([]) == 0.0
    assert PROBABILITY.sum([0.1] * 10) == 1.0
    assert PROBABILITY.sum([1e308, 1e308]) == INF


@every_semiring
def test_what_is_no_weight(semiring: Semiring) -> None:
    advice = r"For weights .* take the log semiring" if semiring is PROBABILITY else "Where a path"
    for weight in (math.nan, -INF, *((INF, -1e-9) if semiring is PROBABILITY else ())):
        message = rf"p must be {re.escape(semiring.members)} in the {semiring.name} semiring; got {weight}\. {advice}"
        with pytest.raises(ValueError, match=message):
            semiring.check(weight, "p")
    for strange in ("1", None, True, 1j):
        with pytest.raises(TypeError, match=f"weight must be a finite number .*got {re.escape(repr(strange))}"):
            semiring.check(strange)


@every_semiring
def test_numbers_become_floats(semiring: Semiring) -> None:
    for weight in (2, np.float32(2.0), np.int64(2), Fraction(4, 2)):
        checked = semiring.check(weight)
        assert type(checked) is float
        assert checked == 2.0
    assert semiring.check(semiring.zero) == semiring.zero
    with pytest.raises(ValueError, match="got a number beyond the range of floats"):
        semiring.check(10**400)


def test_semirings_by_name() -> None:
    assert [get_semiring(name) for name in ("probability", "log", "tropical")] == [PROBABILITY, LOG, TROPICAL]
    assert get_semiring(LOG) is LOG
    for name in ("max", 3):
        with pytest.raises(ValueError, match=rf"semiring must be one of 'probability', .*; got {name!r}"):
            get_semiring(name)  # type: ignore[arg-type]


@every_semiring
def test_semirings_are_values(semiring: Semiring) -> None:
    assert pickle.loads(pickle.dumps(semiring)) == semiring
    assert [other == semiring for other in SEMIRINGS.values()].count(True) == 1
    assert semiring.name in repr(semiring)
    with pytest.raises(FrozenInstanceError):
        semiring.zero = 3.0  # type: ignore[misc]
