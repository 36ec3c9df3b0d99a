"""The linear model beside the model of a report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from radboost import RGBClassifier, RGBRegressor
from radboost.report.subject import read


def _linear_beside(kind: str, weights: Any, places: Any, train: bool) -> Any:
    """What the linear model answers the rows after the 100th, fitted by weights or to copies of rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(160, 3)) * [1.0, 30.0, 0.2]
    X[::11, 2] = np.nan
    y = X[:, 0] + 0.05 * X[:, 1] + rng.normal(size=160)
    targets = y if kind == "numbers" else np.digitize(y, [0.0] if kind == "two classes" else [-1.0, 1.0])
    model = (RGBRegressor if kind == "numbers" else RGBClassifier)(n_rounds=1, n_jobs=1).fit(X, targets)
    if train:
        subject = read(model, X[100:], targets[100:], X_train=X[places], y_train=targets[places])
        assert subject.train is not None
        subject = replace(subject, train=replace(subject.train, weights=weights))
    else:
        subject = read(model, X[places], targets[places], sample_weight=weights)
    linear = subject.baselines.linear
    assert linear is not None
    return linear.predicted if linear.probabilities is None else linear.probabilities


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
@pytest.mark.parametrize("train", [True, False])
def test_the_linear_model_knows_no_unit_of_weights(kind: str, train: bool) -> None:
    """A thousandth of every weight changes nothing, and whole numbers are copies of rows."""
    once = np.arange(100)
    plain = _linear_beside(kind, None, once, train)
    for scale in (1e-3, 1e3):
        np.testing.assert_allclose(_linear_beside(kind, np.full(100, scale), once, train), plain, rtol=1e-6)
    weights = np.arange(100) % 3 + 1.0
    by_weight = _linear_beside(kind, weights, once, train)
    np.testing.assert_allclose(_linear_beside(kind, weights / 1000.0, once, train), by_weight, rtol=1e-3)
    copies = _linear_beside(kind, None, np.repeat(once, weights.astype(int)), train)
    first = np.cumsum(np.append(0, weights[:-1])).astype(int)
    np.testing.assert_allclose(copies if train else copies[first], by_weight, rtol=2e-3, atol=2e-3)


def test_the_linear_model_of_a_column_of_one_value() -> None:
    """Tenths differ from their mean by rounding; a row with another value is not 10^16 spreads away."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.full(60, 0.1)])
    y = X[:, 0] + rng.normal(size=60) > 0.0
    model = RGBClassifier(n_rounds=1, n_jobs=1).fit(X, y)
    moved = np.column_stack([X[:, 0], np.full(60, 5.1)])
    subject = read(model, moved, y, X_train=X, y_train=y)
    assert subject.baselines.linear is not None
    assert len(np.unique(subject.baselines.linear.predicted)) == 2
