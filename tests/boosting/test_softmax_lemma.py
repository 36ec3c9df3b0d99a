"""Soft-max boosting, Lemma 1: the curvature of the expected cost, as docs/theory.md, section 9, proves it."""

from __future__ import annotations

import math

import numpy as np
import pytest

SHARP = math.sqrt(3.0) / 9.0


def policy(scores: np.ndarray) -> np.ndarray:
    """(13)."""
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def hessian(g: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Of the expected cost by the scores: derivatives of (15)."""
    pull = g * (costs - g @ costs)
    return np.diag(pull) - np.outer(pull, g) - np.outer(g, pull)


def instances(n_classes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Policies and costs, random and at the corners: nearly certain, even, two classes among many."""
    rng = np.random.default_rng(n_classes)
    found = []
    for size in (0.0, 0.3, 1.0, 3.0, 10.0, 40.0):
        for _ in range(20):
            g = policy(size * rng.normal(size=n_classes))
            found += [(g, rng.uniform(size=n_classes)), (g, rng.integers(0, 2, size=n_classes).astype(float))]
    for share in np.linspace(0.01, 0.99, 30):
        g = np.full(n_classes, 1e-9)
        g[:2] = share, 1.0 - share
        found.append((g / g.sum(), np.eye(n_classes)[0]))
    return found


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_hessian_is_the_derivative_of_the_gradient(n_classes: int) -> None:
    rng, step = np.random.default_rng(0), 1e-6
    for _ in range(10):
        scores, costs = 2.0 * rng.normal(size=n_classes), rng.uniform(size=n_classes)
        moved = scores + step * np.concatenate([np.eye(n_classes), -np.eye(n_classes)])
        g = policy(moved)
        gradients = g * (costs - (g @ costs)[:, None])  # (15)
        risks = g @ costs
        np.testing.assert_allclose(
            (risks[:n_classes] - risks[n_classes:]) / (2 * step),
            policy(scores) * (costs - policy(scores) @ costs),
            atol=1e-9,
        )
        differences = (gradients[:n_classes] - gradients[n_classes:]) / (2 * step)
        np.testing.assert_allclose(hessian(policy(scores), costs), differences, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 6, 20])
def test_every_line_of_the_proof(n_classes: int) -> None:
    rng = np.random.default_rng(1)
    for g, costs in instances(n_classes):
        H, a = hessian(g, costs), costs - g @ costs
        assert abs(g @ a) <= 1e-15
        assert np.abs(a).max() <= 1.0 + 1e-15
        values, vectors = np.linalg.eigh(H)
        for v in (*vectors[:, [0, -1]].T, *rng.normal(size=(5, n_classes)), np.eye(n_classes)[0]):
            u = v - g @ v
            form = v @ H @ v
            assert form == pytest.approx(g @ (a * u**2), abs=1e-13 * (v @ v))  # (16a)
            assert abs(form) <= g @ u**2 + 1e-14 * (v @ v)
            assert g @ u**2 <= (v.max() - v.min()) ** 2 / 4.0 + 1e-14 * (v @ v)
            assert (v.max() - v.min()) ** 2 / 4.0 <= (v @ v) / 2.0 + 1e-14 * (v @ v)
        assert np.abs(values).max() <= 0.5
        assert np.abs(values).max() <= SHARP + 1e-12


def test_the_smallest_constant() -> None:
    """Two classes attain it, whatever number of others there is besides; the printed constant of 1 is not needed."""
    share = (3.0 - math.sqrt(3.0)) / 6.0
    for n_classes in (2, 3, 10):
        g, v = np.full(n_classes, 1e-14), np.zeros(n_classes)
        g[:2], v[:2] = (share, 1.0 - share), (1.0, -1.0)
        H = hessian(g / g.sum(), np.eye(n_classes)[0])
        assert v @ H @ v / (v @ v) == pytest.approx(SHARP, rel=1e-9)
        assert np.abs(np.linalg.eigvalsh(H)).max() == pytest.approx(SHARP, rel=1e-9)
    # The steps of the 1/2 are tight one by one: an even policy of two classes has the variance |v|^2 / 2.
    even, v = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    assert even @ (v - even @ v) ** 2 == pytest.approx((v @ v) / 2.0)


def test_the_two_cases_of_the_smallest_constant() -> None:
    """T = E(u^2 - sigma^2)_+ against the bounds of both cases, for all distributions on three points of a grid."""
    grid, shares = np.linspace(0.0, 1.0, 21), np.linspace(0.0, 1.0, 26)
    p, q = np.meshgrid(shares, shares, indexing="ij")
    g = np.stack([p, q, 1.0 - p - q], axis=-1)[p + q <= 1.0 + 1e-12].clip(0.0)
    largest = 0.0
    for middle in grid[1:-1]:
        v = np.array([0.0, middle, 1.0])
        u = v - (g @ v)[:, None]
        square = (g * u**2).sum(axis=1)
        T = (g * np.maximum(u**2 - square[:, None], 0.0)).sum(axis=1)
        low, high = np.minimum(-u[:, 0], u[:, 2]), np.maximum(-u[:, 0], u[:, 2])
        one_sided = low**2 <= square
        with np.errstate(divide="ignore", invalid="ignore"):
            first = square * (high**2 - square) / (high**2 + square)
        root = np.sqrt(np.maximum((low**2 - square) * (high**2 - square), 0.0))
        second = 2.0 * (low * high - square) * (low * high + square - root)
        assert np.all(T[one_sided] <= first[one_sided] + 1e-12)
        assert np.all(T[~one_sided] <= second[~one_sided] + 1e-12)
        assert np.all(first[one_sided] <= SHARP / 2.0 + 1e-12)
        assert np.all(second[~one_sided] <= 2.0 / 27.0 + 1e-12)
        largest = max(largest, float(T.max()))
    assert 0.99 * SHARP / 2.0 < largest <= SHARP / 2.0 + 1e-12


def test_steps_of_up_to_four_lower_the_risk() -> None:
    """psi - alpha s h / K: by at least (alpha - alpha^2 / 4) s^2 / K, for every direction of signs."""
    rng = np.random.default_rng(2)
    for n_classes in (2, 3, 7):
        scores = 2.0 * rng.normal(size=(30, n_classes))
        costs = rng.uniform(size=(30, n_classes))
        g = policy(scores)
        risk = (g * costs).sum(axis=1)
        for _ in range(50):
            h = rng.choice([-1.0, 1.0], size=(30, n_classes))
            slope = float((g * (costs - risk[:, None]) * h).sum(axis=1).mean())
            for alpha in (0.5, 1.0, 2.0, 3.9):
                after = (policy(scores - alpha * slope / n_classes * h) * costs).sum(axis=1).mean()
                assert after <= risk.mean() - (alpha - alpha**2 / 4.0) * slope**2 / n_classes + 1e-15
