"""When a fit ends, what it says about it, skipped rounds, and early stopping."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from radboost import (
    DeepBoostClassifier,
    TreeOptions,
)
from radboost.rows.prepare import prepare
from reference import rademacher
from reference.data import smooth, tiny


def test_all_rounds() -> None:
    X, y = smooth(1)
    model = DeepBoostClassifier(7, complexity_penalty=0.0).fit(X, y)
    assert model.n_iter_ == 7
    assert "round" in model.stop_reason_
    assert model.n_skipped_rounds_ == 0


def test_converged_says_so() -> None:
    X, y = tiny(2, m=20)
    model = DeepBoostClassifier.paper(n_rounds=5000, family="stumps", l1_penalty=0.2).fit(X, y)
    assert model.n_iter_ < 5000
    assert "toleran" in model.stop_reason_ or "converge" in model.stop_reason_ or "optim" in model.stop_reason_


@pytest.mark.parametrize("recipe", [DeepBoostClassifier, DeepBoostClassifier.paper])
def test_penalty_too_large_for_any_step(recipe: Any) -> None:
    """At alpha = 0 nothing moves once Lambda exceeds S/m = Phi'(1)."""
    X, y = smooth(3, m=50)
    slope = {"exponential": math.e, "logistic": math.e / (1 + math.e) / math.log(2)}
    for loss, largest in slope.items():
        model = recipe(n_rounds=40, loss=loss, l1_penalty=largest * 1.01).fit(X, y)
        assert len(model.ensemble_.weights) == 0
        assert np.all(model.decision_function(X) == 0)
        np.testing.assert_array_equal(model.predict_proba(X), 0.5)
        assert set(model.predict(X)) == {-1}  # a score of 0 goes to the first class, as in scikit-learn
        assert len(model.ensemble_.hypotheses) == 0
        assert np.all(np.isfinite(model.feature_importances_))


def test_ten_useless_rounds_in_a_row_end_the_fit() -> None:
    X, y = smooth(4, m=60)
    model = DeepBoostClassifier(
        500, loss="logistic", l1_penalty=1.06, tree_options=TreeOptions(thresholds="random")
    ).fit(X, y)
    assert model.n_skipped_rounds_ >= 10
    assert model.n_iter_ < 500
    assert "10" in model.stop_reason_ or "ten" in model.stop_reason_ or "row" in model.stop_reason_


def test_skipped_rounds_are_counted_and_not_fatal() -> None:
    """Random proposals, a penalty that only some of them can pay."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = np.where(X[:, 3] > 0, 1, 0)
    r = rademacher.trees(80, 30, 1)
    model = DeepBoostClassifier(
        150,
        loss="logistic",
        max_depth=1,
        complexity_penalty=0.35 / r,
        learning_rate=0.1,
        tree_options=TreeOptions(max_features=1, thresholds="random"),
    ).fit(X, y)
    assert model.n_skipped_rounds_ > 0
    assert len(model.ensemble_.weights) > 0
    assert np.all(np.diff(model.history_["objective"]) <= 0)


def test_validation_history_is_the_error_of_the_staged_scores() -> None:
    X, y = smooth(7, m=150)
    X_val, y_val = smooth(8, m=80)
    w = np.random.default_rng(0).random(80) + 0.1
    model = DeepBoostClassifier(12).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    assert model.n_iter_ == 12
    for scores, error, loss in zip(
        model.staged_decision_function(X_val),
        model.history_["validation_error"],
        model.history_["validation_loss"],
        strict=True,
    ):
        assert error == pytest.approx(np.sum(w * (y_val * scores <= 0)) / w.sum(), abs=1e-12)
        assert loss == pytest.approx(np.sum(w * np.logaddexp(0, 1 - y_val * scores)) / w.sum() / math.log(2), rel=1e-12)


def test_the_loss_of_rows_held_back_is_that_of_their_weights() -> None:
    X, y = smooth(14, m=240, noise=0.3)
    w = np.random.default_rng(15).permutation(np.where(np.arange(240) % 6 == 0, 9.0, 0.7))
    training = prepare(DeepBoostClassifier(), X, y, w)
    rest, watched, places = training.hold_back(0.3, 5, 1)
    np.testing.assert_array_equal(watched.X, X[places])
    np.testing.assert_array_equal(watched.weights, w[places])
    np.testing.assert_array_equal(watched.class_ids, y[places] > 0)
    np.testing.assert_array_equal(rest.weights, w[rest.order])
    np.testing.assert_array_equal(rest.class_ids, y[rest.order] > 0)
    assert sorted([*places, *rest.order]) == list(range(240))
