"""The steps of one coordinate against minima found without any formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost.boosting.line_search import damped_search, line_search_step
from radboost.penalties import WeightedL1, closed_form_step, descents, on_grid, slope
from radboost.penalties.weighted_l1 import LARGEST_STEP
from reference import deepboost, losses, steps

EDGE = st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0, 1 - 1e-16, 1e-16])
WEIGHT = st.floats(-4, 4) | st.just(0.0)
THRESHOLD = st.floats(0, 2) | st.sampled_from([0.0, 1e-12])
SIGNED = pytest.mark.parametrize("signed", [True, False])
EVERY = pytest.mark.parametrize("loss", list(losses.LOSSES.values()), ids=lambda p: p.name)


@SIGNED
@given(EDGE, WEIGHT, THRESHOLD)
def test_closed_form_is_the_minimum_of_the_bound(signed: bool, edge: float, weight: float, q: float) -> None:
    """Without signs over weights at or above zero: Multi-Class Deep Boosting, Figure 1, lines 6-8."""
    weight = weight if signed else abs(weight)
    eta = closed_form_step(edge, weight, q, signed=signed)
    eps = (1 - edge) / 2

    def bound(step: float) -> float:
        return steps.bound(step, weight, eps, q)

    lowest = -LARGEST_STEP if signed else -weight
    golden = steps.golden(bound, lowest, LARGEST_STEP)
    best = min(bound(golden), bound(-weight), steps.grid(bound, max(lowest, -6), 6, 501)[0])
    assert bound(eta) <= best + 1e-12 * max(1.0, best)
    assert abs(eta) <= max(LARGEST_STEP, abs(weight))
    assert signed or eta >= -weight


@given(st.floats(0.02, 0.98), WEIGHT, THRESHOLD)
def test_closed_form_is_the_printed_one(eps: float, weight: float, q: float) -> None:
    printed = steps.closed_form_as_printed(weight, eps, q)
    assert closed_form_step(1 - 2 * eps, weight, q, signed=True) == pytest.approx(printed, abs=1e-9)


def test_infinite_steps_are_capped() -> None:
    assert closed_form_step(1.0, 0.0, 0.0, signed=True) == LARGEST_STEP
    assert closed_form_step(-1.0, 0.0, 0.0, signed=True) == -LARGEST_STEP
    assert closed_form_step(1.0, 0.0, 1e-3, signed=True) == pytest.approx(math.log(1 / 1e-3), rel=1e-12)


@given(EDGE, WEIGHT, THRESHOLD)
def test_slope_is_figure_2(edge: float, weight: float, q: float) -> None:
    expected = deepboost.member_direction((1 - edge) / 2, weight, q)
    assert slope(edge, edge, weight, q, signed=True) == pytest.approx(expected, abs=1e-15)


@EVERY
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.0, 0.7, -1.3]),
    price=st.floats(0, 1.5),
    real=st.booleans(),
)
def test_slope_is_the_derivative_of_the_objective(
    loss: losses.Loss, seed: int, alpha: float, price: float, real: bool
) -> None:
    """d_j is F'_j m / 2S, one-sided at the kink."""
    y, h, f, w = problem(seed, real)
    f = f + alpha * h
    F = steps.along(loss, f, h, y, w, alpha, price)
    raw = w * loss.derivative(1 - y * f)
    S, m = raw.sum(), w.sum()
    edge = float(np.sum(raw * y * h) / S)
    d = slope(edge, edge, alpha, price * m / S, signed=True)
    t = 1e-6
    if alpha != 0:
        assert d * 2 * S / m == pytest.approx((F(t) - F(-t)) / (2 * t), abs=1e-5)
    else:
        up, down = (F(t) - F(0)) / t, (F(-t) - F(0)) / t
        steepest = min(0.0, up, down)
        assert abs(d) * 2 * S / m == pytest.approx(-steepest, abs=1e-4)


