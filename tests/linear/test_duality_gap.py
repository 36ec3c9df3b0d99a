"""`duality_gap_` against definitions: of the fitted model itself, in more digits, and never too small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from radboost import SparseBoostClassifier, SparseBoostRegressor
from radboost.linear.bounds import solve_by_bounds
from radboost.linear.columns import DesignMatrix
from radboost.linear.newton import solve_by_newton
from radboost.linear.problem import Point, SparseProblem, Trail
from radboost.losses import EpsilonInsensitiveScores, ExponentialScores, LogisticScores, MultinomialScores
from radboost.losses.gaps import GAP_ROUNDING
from radboost.penalties import ROW_PENALTIES, get_row_penalty

M, N = 60, 6
RNG = np.random.default_rng(5)
X = RNG.normal(size=(M, N))
W = RNG.normal(size=(N, 3)) * (np.arange(N) < 3)[:, None]
CLASSES = (X @ W + RNG.gumbel(size=(M, 3)) + [2.0, 0.0, -1.0]).argmax(axis=1).astype(np.uint16)
SIGNS = np.where(np.arange(3)[:, None] == CLASSES, 1.0, -1.0)
TARGETS = X @ W[:, 0] + 3.0
LOSSES: dict[str, Any] = {
    "logistic": LogisticScores(SIGNS[:1]),
    "exponential": ExponentialScores(SIGNS[:1]),
    "multinomial": MultinomialScores(CLASSES, 3),
    "tasks": LogisticScores(SIGNS),
    "epsilon_insensitive": EpsilonInsensitiveScores(TARGETS, 0.2),
}
WEIGHTS = RNG.dirichlet(np.full(M, 3.0))


def problem_of(loss: str, penalty: str, intercept: bool = True) -> SparseProblem:
    columns = DesignMatrix.of(X, np.arange(M), WEIGHTS, intercept=intercept, n_threads=1)
    return SparseProblem(columns, LOSSES[loss], get_row_penalty(penalty), WEIGHTS, np.full(N, 0.03), intercept)


def solved(problem: SparseProblem, tolerance: float = 1e-12) -> Point:
    return solve_by_newton(problem, problem.start(), tolerance, 1000, Trail())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", sorted(ROW_PENALTIES))
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_no_point_is_further_from_the_optimum_than_its_gap(loss: str, penalty: str, intercept: bool) -> None:
    """Points far and near; above all those whose only fault is the intercept, which the gap must not repair."""
    problem = problem_of(loss, penalty, intercept)
    best = solved(problem)
    smallest = problem.objective(best)
    points = [problem.start(), best]
    for size in (1.0, 1e-2, 1e-4, 1e-6):
        moved, shifted = best.copy(), best.copy()
        moved.weights = best.weights + size * RNG.normal(size=best.weights.shape)
        moved.scores = problem.columns.scores(problem.everything, moved.weights) + moved.intercept[:, None]
        shifted.intercept = best.intercept + size * np.arange(1, 1 + len(best.intercept))
        shifted.scores = best.scores + (shifted.intercept - best.intercept)[:, None]
        points += [moved, shifted]
        if intercept:
            above = problem.objective(shifted) - smallest
            # The weights are right, so that what the intercept costs is nearly all of the gap.
            assert problem.certify(shifted).duality_gap == pytest.approx(above, rel=1e-2, abs=1e-8)
    for point in points:
        assert problem.certify(point).duality_gap >= problem.objective(point) - smallest
    assert 0.0 < problem.certify(best).duality_gap <= 1e-9


@pytest.mark.parametrize("penalty", ["l1", "l1/l2"])
@pytest.mark.parametrize("loss", ["logistic", "multinomial", "tasks", "exponential", "epsilon_insensitive"])
def test_balanced_slopes(loss: str, penalty: str) -> None:
    """Their weighted sums are zero, they have a finite conjugate, and slopes whose sums are zero stay as they are."""
    made = LOSSES[loss]
    for size in (0.0, 0.1, 3.0, 30.0):
        scores = size * RNG.normal(size=(made.n_outputs, M)) + (3.0 if loss == "epsilon_insensitive" else 0.0)
        slopes = made.gradient(scores)
        balanced = made.balanced(slopes, WEIGHTS)
        np.testing.assert_allclose(balanced @ WEIGHTS, 0.0, atol=1e-15 * max(1.0, np.abs(slopes).max()))
        if loss == "multinomial":
            chances = balanced + (np.arange(3)[:, None] == CLASSES)
            assert chances.min() >= 0.0
            np.testing.assert_allclose(chances.sum(axis=0), 1.0, atol=1e-14)
        else:
            assert np.all(balanced * slopes >= 0.0)
            assert np.all(np.abs(balanced) <= np.abs(slopes))
        np.testing.assert_allclose(made.balanced(balanced, WEIGHTS), balanced, atol=1e-14)
    problem = problem_of(loss, penalty)
    at_best = problem.loss.gradient(problem.start().scores)
    np.testing.assert_allclose(problem.loss.balanced(at_best, WEIGHTS), at_best, atol=1e-7)


def of_two_classes(model: Any, y: np.ndarray, alpha: float) -> tuple[Any, Any]:
    """The objective of the model, from its coefficients alone, and a lower bound on all: in more digits."""
    wide = np.longdouble
    spread = (X.astype(wide) ** 2).mean(axis=0) - X.astype(wide).mean(axis=0) ** 2
    Z = (X.astype(wide) - X.astype(wide).mean(axis=0)) / np.sqrt(spread)
    coef, intercept = model.coef_[0].astype(wide), wide(model.intercept_[0])
    scores = X.astype(wide) @ coef + intercept
    objective = np.logaddexp(wide(0.0), -y * scores).mean() + alpha * np.abs(coef * np.sqrt(spread)).sum()
    shift = wide(0.0)
    for _ in range(50):  # Newton's method for the best intercept
        q = 1 / (1 + np.exp(y * (scores + shift)))
        shift += (y * q).mean() / (q * (1 - q)).mean()
    u = -y / (1 + np.exp(y * (scores + shift)))
    u *= np.where(u > 0, -u[u < 0].sum() / u[u > 0].sum(), 1)
    u *= min(1, alpha / np.abs(Z.T @ u / M).max())
    v = -y * u  # in [0, 1]
    return objective, -(v * np.log(v) + (1 - v) * np.log1p(-v)).mean()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "settings",
    [
        {"update": "gradboost", "n_rounds": 1},
        {"update": "gradboost", "n_rounds": 20, "template": "all"},
        {"update": "newton", "n_rounds": 2},
        {"update": "newton", "tol": 1e-6},
        {"update": "newton", "tol": 0.0},
        {"features_per_round": 2, "tol": 1e-7},
    ],
)
def test_the_gap_is_that_of_the_fitted_model(settings: dict[str, Any]) -> None:
    y, alpha = SIGNS[0], 0.04
    model = SparseBoostClassifier(alpha, penalty="l1", **settings).fit(X, y)
    objective, bound = of_two_classes(model, y, alpha)
    size = float(2 * objective + bound)
    assert objective - bound > -1e-17
    assert model.duality_gap_ == pytest.approx(float(objective - bound), rel=1e-5, abs=2 * GAP_ROUNDING * size)
    assert model.duality_gap_ >= float(objective - bound)
    best = SparseBoostClassifier(alpha, penalty="l1", tol=1e-13).fit(X, y)
    assert model.duality_gap_ >= float(objective - of_two_classes(best, y, alpha)[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_gap_of_zero_is_not_claimed(size: float) -> None:
    """Below its rounding the difference of two sums says nothing; with large targets these are large."""
    model = SparseBoostRegressor(0.03 * min(1.0, size), epsilon=0.1 * size, tol=0.0, n_rounds=200)
    model.fit(X, size * TARGETS)
    excess = model.predict(X) - size * TARGETS
    value = (np.logaddexp(0, excess - 0.1 * size) + np.logaddexp(0, -excess - 0.1 * size)).mean()
    slopes = expit(excess - 0.1 * size) - expit(-excess - 0.1 * size)
    assert model.duality_gap_ >= GAP_ROUNDING * value
    assert model.duality_gap_ >= 1e-16 * np.abs(slopes * size * TARGETS).mean()
    assert model.duality_gap_ <= 1e-6 * max(1.0, size)


def test_a_point_that_stops_early_is_judged_as_it_is() -> None:
    """The paper's updates move the intercept by one step a round: it is behind when a fit is cut short."""
    problem = problem_of("logistic", "l1")
    problem = replace(problem, prices=problem.prices * 3.0)
    smallest = problem.objective(solved(problem))
    point = Point(np.zeros((N, 1)), np.zeros(1), np.zeros((1, M)))
    for rounds in (1, 2, 5, 20):
        moved = solve_by_bounds(problem, point.copy(), 1e-12, rounds, Trail(), update="gradboost", template="one")
        assert problem.certify(moved).duality_gap >= problem.objective(moved) - smallest
