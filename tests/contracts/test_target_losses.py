"""What every registered loss of gradient boosting promises; a new one joins by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from native_rows import GradientRows
from radboost import RGBRegressor, _native
from radboost.losses import (
    REGRESSION_LOSSES,
    TWO_CLASS_LOSSES,
    HuberLoss,
    MultinomialLoss,
    NamedTargetLoss,
    QuantileLoss,
    get_target_loss,
)
from radboost.losses.target import WeightedRows

LOSSES: dict[str, NamedTargetLoss] = {
    **{f"two classes, {name}": loss() for name, loss in TWO_CLASS_LOSSES.items()},
    **{name: loss() for name, loss in REGRESSION_LOSSES.items()},
    "huber": HuberLoss(delta=1.0),  # without a number it takes one from the rows of a fit
    "huber, 0.3": HuberLoss(delta=0.3),
    "quantile, 0.9": QuantileLoss(level=0.9),
}
EVERY = pytest.mark.parametrize("name", sorted(LOSSES))
NATIVE = pytest.mark.parametrize("name", sorted(name for name, loss in LOSSES.items() if loss.native))


def targets_for(name: str, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if name.startswith("two classes"):
        return np.where(rng.random(n) < 0.3, 1.0, -1.0)
    if name == "gamma":
        return rng.gamma(1.5, 2.0, n) + 0.05
    return rng.poisson(2.0, n).astype(float) if name == "poisson" else 2.0 * rng.normal(size=n)


def mean_of(weights: Any) -> Any:
    return lambda values: float(np.average(values, weights=weights))


@EVERY
def test_derivative_against_differences(name: str) -> None:
    loss, f = LOSSES[name], np.linspace(-5, 5, 401) + 1e-3 * np.pi
    y, h = targets_for(name, len(f)), 1e-6
    numeric = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    at_a_kink = np.abs(np.abs(f - y) - (loss.parameter if name.startswith("huber") else 0.0)) < 2 * h
    np.testing.assert_allclose(loss.derivative(y, f)[~at_a_kink], numeric[~at_a_kink], rtol=1e-6, atol=1e-8)


@EVERY
def test_convex_and_above_its_lowest(name: str) -> None:
    loss, f = LOSSES[name], np.linspace(-6, 6, 301)
    for target in np.unique(targets_for(name, 20)):
        y = np.full(len(f), target)
        assert (np.diff(loss.derivative(y, f)) >= -1e-12).all()
        assert (loss.value(y, f) >= loss.lowest(y) - 1e-12).all()


@EVERY
def test_lipschitz_constant(name: str) -> None:
    """It bounds the slope of the derivative, and nearly is one; a loss without it has none."""
    loss, f = LOSSES[name], np.linspace(-30, 30, 200_001)
    y = np.full(len(f), targets_for(name, 1)[0])
    steepest = (np.diff(loss.derivative(y, f)) / np.diff(f)).max()
    if loss.lipschitz is None:
        assert steepest > 20.0
    else:
        assert 0.99 * loss.lipschitz <= steepest <= loss.lipschitz * (1 + 1e-6)


@NATIVE
def test_native_kernel(name: str) -> None:
    loss = LOSSES[name]
    f = np.concatenate([np.linspace(-20, 20, 2001), [-700.0, 700.0, 0.0]])
    y = targets_for(name, len(f), 1)
    anything = name in REGRESSION_LOSSES and name not in ("poisson", "gamma")
    y[:5] = f[:5] if anything else y[:5]  # exactly right
    value, derivative = _native.evaluate_target_loss(loss.name, loss.parameter, y, f)
    np.testing.assert_allclose(value, loss.value(y, f), rtol=4e-15, atol=1e-300)
    np.testing.assert_allclose(derivative, loss.derivative(y, f), rtol=4e-15, atol=1e-300)


@EVERY
def test_extreme_scores_stay_finite(name: str) -> None:
    loss, f = LOSSES[name], np.array([-1e5, -800.0, 800.0, 1e5])
    y = targets_for(name, 4)
    native = _native.evaluate_target_loss(loss.name, loss.parameter, y, f) if loss.native else ()
    for part in (*native, loss.value(y, f)):
        assert np.isfinite(part).all()


@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_start_is_the_best_constant(name: str, weighted: bool) -> None:
    loss, y = LOSSES[name], targets_for(name, 301, 2)
    weights = np.random.default_rng(3).integers(1, 5, 301).astype(float) if weighted else None

    def risk(constant: float) -> float:
        return float(np.average(loss.value(y, np.full(len(y), constant)), weights=weights))

    found = loss.start(WeightedRows(y, weights, mean_of(weights)))
    if found is None:  # a search finds it
        return
    start = float(np.asarray(found))
    best = minimize_scalar(risk, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
    slack = 0.02 if name.startswith("huber") else 1e-9  # the median stands in for it
    assert risk(start) <= best.fun + slack * abs(best.fun)


@EVERY
def test_the_link_is_that_of_the_predictions(name: str) -> None:
    loss, f = LOSSES[name], np.linspace(-3.0, 3.0, 13)
    if loss.link is not None and not name.startswith("two classes"):
        np.testing.assert_array_equal(loss.inverse_link(f), loss.link.numbers(f))
    elif loss.link is not None:
        down, up = -loss.derivative(np.ones(13), f), loss.derivative(-np.ones(13), f)
        np.testing.assert_allclose(loss.link.probabilities(f)[:, 1], up / (down + up), rtol=1e-12)


@NATIVE
def test_bounds_of_the_derivative(name: str) -> None:
    """The native core rounds gradients by a bound on them; with a wrong one integers would overflow."""
    loss = LOSSES[name]
    y = targets_for(name, 64)
    state = GradientRows(loss.name, loss.parameter, 1, y, np.zeros(0))
    for f in (np.linspace(-8, 8, 64), np.linspace(-300, 300, 64)):
        state.set(f, 1)
        np.testing.assert_allclose(state.gradients() * state.unit, loss.derivative(y, f), rtol=1e-9, atol=state.unit)


def test_multinomial() -> None:
    loss, rng = MultinomialLoss(), np.random.default_rng(0)
    y, f, h = rng.integers(0, 4, 50).astype(float), 3 * rng.normal(size=(50, 4)), 1e-6
    for k in range(4):
        move = h * np.eye(4)[k]
        numeric = (loss.value(y, f + move) - loss.value(y, f - move)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(y, f)[:, k], numeric, rtol=1e-6, atol=1e-8)
    value, derivative = _native.evaluate_target_loss("multinomial", 0.0, y, f.reshape(-1))
    np.testing.assert_allclose(value, loss.value(y, f), rtol=1e-13)
    np.testing.assert_allclose(derivative.reshape(f.shape), loss.derivative(y, f), rtol=1e-12, atol=1e-15)
    far = np.array([[900.0, -900.0, 0.0, 0.0]])
    assert np.isfinite(_native.evaluate_target_loss("multinomial", 0.0, np.array([1.0]), far.reshape(-1))[0]).all()
    start = loss.start(WeightedRows(y, None, mean_of(None)))
    np.testing.assert_allclose(loss.derivative(y, np.tile(start, (50, 1))).sum(axis=0), 0.0, atol=1e-12)
    # The largest eigenvalue of diag(p) - p p' is at most 1/2, and comes close to it.
    largest = 0.0
    for p in rng.dirichlet([0.2] * 4, 2000):
        largest = max(largest, float(np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]))
    assert 0.45 < largest <= 0.5


def test_two_classes_are_the_multinomial_loss_of_two_scores() -> None:
    f, y = np.linspace(-4, 4, 33), np.tile([1.0, -1.0], 17)[:33]
    both = np.column_stack([np.zeros(33), f])
    expected = MultinomialLoss().value((y + 1) / 2, both)
    np.testing.assert_allclose(LOSSES["two classes, logistic"].value(y, f), expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [1.0, -2.0, 3.0], r"(?s)poisson.*not negative.*-2.*squared"),
        ("poisson", [0.0, 0.0, 0.0], r"at least one y above zero"),
        ("gamma", [1.0, 0.0, 3.0], r"(?s)gamma.*above zero.*down to 0\. .*poisson"),
        ("gamma", [1.0, -2.0, 3.0], r"(?s)gamma.*above zero.*down to -2\. .*squared"),
        (QuantileLoss(level=1.0), [1.0, 2.0, 3.0], r"level.*1\.0"),
        (QuantileLoss(level=0.0), [1.0, 2.0, 3.0], r"level.*0\.0"),
        (HuberLoss(delta=0.0), [1.0, 2.0, 3.0], r"delta.*0\.0"),
        ("hinge", [1.0, 2.0, 3.0], r"(?s)hinge.*absolute.*gamma.*huber.*poisson.*quantile.*squared"),
    ],
)
def test_domains(loss: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RGBRegressor(2, loss=loss).fit(np.arange(3.0).reshape(-1, 1), y)


def test_wrong_objects() -> None:
    class HalfALoss:
        def value(self, targets: Any, scores: Any) -> Any:
            return scores

    for wrong in (3, None, HalfALoss(), HuberLoss):
        with pytest.raises(TypeError, match=r"(?s)loss must be.*value.*derivative"):
            get_target_loss(wrong, REGRESSION_LOSSES)  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ["gamma", "poisson"])
def test_targets_too_small_for_a_logarithm_are_refused(loss: str) -> None:
    X = np.arange(60.0).reshape(-1, 1)
    with pytest.raises(ValueError, match=rf'y goes .*4\.94066e-324.*loss="{loss}".*Rescale'):
        RGBRegressor(5, loss=loss).fit(X, np.full(60, 5e-324))
    smallest = RGBRegressor(5, loss=loss).fit(X, np.full(60, 1e-100)).predict(X)
    np.testing.assert_allclose(smallest, 1e-100, rtol=1e-6)