def problem(seed: int, real: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 15))
    h = rng.uniform(-1, 1, m) if real else rng.choice([-1.0, 1.0], m)
    return rng.choice([-1.0, 1.0], m), h, rng.normal(size=m), rng.random(m) + 0.1


@SIGNED
@EVERY
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.7, -1.3, 32.0, -100.0]),
    price=st.floats(0, 1.5),
    real=st.booleans(),
)
def test_line_search_is_the_minimum_of_the_objective(
    loss: losses.Loss, signed: bool, seed: int, alpha: float, price: float, real: bool
) -> None:
    """Without signs over weights at or above zero."""
    y, h, f, w = problem(seed, real)
    alpha = alpha if signed else abs(alpha)
    F = steps.along(loss, f, h, y, w, alpha, price)
    m = w.sum()

    def derivative(eta: float) -> float:
        return float(-np.sum(w * y * h * loss.derivative(1 - y * (f + eta * h))) / m)

    eta = line_search_step(derivative, alpha, price, signed=signed)
    if abs(eta) < LARGEST_STEP:
        best = [steps.grid(F, -6 if signed else max(-6, -alpha), 6, 301)[0]]
        best += [F(steps.exact_line_search(F, alpha, LARGEST_STEP + abs(alpha)))] if signed else []
        assert F(eta) <= min(best) + 1e-11
    assert F(eta) <= F(0) + 1e-12
    assert abs(eta) <= max(LARGEST_STEP, abs(alpha) + 1)
    assert signed or eta >= -alpha


@pytest.mark.parametrize("loss", [losses.EXPONENTIAL, losses.LOGISTIC], ids=lambda p: p.name)
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.7, -1.3]),
    price=st.floats(0, 1),
    real=st.booleans(),
    rate=st.floats(0.01, 1),
)
def test_closed_form_never_raises_the_objective(
    loss: losses.Loss, seed: int, alpha: float, price: float, real: bool, rate: float
) -> None:
    y, h, f, w = problem(seed, real)
    F = steps.along(loss, f, h, y, w, alpha, price)
    raw = w * loss.derivative(1 - y * f)
    edge = float(np.sum(raw * y * h) / raw.sum())
    eta = closed_form_step(edge, alpha, price * w.sum() / raw.sum(), signed=True)
    assert F(eta) <= F(0) + 1e-12
    assert F(on_grid(rate * eta, 2.0**-40)) <= F(0) + 1e-12
    if loss is losses.EXPONENTIAL and not real and abs(eta) < LARGEST_STEP:
        assert F(eta) <= steps.grid(F, -6, 6, 601)[0] + 1e-12


def test_grid_cuts_towards_zero() -> None:
    for value in (0.3, -0.3, 1e-13, -1e-13, 5.0):
        for grid in (2.0**-40, 2.0**-20):
            cut = on_grid(value, grid)
            assert abs(cut) <= abs(value)
            assert abs(value - cut) < grid
            assert cut / grid == round(cut / grid)


@EVERY
@given(
    seed=st.integers(0, 10**6),
    price=st.floats(0, 1.5),
    signed=st.booleans(),
    share=st.floats(0.01, 0.5),
    first=st.sampled_from([2.0**-6, 0.3, 1.0, LARGEST_STEP]),
)
def test_a_share_of_a_damped_search_goes_down(
    loss: losses.Loss, seed: int, price: float, signed: bool, share: float, first: float
) -> None:
    """From whatever first look, and with no more of them than it takes to come before the minimum."""
    y, h, f, w = problem(seed, real=True)
    F = steps.along(loss, f, h, y, w, 0.0, price)
    looks = []

    def derivative(eta: float) -> float:
        looks.append(eta)
        return float(-np.sum(w * y * h * loss.derivative(1 - y * (f + eta * h))) / w.sum())

    slope_at_zero = derivative(0.0)
    looks.clear()
    eta = damped_search(derivative, slope_at_zero, price, signed, share, first)
    exact = line_search_step(derivative, 0.0, price, signed)
    if exact == 0.0:
        assert eta == 0.0
        return
    assert eta * exact > 0.0
    taken = share * eta
    assert F(taken) < F(0.0) or abs(F(taken) - F(0.0)) < 1e-13
    assert abs(taken) <= abs(exact) + 1e-9  # and never beyond the minimum
    looks.clear()
    damped_search(derivative, slope_at_zero, price, signed, share, min(first, 0.75 * abs(exact)))
    assert len(looks) == 1


