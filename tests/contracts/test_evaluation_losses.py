"""What every loss that a model can be judged by must do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost.losses.model_evaluation import EVALUATION_LOSSES, EvaluationLoss

EVERY = pytest.mark.parametrize(("name", "n_classes"), [(name, n) for name in EVALUATION_LOSSES for n in (2, 3, 5)])
CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 5])


def made(name: str, n_classes: int, n: int = 60) -> tuple[EvaluationLoss, np.ndarray, Any]:
    rng = np.random.default_rng([len(name), n_classes])
    loss = EVALUATION_LOSSES[name](rng.integers(0, n_classes, n).astype(np.uint16), n_classes)
    return loss, 2.0 * rng.normal(size=(1 if n_classes == 2 else n_classes, n)), rng


@EVERY
def test_gradients(name: str, n_classes: int) -> None:
    loss, scores, _ = made(name, n_classes)
    gradient = loss.gradient(scores)
    assert gradient.shape == scores.shape
    for output in range(len(scores)):
        ahead, back = scores.copy(), scores.copy()
        ahead[output] += 1e-6
        back[output] -= 1e-6
        np.testing.assert_allclose(gradient[output], (loss.value(ahead) - loss.value(back)) / 2e-6, atol=1e-5)


@EVERY
def test_lipschitz_constants_hold_and_are_reached(name: str, n_classes: int) -> None:
    loss, _, rng = made(name, n_classes, 4000)
    shape = (1 if n_classes == 2 else n_classes, 4000)
    one, other = 3.0 * rng.normal(size=shape), 3.0 * rng.normal(size=shape)
    change = np.abs(loss.value(one) - loss.value(other))
    distance = np.linalg.norm(one - other, axis=0)
    assert np.all(change <= loss.lipschitz_of_value * distance + 1e-12)
    near = np.zeros(shape)
    if n_classes > 2:  # where one rival has all there is
        near[0], near[1:] = 0.0, -50.0
        near[1] = np.where(loss.class_ids == 1, 0.0, near[1])
        near = near + 0.3 * rng.normal(size=shape) * (near > -1.0)
        near[loss.class_ids, np.arange(4000)] = -8.0 if name == "cross_entropy" else 0.0
    else:
        near[0] = -loss.signs * (20.0 if name == "cross_entropy" else 0.05)
    steepest = np.linalg.norm(loss.gradient(near), axis=0).max()
    assert steepest == pytest.approx(loss.lipschitz_of_value, rel=0.02)


@EVERY
def test_convex_ones_are_convex(name: str, n_classes: int) -> None:
    loss, scores, rng = made(name, n_classes)
    other = 2.0 * rng.normal(size=scores.shape)
    excess = loss.value(0.5 * (scores + other)) - 0.5 * (loss.value(scores) + loss.value(other))
    assert (excess <= 1e-12).all() == loss.convex == (name != "zero_one")


@pytest.mark.parametrize("name", [name for name in EVALUATION_LOSSES if made(name, 2)[0].convex])
@pytest.mark.parametrize("width", [1.0, 0.05])
@CLASSES
def test_smooth_forms(name: str, width: float, n_classes: int) -> None:
    """Derivatives against differences; the gradients' lines are below the loss, and meet it as the width goes to 0."""
    loss: Any
    loss, scores, rng = made(name, n_classes)
    _, gradient, hessian = loss.smoothed(scores, width)
    for output in range(len(scores)):
        change = np.zeros_like(scores)
        change[output] = 1e-6
        after, before = loss.smoothed(scores + change, width), loss.smoothed(scores - change, width)
        np.testing.assert_allclose(gradient[output], (after[0] - before[0]) / 2e-6, atol=1e-6)
        np.testing.assert_allclose(hessian[output], (after[1] - before[1]) / 2e-6, atol=1e-5 / width)
    others = scores + 3.0 * rng.normal(size=(100, *scores.shape))
    for slopes in (gradient, 0.3 * loss.gradient(scores) + 0.7 * gradient):
        conjugates = loss.conjugate(slopes)
        for other in others:
            assert np.all((slopes * other).sum(axis=0) - conjugates <= loss.value(other) + 1e-12)
    narrow = loss.smoothed(scores, 1e-9)
    assert narrow is not None
    np.testing.assert_allclose(
        (narrow[1] * scores).sum(axis=0) - loss.conjugate(narrow[1]), loss.value(scores), atol=1e-7
    )


@CLASSES
def test_values_by_hand(n_classes: int) -> None:
    _, scores, _ = made("hinge", n_classes)
    losses = {name: made(name, n_classes)[0] for name in EVALUATION_LOSSES}
    ids = losses["hinge"].class_ids
    for name in ("cross_entropy", "zero_one", "l1"):
        losses[name] = losses[name].of(ids.astype(np.uint16))
    for row, label in enumerate(ids):
        f = scores[:, row]
        if n_classes == 2:
            y = 1.0 if label == 1 else -1.0
            margin, distance, entropy = y * f[0], abs(f[0] - y), np.log1p(np.exp(-y * f[0]))
        else:
            margin = f[label] - np.delete(f, label).max()
            distance = np.abs(f - np.eye(n_classes)[label]).sum()
            entropy = -np.log(np.exp(f[label]) / np.exp(f).sum())
        expected = {
            "cross_entropy": entropy,
            "hinge": max(0.0, 1.0 - margin),
            "zero_one": float(margin <= 0),
            "l1": distance,
        }
        for name, value in expected.items():
            assert losses[name].reported(scores)[row] == pytest.approx(value, rel=1e-12), name
