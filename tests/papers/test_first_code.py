"""The penalties of the code that the authors of "Deep Boosting" published first."""

from __future__ import annotations

import numpy as np

from papers.first_code import FirstCodeClassifier
from radboost import DeepBoostClassifier


def test_it_is_the_loop_of_that_code() -> None:
    """Stumps, written out: normalised weights, and the sum after a step for the normaliser of the next round."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, size=(60, 3)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + 3 * rng.normal(size=60) > 5, 1, -1)
    beta = 2e-3
    columns = np.array([np.where(X[:, j] <= cut, -1, 1) for j in range(3) for cut in range(5)])
    alphas, weights, normaliser = np.zeros(len(columns)), np.full(60, 1 / 60), np.e * 60
    for _ in range(5):
        price = beta * 60 / (2 * normaliser)
        edges = columns @ (weights * y) / 2
        slopes = np.where(alphas != 0, np.abs(-edges + np.sign(alphas) * price), np.maximum(np.abs(edges) - price, 0.0))
        best = int(np.argmax(slopes))
        etas = np.linspace(-2, 2, 400_001)
        error = 0.5 - edges[best]
        goal = (1 - error) * np.exp(-etas) + error * np.exp(etas) + 2 * price * np.abs(alphas[best] + etas)
        eta = etas[np.argmin(goal)]
        alphas[best] += eta
        weights = weights * np.exp(-eta * y * columns[best])
        normaliser = weights.sum()
        weights /= normaliser
    parameters = {"family": "stumps", "l1_penalty": beta, "n_rounds": 5}
    model = FirstCodeClassifier.paper(**parameters).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), alphas @ columns, atol=1e-4)
    plain = DeepBoostClassifier.paper(**parameters).fit(X, y)
    assert np.abs(plain.decision_function(X) - model.decision_function(X)).max() > 0.05


def test_without_a_penalty_it_is_adaboost() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0
    first, plain = (one.paper(20, family="stumps").fit(X, y) for one in (FirstCodeClassifier, DeepBoostClassifier))
    np.testing.assert_array_equal(first.decision_function(X), plain.decision_function(X))
