"""Any number of classes with any labels; rare and absent classes; missing values; messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multiclass_tools import PAIRS
from radboost import DeepBoostClassifier
from radboost.trees import with_tree_options
from reference.data import smooth_classes


def quick(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(**with_tree_options({"n_rounds": 8, "complexity_penalty": 0.001, **changes}))


@pytest.mark.parametrize(
    "pair",
    [pytest.param(p, marks=() if p in PAIRS[2::3] else pytest.mark.slow, id=" ".join(p)) for p in PAIRS],
)
def test_a_thousand_classes(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(1000), 3)
    X = np.column_stack([y % 32 + 0.1 * rng.normal(size=3000), y // 32 + 0.1 * rng.normal(size=3000)])
    model = quick(n_rounds=3, objective=pair[0], loss=pair[1], learning_rate=1.0, max_features=None, max_depth=10).fit(
        X, y
    )
    assert model.predict_proba(X[:50]).shape == (50, 1000)
    np.testing.assert_allclose(model.predict_proba(X[:50]).sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    if pair[0] in ("sum", "compsum"):
        assert model.score(X, y) > 0.2
    assert set(model.predict(X)) <= set(range(1000))


@pytest.mark.parametrize("n_classes", [254, 255, 256, 257])
@pytest.mark.parametrize("objective", ["sum", "maxsum"])
def test_around_the_largest_class_that_fits_a_byte(n_classes: int, objective: str) -> None:
    y = np.repeat(np.arange(n_classes), 2)
    X = np.column_stack([y, y % 7]).astype(float)
    model = quick(
        n_rounds=4, objective=objective, learning_rate=1.0, max_depth=9, thresholds="best", max_features=None
    ).fit(X, y)
    staged = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(staged[-1], model.decision_function(X))
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    last = [h.predict(X) for h in model.ensemble_.hypotheses]
    total = sum(weight * h for weight, h in zip(model.ensemble_.weights, last, strict=True))
    np.testing.assert_array_equal(total, model.decision_function(X))
    errors = []
    for scores in staged:
        own = scores[np.arange(len(y)), y].copy()
        scores[np.arange(len(y)), y] = -np.inf
        errors.append(np.mean(own <= scores.max(axis=1)))
    np.testing.assert_allclose(model.history_["train_error"], errors, atol=1e-12)


def test_a_fold_that_leaves_two_classes_is_binary() -> None:
    X, y = smooth_classes(8, m=90)
    part = y != 1
    model = quick(objective="sum").fit(X[part], y[part])
    assert list(model.classes_) == [0, 2]
    assert model.decision_function(X).shape == (90,)
