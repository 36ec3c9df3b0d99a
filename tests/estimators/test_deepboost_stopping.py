"""When a fit ends, what it says about it, skipped rounds, and early stopping."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from radboost import (
    DeepBoostClassifier,
    EarlyStopping,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
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


def test_early_stopping_with_a_set_of_the_user() -> None:
    X, y = smooth(5, m=200, noise=0.3)
    X_val, y_val = smooth(6, m=200, noise=0.3)
    model = DeepBoostClassifier(400, complexity_penalty=0.0, learning_rate=1.0, early_stopping=8)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 400
    assert "validation" in model.stop_reason_ or "early" in model.stop_reason_
    errors, losses = model.history_["validation_error"], model.history_["validation_loss"]
    assert len(errors) == len(losses) == len(model.history_["objective"])
    assert np.all(np.isfinite(losses))
    kept = model.decision_function(X_val)
    assert np.mean(np.where(kept > 0, 1, -1) != y_val) <= errors[0] + 1e-12


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


def test_early_stopping_holds_copies_of_a_row_back_one_by_one() -> None:
    X, y = smooth(10, m=100)
    weighted = DeepBoostClassifier(10, early_stopping=np.True_).fit(X, y, np.full(100, 2.0))  # as good as Python's own
    twice = DeepBoostClassifier(10, early_stopping=True).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.ensemble_.sample_size == weighted.ensemble_.sample_size == pytest.approx(170, abs=2)
    assert twice.history_ == weighted.history_


@pytest.mark.parametrize(
    "model",
    [
        DeepBoostClassifier(40, early_stopping=EarlyStopping(4, 0.3), complexity_penalty=0.0),
        RGBClassifier(40, early_stopping=EarlyStopping(4, 0.3)),
        RGBRegressor(40, early_stopping=EarlyStopping(4, 0.3)),
        SoftmaxBoostClassifier(40, early_stopping=EarlyStopping(4, 0.3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_held_back_keep_their_weights(model: Any) -> None:
    """Integer weights are repetition on both sides of the split, whatever the order of the rows."""
    X, y = smooth(12, m=240, noise=0.3)
    targets = X[:, 0] + 0.3 * y if isinstance(model, RGBRegressor) else y
    rng = np.random.default_rng(13)
    # Few rows carry most of the weight: to weigh others in their place is another problem.
    copies = rng.permutation(np.where(np.arange(240) % 6 == 0, 9, 1))
    rows = rng.permutation(np.repeat(np.arange(240), copies))
    weighted = clone(model).fit(X, targets, sample_weight=copies)
    written_out = clone(model).fit(X[rows], targets[rows])
    assert weighted.ensemble_.sample_size == written_out.ensemble_.sample_size < copies.sum()
    assert weighted.history_ == written_out.history_
    scores = "predict" if isinstance(model, RGBRegressor) else "decision_function"
    np.testing.assert_array_equal(getattr(weighted, scores)(X), getattr(written_out, scores)(X))


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
