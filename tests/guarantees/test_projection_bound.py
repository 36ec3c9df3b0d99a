"""Theorem 7.5, term by term, and where it does not apply."""

import math

import numpy as np
import pytest

from radboost.estimators import SupervisedKernelProjection
from radboost.guarantees import bound, projection_bound
from radboost.projection.kernels import NamedKernel

KERNELS = [NamedKernel("rbf", 0.5), NamedKernel("laplacian", 0.2)]


def fitted(**settings):
    rng = np.random.default_rng(0)
    X, more = rng.normal(size=(60, 2)), rng.normal(size=(80, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    given = {"kernels": KERNELS, "rank": 3, "fit_intercept": False, "standardize": False, **settings}
    return SupervisedKernelProjection(**given).fit(X, y, X_unlabelled=more), X, y


def test_terms_are_those_of_the_theorem():
    model, X, y = fitted(ky_fan=0.6, inverse_sum=9.0)
    found = projection_bound(model, X, y, eigengap=0.05, rho=0.2, delta=0.1)
    m, p, r, nu, delta = 60, 2, 3, 9.0, 0.1
    kappa = 4.0 * (1.0 + math.sqrt(math.log(4.0 * p / delta) / 2.0))
    spectrum = math.sqrt(2.0 * (0.6 + kappa * math.sqrt(r / m)) * math.log(2 * p * m))
    eigenspace = 8.0 * kappa * nu / 0.05 * math.sqrt(23.0 / 22.0 * math.e * 1.0 / m)
    assert found.spectrum == pytest.approx(2.0 / (0.2 * math.sqrt(m)) * spectrum)
    assert found.eigenspace == pytest.approx(2.0 / (0.2 * math.sqrt(m)) * eigenspace)
    assert found.chance == pytest.approx(3.0 * math.sqrt(math.log(4.0 / delta) / (2.0 * m)))
    margins = np.where(y == 1, 1, -1) * model.decision_function(X) / np.linalg.norm(model.coef_)
    assert found.margin_error == np.mean(margins <= 0.2)
    assert found.total == pytest.approx(found.margin_error + found.spectrum + found.eigenspace + found.chance)
    assert found.vacuous
    assert "(vacuous)" in str(found)
    best = projection_bound(model, X, y, eigengap=0.05, delta=0.1)
    assert best.total <= projection_bound(model, X, y, eigengap=0.05, rho=0.01, delta=0.1 / 32).total


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, {}, "cannot be read off the data: give eigengap"),
        ({"standardize": True}, {"eigengap": 0.1}, "standardize=False"),
        ({"fit_intercept": True}, {"eigengap": 0.1}, "fit_intercept=False"),
        ({"kernels": ["linear", "rbf"]}, {"eigengap": 0.1}, "not known of kernel 0: give largest_diagonals"),
        ({"kernels": ["linear", "rbf"]}, {"eigengap": 0.1, "largest_diagonals": [1e6, 1.0]}, "it would exceed 1"),
        ({}, {"eigengap": 0.1, "largest_diagonals": [1.0]}, "must have 2 numbers; got 1"),
        ({}, {"eigengap": 0.0}, "eigengap"),
    ],
)
def test_where_the_theorem_does_not_apply_there_is_no_bound(settings, given, message):
    model, X, y = fitted(**settings)
    with pytest.raises(ValueError, match=message):
        projection_bound(model, X, y, **given)


def test_it_needs_a_larger_unlabelled_sample_and_two_kernels():
    model, X, y = fitted()
    alone = SupervisedKernelProjection(KERNELS, rank=3, fit_intercept=False, standardize=False).fit(X, y)
    with pytest.raises(ValueError, match="larger than the 60 labelled rows; the model was fitted with 0 rows"):
        projection_bound(alone, X, y, eigengap=0.1)
    with pytest.warns(UserWarning, match="one kernel"):
        single = SupervisedKernelProjection(["rbf"], rank=3, fit_intercept=False, standardize=False).fit(
            X, y, X_unlabelled=X
        )
    with pytest.raises(ValueError, match="needs p > 1"):
        projection_bound(single, X, y, eigengap=0.1)
    with pytest.raises(TypeError, match="SupervisedKernelProjection"):
        projection_bound(object(), X, y, eigengap=0.1)
    with pytest.raises(TypeError, match=r"have guarantees\.projection_bound"):
        bound(model, X, y)
    three = SupervisedKernelProjection(KERNELS, rank=3).fit(X, y + (X[:, 0] > 1))
    with pytest.raises(ValueError, match="two classes"):
        projection_bound(three, X, y, eigengap=0.1)
    assert model.n_unlabelled_ == 80
