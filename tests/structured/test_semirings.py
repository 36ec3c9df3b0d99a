"""Semirings: their laws, numbers at the ends of the range of floats, and what is no cost."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost.structured.semirings import LOG, SEMIRINGS, TROPICAL, Semiring, check_cost, get_semiring
from structured_tools import close, every_semiring, naive_sum

INF = math.inf
# Neither so large that products leave the range of floats nor so small that sums lose them.
weights = st.floats(0.01, 100.0)


@every_semiring
@given(a=weights, b=weights, c=weights)
def test_the_laws_of_a_semiring(semiring: Semiring, a: float, b: float, c: float) -> None:
    def plus(*several: float) -> float:
        return semiring.sum(several)

    assert plus(a, b) == plus(b, a)
    assert plus(plus(a, b), c) == close(plus(a, plus(b, c)))
    assert a + plus(b, c) == close(plus(a + b, a + c))
    assert plus(a, INF) == a


@every_semiring
@given(values=st.lists(weights, max_size=8))
def test_sums_are_those_of_the_definition(semiring: Semiring, values: list[float]) -> None:
    assert semiring.sum(iter(values)) == semiring.sum(values) == close(naive_sum(semiring, values))


def test_logarithms_neither_overflow_nor_lose_infinity() -> None:
    assert LOG.sum([-1e300, 1e300]) == -1e300
    assert LOG.sum([800.0, 800.0]) == 800.0 - math.log(2.0)
    assert LOG.sum([-800.0, -800.0]) == -800.0 - math.log(2.0)
    assert LOG.sum([]) == LOG.sum([INF, INF]) == TROPICAL.sum([]) == TROPICAL.sum([INF, INF]) == INF
    assert LOG.sum([INF, 2.0]) == 2.0
    assert LOG.sum([1000.0] * 8) == close(1000.0 - math.log(8.0))
    assert LOG.sum([-1000.0] * 8) == close(-1000.0 - math.log(8.0))
    assert LOG.sum([-1.7e308, 1.7e308]) == -1.7e308


def test_costs() -> None:
    for weight in (math.nan, -INF):
        with pytest.raises(ValueError, match=rf"p must be a finite number or \+inf; got {weight}\. Where a path"):
            check_cost(weight, "p")
    for strange in ("1", None, True, 1j):
        with pytest.raises(TypeError, match=f"p must be a finite number .*got {re.escape(repr(strange))}"):
            check_cost(strange, "p")
    for cost in (2, np.float32(2.0), np.int64(2), Fraction(4, 2)):
        checked = check_cost(cost, "p")
        assert type(checked) is float
        assert checked == 2.0
    assert check_cost(INF, "p") == INF
    with pytest.raises(ValueError, match="got a number beyond the range of floats"):
        check_cost(10**400, "p")


def test_semirings_by_name() -> None:
    assert [get_semiring(name) for name in ("log", "tropical")] == [LOG, TROPICAL]
    assert get_semiring(LOG) is LOG
    for semiring in SEMIRINGS.values():
        assert pickle.loads(pickle.dumps(semiring)) is semiring
        assert semiring.name in repr(semiring)
    for name in ("max", 3):
        with pytest.raises(ValueError, match=rf"semiring must be one of 'log', .*; got {name!r}"):
            get_semiring(name)  # type: ignore[arg-type]