@pytest.mark.parametrize("loss", [losses.EXPONENTIAL, losses.LOGISTIC], ids=lambda p: p.name)
def test_a_damped_search_finds_about_the_minimum(loss: losses.Loss) -> None:
    """Where it looks at three quarters of the step: a search that ignored what it sees there would be further off."""
    ratios = []
    for seed in range(300):
        y, h, f, w = problem(seed, real=True)

        def derivative(eta: float, y=y, h=h, f=f, w=w) -> float:
            return float(-np.sum(w * y * h * loss.derivative(1 - y * (f + eta * h))) / w.sum())

        exact = line_search_step(derivative, 0.0, 0.01, signed=True)
        if 0.0 < abs(exact) < LARGEST_STEP:
            found = damped_search(derivative, derivative(0.0), 0.01, True, 0.1, 0.75 * abs(exact))
            ratios.append(found / exact)
    assert len(ratios) > 200
    assert 0.85 < np.median(ratios) < 1.05
    assert min(ratios) > 0.74


@given(EDGE, EDGE, st.floats(0, 4) | st.just(0.0), THRESHOLD)
def test_slope_on_the_half_line(one: float, other: float, weight: float, q: float) -> None:
    """Multi-Class Deep Boosting, equation (28); at a weight of zero only growth counts."""
    growing, shrinking = min(one, other), max(one, other)  # the loss is convex: its right derivative is the larger
    right, left = (q - growing) / 2, (q - shrinking) / 2
    expected = right if right < 0 else left if left > 0 and weight > 0 else 0.0
    assert slope(growing, shrinking, weight, q, signed=False) == expected


@pytest.mark.parametrize("only_shrinking", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@given(seed=st.integers(0, 10**6), tolerance=st.sampled_from([0.0, 0.05, 0.3]))
def test_descents_are_the_slopes_of_the_slots_in_use(
    signed: bool, only_shrinking: bool, seed: int, tolerance: float
) -> None:
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(0, 9)), 0.4
    growing, shrinking = rng.uniform(-1, 1, (2, n))
    weights = rng.choice([-1.5, 0.0, 0.7], n + 3) if signed else rng.choice([0.0, 0.7], n + 3)
    prices = rng.choice([0.0, 0.1, 0.5], n + 3)
    found = descents(
        growing,
        shrinking,
        weights,
        prices,
        scale,
        signed=signed,
        only_shrinking=only_shrinking,
        tolerance=tolerance,
    )
    expected = []
    for slot in range(n):
        d = slope(growing[slot], shrinking[slot], weights[slot], prices[slot] / scale, signed)
        shrinks = d * weights[slot] > 0
        if weights[slot] != 0 and abs(d) > tolerance and (shrinks or not only_shrinking):
            expected.append((slot, abs(d)))
    assert found == expected


def test_descents_want_a_weight_and_a_price_for_every_slot() -> None:
    edges, short = np.zeros(3), np.zeros(2)
    for wrong in ((edges, short, edges, edges), (edges, edges, short, edges), (edges, edges, edges, short)):
        with pytest.raises(ValueError, match="every slot needs a weight and a price"):
            descents(*wrong, 1.0, signed=True, only_shrinking=False, tolerance=0.0)


def test_price_is_equation_3() -> None:
    assert WeightedL1(0.5, 0.25).price(3.0) == 0.5 * 3.0 + 0.25
