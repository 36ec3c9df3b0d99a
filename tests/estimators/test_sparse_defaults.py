"""Prices and widths that SparseBoostRegressor takes from the data, and the limit of its rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_score

from radboost import SparseBoostClassifier, SparseBoostRegressor, SparseBoostRegressorCV
from radboost.losses.epsilon_insensitive import EpsilonInsensitiveScores

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 6))
T = 200.0 + 50.0 * X[:, 0] - 20.0 * X[:, 1] + 10.0 * RNG.normal(size=120)
FOLDS = KFold(5, shuffle=True, random_state=0)


@pytest.mark.parametrize(("features", "behind_ridge"), [("given", 0.01), ("products", 0.04), ("trees", 0.15)])
@pytest.mark.parametrize("unit", [1.0, 1.0 / 77.0, pytest.param(1000.0, marks=pytest.mark.slow)])
def test_diabetes_at_the_defaults(features: str, behind_ridge: float, unit: float) -> None:
    rows, targets = load_diabetes(return_X_y=True)
    model = SparseBoostRegressor(family=features).fit(rows, unit * targets)
    assert model.n_iter_ < 100  # thousands, and minutes, with a price of 0.001
    assert model.stop_reason_.startswith("optimal")
    ridge = cross_val_score(RidgeCV(np.geomspace(1e-4, 10, 20)), rows, targets, cv=FOLDS).mean()
    ours = cross_val_score(SparseBoostRegressor(family=features), rows, unit * targets, cv=FOLDS).mean()
    assert ours > ridge - behind_ridge


def test_what_was_found_gives_the_same_model() -> None:
    for options in ({}, {"family": "products"}, {"fit_intercept": False}):
        model = SparseBoostRegressor(**options).fit(X, T)
        given = SparseBoostRegressor(model.alpha_, epsilon=model.epsilon_, **options).fit(X, T)
        np.testing.assert_array_equal(model.predict(X), given.predict(X))
        assert (given.alpha_, given.epsilon_) == (model.alpha_, model.epsilon_)
    median = np.sort(T)[59]
    assert model.epsilon_ == pytest.approx(0.1 * np.sort(np.abs(T - median))[59] / 0.6745)


def test_prices_are_what_chance_is_worth() -> None:
    """Of columns that know nothing of y few are let in, whatever the number of rows and the unit of y are."""
    rng = np.random.default_rng(0)
    for n_rows, unit in ((500, 1.0), (1000, 1e-3), (2000, 1e2)):
        rows, targets = rng.normal(size=(n_rows, 40)), unit * rng.normal(size=n_rows)
        chosen = SparseBoostRegressor().fit(rows, targets).coef_ != 0.0
        assert 0.1 < chosen.mean() < 0.5  # a share of 0.32 lies beyond one standard deviation


def test_targets_that_are_mostly_or_all_the_same() -> None:
    few = np.where(np.arange(120) < 30, 50.0, 0.0)
    assert SparseBoostRegressor().fit(X, few).epsilon_ == pytest.approx(0.1 * few.mean())
    with pytest.warns(UserWarning, match="empty"):
        same = SparseBoostRegressor().fit(X, np.full(120, 3.0))
    assert same.epsilon_ == 0.1
    np.testing.assert_allclose(same.predict(X), 3.0)


def test_cross_validation_has_one_epsilon_for_all_folds() -> None:
    model = SparseBoostRegressorCV(n_alphas=5).fit(X, T)
    assert model.epsilon_ == SparseBoostRegressor().fit(X, T).epsilon_
    again = SparseBoostRegressor(model.alpha_, epsilon=model.epsilon_).fit(X, T)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    given = SparseBoostRegressorCV(n_alphas=5, epsilon=model.epsilon_).fit(X, T)
    np.testing.assert_array_equal(model.validation_losses_, given.validation_losses_)


@pytest.mark.parametrize("name", ["alpha", "epsilon"])
@pytest.mark.parametrize("wrong", ["automatic", -1.0, np.nan, None])
def test_what_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"(?s){name} must .*"):
        SparseBoostRegressor(**{name: wrong}).fit(X, T)
    with pytest.raises((ValueError, TypeError), match=r"alpha must"):
        SparseBoostClassifier("auto").fit(X, T > 200.0)  # type: ignore[arg-type]


def test_inductions_end_with_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"n_rounds=100 .*features so far.*larger alpha, 4e-05"):
        model = SparseBoostRegressor(1e-5, epsilon=0.1, family="products", features_per_round=1).fit(X, T)
    assert model.n_iter_ == 100


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 20.0, 400.0, 1e5])
def test_conjugates_of_any_width(epsilon: float) -> None:
    loss = EpsilonInsensitiveScores(np.array([3.0, -1.0, 2.0, 0.0]), epsilon)
    scores = loss.targets + (epsilon + 1.0) * np.array([0.9, -1.1, 2.0, 0.0])
    slopes = loss.gradient(scores[None])
    # Fenchel and Young: equality where the slope is the derivative.
    expected = slopes[0] * scores - loss.value(scores[None])
    np.testing.assert_allclose(loss.conjugate(slopes), expected, rtol=1e-9, atol=1e-9 * (1.0 + epsilon))
