"""What every loss of scores promises; a new one joins by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost.losses import (
    SCORE_LOSSES,
    EpsilonInsensitiveScores,
    ExponentialScores,
    LogisticScores,
    MultinomialScores,
)
from reference import sparsity as naive

M = 25
RNG = np.random.default_rng(3)
SIGNS = RNG.choice([-1.0, 1.0], size=(3, M))
SIGNS[1, :6] = 0.0  # missing labels
CLASSES = RNG.integers(0, 4, size=M).astype(np.uint16)
TARGETS = RNG.normal(size=M)
CASES: dict[str, tuple[Any, Any]] = {
    "logistic": (LogisticScores(SIGNS[:1]), lambda f: naive.logistic(SIGNS[:1], f)),
    "logistic of tasks": (LogisticScores(SIGNS), lambda f: naive.logistic(SIGNS, f)),
    "exponential": (ExponentialScores(SIGNS[:1]), lambda f: naive.exponential(SIGNS[:1], f)),
    "multinomial": (MultinomialScores(CLASSES, 4), lambda f: naive.multinomial(CLASSES, f)),
    "epsilon_insensitive": (
        EpsilonInsensitiveScores(TARGETS, 0.3),
        lambda f: naive.epsilon_insensitive(TARGETS, 0.3, f),
    ),
}
EVERY = pytest.mark.parametrize("loss", [loss for loss, _ in CASES.values()], ids=CASES)


def scores_for(loss: Any, size: float = 2.0) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(loss.n_outputs, M)) * size


def test_every_loss_is_tested() -> None:
    assert {loss.name for loss, _ in CASES.values()} == set(SCORE_LOSSES)


@pytest.mark.parametrize(("loss", "formula"), CASES.values(), ids=CASES)
def test_formula(loss: Any, formula: Any) -> None:
    scores = scores_for(loss)
    np.testing.assert_allclose(loss.value(scores), formula(scores), rtol=1e-12)


@EVERY
def test_gradient_against_differences(loss: Any) -> None:
    scores, h = scores_for(loss), 1e-6
    for r in range(loss.n_outputs):
        step = np.zeros_like(scores)
        step[r] = h
        difference = (loss.value(scores + step) - loss.value(scores - step)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(scores)[r], difference, rtol=1e-6, atol=1e-8)


@EVERY
def test_curvature_against_differences(loss: Any) -> None:
    """The diagonal of the Hessian; of a coupled loss p, whose Hessian is diag(p) - p p^T."""
    scores, h = scores_for(loss), 1e-6
    curvature = loss.curvature(scores)
    for r in range(loss.n_outputs):
        step = np.zeros_like(scores)
        step[r] = h
        column = (loss.gradient(scores + step) - loss.gradient(scores - step)) / (2 * h)
        if loss.coupled:
            expected = -curvature * curvature[r]
            expected[r] += curvature[r]
        else:
            expected = np.zeros_like(scores)
            expected[r] = curvature[r]
        np.testing.assert_allclose(column, expected, rtol=1e-5, atol=1e-8)


@EVERY
def test_the_bound_on_the_curvature(loss: Any) -> None:
    """f(z + v) <= f(z) + g v + C |v|^2 / 2, for the C that GradBoost uses: (22) and Lemma 9."""
    if loss.lipschitz is None:
        assert loss.name == "exponential"
        return
    scores = scores_for(loss)
    for seed in range(20):
        step = np.random.default_rng(seed).normal(size=scores.shape) * 3.0
        bound = loss.value(scores) + (loss.gradient(scores) * step + loss.lipschitz * step**2 / 2).sum(axis=0)
        assert np.all(loss.value(scores + step) <= bound + 1e-12)


@EVERY
def test_the_halves_bound_the_loss(loss: Any) -> None:
    """Lemmas 1 and 5: steps s d with |s| <= 1 / budget raise the loss by at most the mean of exponentials."""
    scores = scores_for(loss)
    up, down = loss.halves(scores)
    assert np.all(up >= 0)
    assert np.all(down >= 0)
    np.testing.assert_allclose(down - up, loss.gradient(scores), atol=1e-14)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        steps, x = rng.normal(size=(loss.n_outputs, 1)) * 2.0, rng.uniform(-1, 1, size=M) / loss.budget
        right, left = np.maximum(x, 0), np.maximum(-x, 0)
        bound = (up * right + down * left) * np.expm1(-steps) + (down * right + up * left) * np.expm1(steps)
        # delta = a d with a = 1: scores move by x d.
        assert np.all(loss.value(scores + x * steps) - loss.value(scores) <= bound.sum(axis=0) + 1e-12)


@EVERY
def test_conjugate(loss: Any) -> None:
    """Equality of Fenchel and Young at the gradient, and the supremum at a share of it."""
    scores = scores_for(loss, 1.0)
    gradient = loss.gradient(scores)
    np.testing.assert_allclose(
        loss.conjugate(gradient), (gradient * scores).sum(axis=0) - loss.value(scores), atol=1e-9
    )
    slopes = 0.6 * gradient
    for i in range(3):

        def negative(z: np.ndarray, i: int = i) -> float:
            moved = scores.copy()
            moved[:, i] = z
            return float(loss.value(moved)[i] - slopes[:, i] @ z)

        found = minimize(negative, scores[:, i], method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(loss.conjugate(slopes)[i], -found.fun, atol=1e-7)


@EVERY
def test_extreme_scores_stay_finite(loss: Any) -> None:
    for size in (-600.0, 600.0):
        scores = np.full((loss.n_outputs, M), size)
        scores[0] *= 0.5
        for part in (loss.value(scores), loss.gradient(scores), loss.curvature(scores)):
            assert np.isfinite(part).all()


def test_missing_labels_cost_nothing() -> None:
    loss = LogisticScores(SIGNS)
    scores = scores_for(loss)
    moved = scores.copy()
    moved[1, :6] += 5.0
    np.testing.assert_array_equal(loss.value(scores)[:6], loss.value(moved)[:6])
    assert not loss.gradient(scores)[1, :6].any()
