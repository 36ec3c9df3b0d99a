"""What every registered loss promises; a new one joins by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import _native
from radboost.losses import LOSSES, get_loss
from reference import losses as naive

KNOWN = [get_loss(name) for name in sorted(LOSSES)]
EVERY = pytest.mark.parametrize("loss", KNOWN, ids=lambda loss: loss.name)
NATIVE = pytest.mark.parametrize("loss", [loss for loss in KNOWN if loss.native], ids=lambda loss: loss.name)
U = np.concatenate([np.linspace(-30, 30, 601), np.linspace(-1e-5, 1e-5, 21)])


@EVERY
def test_derivative_against_differences(loss: Any) -> None:
    u = np.linspace(-8, 8, 321)
    np.testing.assert_allclose(loss.derivative(u), naive.numeric_derivative(loss.value, u), rtol=1e-8, atol=1e-12)


@EVERY
def test_convex_increasing_and_above_the_zero_one_loss(loss: Any) -> None:
    u = np.unique(U.round(9))
    assert np.all(loss.derivative(u) > 0)
    assert np.all(np.diff(loss.derivative(u)) >= 0)
    assert np.all(np.diff(loss.value(u)) > 0)
    assert np.all(loss.value(u) >= (u >= 0))


@NATIVE
def test_formula(loss: Any) -> None:
    np.testing.assert_allclose(loss.value(U), naive.LOSSES[loss.name].value(U), rtol=1e-14)
    np.testing.assert_allclose(loss.derivative(U), naive.LOSSES[loss.name].derivative(U), rtol=1e-14)


@NATIVE
def test_native_kernel(loss: Any) -> None:
    value, derivative = _native.evaluate_loss(loss.name, U)
    np.testing.assert_allclose(value, loss.value(U), rtol=2e-15)
    np.testing.assert_allclose(derivative, loss.derivative(U), rtol=2e-15)


@NATIVE
def test_the_bound_behind_the_closed_form(loss: Any) -> None:
    """Phi(u + v) - Phi(u) <= Phi'(u) (e^v - 1)."""
    u, v = np.meshgrid(np.linspace(-10, 10, 81), np.linspace(-6, 6, 81))
    bound = loss.derivative(u) * np.expm1(v)
    assert np.all(loss.value(u + v) - loss.value(u) <= bound + 1e-9 * np.maximum(1, np.abs(bound)))


@NATIVE
def test_conjugate(loss: Any) -> None:
    """Fenchel's inequality, tight at the derivative."""
    u = np.linspace(-8, 8, 81)
    for factor in (0.0, 0.5, 1.0):
        pulls = factor * loss.derivative(u)
        lines = pulls[:, None] * u - loss.conjugate(pulls)[:, None]
        assert np.all(lines <= loss.value(u) * (1.0 + 1e-12) + 1e-9)
    np.testing.assert_allclose(np.diag(lines), loss.value(u), rtol=1e-9, atol=1e-9)


@EVERY
def test_extreme_arguments_stay_finite(loss: Any) -> None:
    u = np.array([-1e6, -800.0, 700.0])
    assert np.all(np.isfinite(loss.value(u)))
    assert np.all(np.isfinite(loss.derivative(u)))
    native = _native.evaluate_loss(loss.name, np.array([-1e6, -800.0, 800.0, 1e6])) if loss.native else ()
    assert all(np.all(np.isfinite(part)) for part in native)


def test_unknown_names_and_wrong_objects() -> None:
    with pytest.raises(ValueError, match=r"(?s)hinge.*exponential.*logistic"):
        get_loss("hinge")

    class HalfALoss:
        def value(self, targets: Any, scores: Any) -> Any:
            return scores

    for wrong in (3, None, HalfALoss(), next(iter(LOSSES.values()))):
        with pytest.raises(TypeError, match=r"(?s)loss must be.*value.*derivative"):
            get_loss(wrong)  # type: ignore[arg-type]
