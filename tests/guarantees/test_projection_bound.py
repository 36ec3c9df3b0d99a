"""The bound of kernel projections: where the thesis's lemma fails, its terms by hand, and what is refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from radboost.estimators import SupervisedKernelProjection
from radboost.guarantees import RHO_GRID, bound, projection_bound
from radboost.guarantees.kernel_projection import complexity
from radboost.projection.kernels import NamedKernel

KERNELS = [NamedKernel("rbf", 0.5), NamedKernel("laplacian", 0.2)]


def drawn(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes above each other: the first column says nothing."""
    y = rng.integers(0, 2, n)
    return np.column_stack([rng.uniform(-4, 4, n), 2 * y - 1 + 0.3 * rng.normal(size=n)]), y


def fitted(n_classes: int = 2, **settings: Any) -> tuple[SupervisedKernelProjection, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, more = rng.normal(size=(60, 2)), rng.normal(size=(50, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (n_classes == 3) * (X[:, 0] > 0.5)
    given = {"kernels": KERNELS, "rank": 3, "fit_intercept": False, **settings}
    return SupervisedKernelProjection(**given).fit(X, y, X_unlabelled=more), X, y


def test_lemma_7_2_is_false() -> None:
    """Columns are 0 with probability 1/10, otherwise -1 or 1; a linear kernel each, r = 1, and M is one mixture.

    The larger mean square of a sample says which column it keeps, on which u has the length 1 and on the other 0.
    """
    m, delta, p, nu, eigengap = 1_000_000, 0.05, 2, 4.0, 0.9
    kappa = 4.0 * (1.0 + math.sqrt(math.log(2 * p / delta) / 2.0))
    assert 8.0 * kappa * nu / (eigengap * math.sqrt(m)) < 0.4
    squares = np.random.default_rng(0).binomial(m, 0.9, size=(200, 2, 2))  # draws, samples, columns
    kept = squares.argmax(axis=2)
    assert np.mean(kept[:, 0] != kept[:, 1]) > 0.4 > delta


@pytest.mark.parametrize(
    ("m", "expected"), [(500, 0.627), (2000, 0.337), pytest.param(4000, 0.248, marks=pytest.mark.slow)]
)
def test_it_says_something(m: int, expected: float) -> None:
    """By the second part of (32) alone it would be `expected`; the first is smaller with three kernels."""
    rng = np.random.default_rng(0)
    (X, y), (more, _) = drawn(m, rng), drawn(m + 1, rng)
    kernels = [NamedKernel("rbf", 0.1), NamedKernel("laplacian", 0.1), NamedKernel("rbf", 1.0, columns=(1,))]
    settings = {"rank": 2, "fit_intercept": False, "standardize": False, "n_starts": 0, "alpha": 0.01}
    model = SupervisedKernelProjection(kernels, inverse_sum=20.0, **settings).fit(X, y, X_unlabelled=more)
    found = projection_bound(model, X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X) / np.linalg.norm(model.coef_)
    largest = 0.0
    for kernel, spectrum in zip(kernels, model._spectra, strict=True):
        functions = spectrum.functions(kernel(X, model._sample))
        largest = max(largest, float((functions[:, :2] ** 2).mean(axis=0).sum()))
    root = math.sqrt(2.0 * largest * math.log(2 * 3 * 2) / m)
    chance = 3.0 * math.sqrt(math.log(2 * 32 / 0.05) / (2 * m))
    naive = min(np.clip(1 - margins / rho, 0, 1).mean() + 2 / rho * root + chance for rho in RHO_GRID)
    assert naive == pytest.approx(expected, abs=0.02)
    assert found.total < 0.9 * naive
    assert found.complexity == pytest.approx(
        root * math.sqrt(model._squares(X).mean(axis=0).sum() / 2 / largest / math.log(12))
    )
    X, y = drawn(5000, rng)
    assert np.mean(model.predict(X) != y) < found.total


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("constant", [False, True])
def test_the_complexity_is_above_a_monte_carlo_estimate(n_classes: int, constant: bool) -> None:
    """The supremum over classifiers of norm 1 is a norm; that over mixtures is tried on a grid."""
    model, X, _ = fitted(n_classes, fit_intercept=constant)
    rng, scores, m, rank = np.random.default_rng(1), len(model.coef_), 60, 3
    values = [model._functions(k, X)[:, :rank] for k in range(2)]
    of_signs = []
    for _ in range(400):
        signs = rng.choice([-1.0, 1.0], size=(m, scores))
        first, second = (np.square(signs.T @ each).sum(axis=0) for each in values)
        more = np.square(signs.sum(axis=0)).sum() if constant else 0.0
        cells = [(mu, n) for mu in np.linspace(0, 1, 11) for n in range(rank + 1)]
        of_signs.append(max(mu * first[:n].sum() + (1 - mu) * second[: rank - n].sum() for mu, n in cells) + more)
    estimate = float(np.mean(np.sqrt(of_signs))) / m * (1.0 if scores == 1 else 2.0)
    bounded = complexity(model._squares(X).mean(axis=0), rank, m, scores, constant=constant)
    assert 0.5 * bounded < estimate < bounded


def test_the_terms_by_hand() -> None:
    for n_classes in (2, 3):
        model, X, y = fitted(n_classes, fit_intercept=True)
        found = projection_bound(model, X, y, rho=0.2, delta=0.1)
        scores = model.decision_function(X)
        norm = math.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum())
        if n_classes == 2:
            margins = np.where(y == 1, scores, -scores) / norm
        else:
            margins = np.array([row[label] - np.delete(row, label).max() for row, label in zip(scores, y, strict=True)])
            margins /= norm
        squares = [(model._functions(k, X)[:, :3] ** 2).mean(axis=0).sum() for k in range(2)]
        kappa = math.sqrt((sum(squares) + 1.0) / 60) * (1.0 if n_classes == 2 else 2.0 * math.sqrt(3.0))
        assert found.margin_error == pytest.approx(np.clip(1.0 - margins / 0.2, 0.0, 1.0).mean())
        assert found.complexity_term == pytest.approx(2.0 / 0.2 * kappa)
        assert found.confidence_term == pytest.approx(3.0 * math.sqrt(math.log(2.0 / 0.1) / 120.0))
        assert found.vacuous
        assert "projections on 3 eigenfunctions of 2 kernels" in str(found)
    assert complexity(np.array([0.1, 1.0] * 50), 1, 100) == pytest.approx(math.sqrt(2.0 * math.log(200.0) / 100))


def test_eigenfunctions_of_the_labelled_rows_are_refused() -> None:
    """With a narrow kernel they are above 0 at these rows only, so that any labels are learned by heart."""
    model, X, y = fitted()
    again = SupervisedKernelProjection(KERNELS, rank=3)
    for more, message in (
        (None, "without X_unlabelled"),
        (X, "with all of these"),
        (np.vstack([X, X + 1]), "with all"),
    ):
        with pytest.raises(ValueError, match=message):
            projection_bound(again.fit(X, y, X_unlabelled=more), X, y)
    with pytest.warns(UserWarning, match="20 of the 60 rows in X are in X_unlabelled too"):
        projection_bound(again.fit(X, y, X_unlabelled=np.vstack([X[:20], X + 1])), X, y)
    with pytest.warns(UserWarning, match="60 of the 120 rows in X are copies"):
        projection_bound(model, np.vstack([X, X]), np.append(y, y))
    with pytest.raises(TypeError, match="SupervisedKernelProjection"):
        projection_bound(object(), X, y)
    with pytest.raises(TypeError, match=r"have guarantees\.projection_bound"):
        bound(model, X, y)


def test_one_kernel_will_do() -> None:
    rng = np.random.default_rng(0)
    (X, y), (more, _) = drawn(60, rng), drawn(40, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SupervisedKernelProjection(["rbf"], rank=3, fit_intercept=False).fit(X, y, X_unlabelled=more)
    found = projection_bound(model, X, y)
    assert found.complexity == pytest.approx(math.sqrt(model._squares(X).mean() / 60))
