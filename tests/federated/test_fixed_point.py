"""Integers and scales on their way between machines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost.engine import evaluate_loss
from radboost.federated.domains import fixed_sums
from radboost.federated.fixed_point import Scales, argument_with, from_limbs, from_words, to_limbs, to_words

wide = st.integers(-(2**127), 2**127 - 1)


@given(st.lists(wide))
def test_words_and_back(values: list[int]) -> None:
    words = to_words(values)
    assert words.shape == (len(values), 2)
    assert words.dtype == np.int64
    assert from_words(words) == values


@given(st.lists(st.integers(-(2**94), 2**94), min_size=1))
def test_limbs_and_back_also_added(values: list[int]) -> None:
    limbs = to_limbs(values)
    assert from_limbs(limbs) == values
    assert from_limbs(limbs * 3) == [3 * value for value in values]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@given(argument=st.floats(-30.0, 200.0))
def test_an_argument_is_found_for_every_pair_of_scales(loss: str, argument: float) -> None:
    scales = Scales.at(loss, argument)
    found = argument_with(loss, scales)
    assert Scales.at(loss, found) == scales
    assert found <= argument
    assert not Scales.at(loss, np.nextafter(found, -np.inf)).covers(scales)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_scales_are_those_of_the_loss(loss: str) -> None:
    for argument in (-5.0, 0.0, 1.0, 7.5, 40.0):
        value, slope = (float(one[0]) for one in evaluate_loss(loss, np.array([argument])))
        scales = Scales.at(loss, argument)
        assert 2.0 ** (scales.loss - 1) <= value < 2.0**scales.loss
        assert 2.0 ** (scales.slope - 1) <= slope < 2.0**scales.slope
        assert scales.loss_value(round(value * 2.0 ** (61 - scales.loss))) == pytest.approx(value, rel=1e-15)


@given(st.lists(st.floats(-1.0, 1.0), max_size=50))
def test_fixed_sums_are_exact_in_any_order(values: list[float]) -> None:
    array = np.array(values)
    expected = sum(round(math.ldexp(value, 60)) for value in values)
    assert fixed_sums(np.column_stack([array, array[::-1]])) == [expected, expected]
