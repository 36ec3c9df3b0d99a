"""Semirings by their names, and costs."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

from radboost.structured.semirings import LOG, TROPICAL, Semiring, check_cost, get_semiring

INF = math.inf


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
    for semiring in Semiring:
        assert get_semiring(semiring) is pickle.loads(pickle.dumps(semiring)) is semiring
    for name in ("max", 3):
        with pytest.raises(ValueError, match=rf"semiring must be one of 'log', .*; got {name!r}"):
            get_semiring(name)  # type: ignore[arg-type]
