"""Centres of kernels: the rows that a perceptron gets wrong, against a perceptron row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost.families import centres
from radboost.losses import EpsilonInsensitiveScores, LogisticScores, MultinomialScores
from radboost.sparsity import Kernel, Training

RNG = np.random.default_rng(8)
X = RNG.normal(size=(150, 3))
TWO = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
LOSSES: dict[str, Any] = {
    "two classes": LogisticScores(TWO[None]),
    "three classes": MultinomialScores(np.digitize(X[:, 0] + X[:, 1] ** 2, [0.2, 1.0]).astype(np.uint16), 3),
    "numbers": EpsilonInsensitiveScores(X[:, 0] ** 2 + 7.0, 0.1),
}


def mistakes(loss: Any, weights: np.ndarray, gamma: float, seed: int) -> list[int]:
    """Right is the sign of the pull, or the class of the largest one; a row that is not right becomes a centre."""
    pulls = -loss.gradient(np.full((loss.n_outputs, len(X)), loss.middle(weights)))
    found: list[int] = []
    for row in np.random.default_rng(seed).permutation(len(X)).tolist():
        near = [np.exp(-gamma * ((X[row] - X[centre]) ** 2).sum()) for centre in found]
        scores = sum((k * pulls[:, c] for k, c in zip(near, found, strict=True)), np.zeros(loss.n_outputs))
        if loss.n_outputs == 1:
            right = np.sign(scores[0]) == np.sign(pulls[0, row]) != 0
        else:
            right = np.argmax(scores) == np.argmax(pulls[:, row])
        if not right:
            found.append(row)
    return found


@pytest.mark.parametrize("block", [1, 7, 256])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_a_perceptron_row_by_row(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    loss, weights = LOSSES[name], np.full(len(X), 1.0 / len(X))
    monkeypatch.setattr(centres, "PERCEPTRON_BLOCK", block)
    training = Training(X, loss, weights, 3, 1)
    expected = mistakes(loss, weights, 0.5, 3)
    assert 10 < len(expected) < 120
    proposed = Kernel(gamma=0.5).start(training)([], np.zeros((loss.n_outputs, len(X))))
    np.testing.assert_array_equal([h.centre for h in proposed], X[expected])
    few = Kernel(gamma=0.5, max_centres=5).start(training)([], np.zeros((loss.n_outputs, len(X))))
    np.testing.assert_array_equal([h.centre for h in few], X[expected[:5]])
    if name == "three classes":  # the largest pull is that of the own class
        pulls = -loss.gradient(np.zeros((3, len(X))))
        np.testing.assert_array_equal(pulls.argmax(axis=0), loss.class_ids)
