"""Logistic regression with a penalty for each feature, against scikit-learn and finite differences."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from radboost.projection.logistic import LogisticRidge


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_scikit_learns(n_classes, fit_intercept):
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(120, 5)), rng.integers(0, n_classes, 120)
    weights = rng.integers(1, 4, 120)
    alpha = 0.05
    found, _ = LogisticRidge(y, n_classes, weights / weights.sum(), fit_intercept).solve(
        features, np.full(5, alpha), None
    )
    other = LogisticRegression(C=1.0 / (alpha * weights.sum()), fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000)
    other.fit(features, y, sample_weight=weights)
    np.testing.assert_allclose(found[:-1].T, other.coef_, atol=1e-5)
    if fit_intercept:
        np.testing.assert_allclose(found[-1] - found[-1].mean() * (n_classes > 2), other.intercept_, atol=1e-4)
    else:
        assert (found[-1] == 0.0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives(n_classes):
    rng = np.random.default_rng(1)
    inputs, y = rng.normal(size=(30, 4)), rng.integers(0, n_classes, 30)
    ridge = LogisticRidge(y, n_classes, np.full(30, 1 / 30))
    point, weights = rng.normal(size=(4, ridge.n_scores)), rng.random(4)
    gradient, hessian = ridge._derivatives(inputs, point, weights)
    step = 1e-5
    for number in range(point.size):
        moved = np.zeros(point.size)
        moved[number] = step
        change = moved.reshape(ridge.n_scores, 4).T
        values = [ridge._value(inputs, point + sign * change, weights) for sign in (-1, 1)]
        assert gradient.T.ravel()[number] == pytest.approx((values[1] - values[0]) / (2 * step), abs=1e-8)
        slopes = [ridge._derivatives(inputs, point + sign * change, weights)[0].T.ravel() for sign in (-1, 1)]
        np.testing.assert_allclose(hessian[number], (slopes[1] - slopes[0]) / (2 * step), atol=1e-7)
