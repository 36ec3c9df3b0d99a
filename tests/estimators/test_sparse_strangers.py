"""Sparse models and what users bring: targets of any size, repeated entries, nullable labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import radboost
from radboost import (
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
)
from radboost.losses import EpsilonInsensitiveScores
from radboost.sparsity import Kernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
Y = (X[:, 0] + 0.5 * X[:, 1] + RNG.normal(size=80) * 0.3 > 0).astype(int)
Y3 = np.digitize(X[:, 0], [-0.5, 0.5])
T = 2.0 * X[:, 0] + X[:, 1]


# GradBoost's bound, of the worst curvature, would take thousands of rounds for targets spread over thousands.
@pytest.mark.parametrize("shift", [0.0, 50.0, -1e6])
@pytest.mark.parametrize(
    ("size", "update"), [(0.1, "newton"), (1.0, "newton"), (1000.0, "newton"), (0.1, "gradboost"), (1.0, "gradboost")]
)
def test_targets_may_be_anywhere(shift: float, size: float, update: str) -> None:
    """The loss is straight far from a target: neither the intercept nor a step may fly off there."""
    model = SparseBoostRegressor(0.001 * min(size, 1.0), update=update, tol=1e-5, n_rounds=5000)
    model.fit(X, size * T + shift)
    assert model.stop_reason_ == "optimal"
    assert model.optimality_gap_ <= 1e-5
    assert model.score(X, size * T + shift) > 0.97
    assert abs(model.intercept_ - shift) < 0.2 * size


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("features", ["given", "products", Kernel(gamma=0.05), "stumps", "trees"])
def test_real_targets_in_their_unit(features: Any) -> None:
    A, b = load_diabetes(return_X_y=True)
    A = A / A.std(axis=0)
    model = SparseBoostRegressor(0.01, family=features, n_rounds=5, tol=1e-3)
    model.fit(A, b)
    assert model.score(A, b) > 0.25
    assert 100.0 < model.predict(A).mean() < 200.0


def test_centres_of_a_regression_lie_on_both_sides_of_the_median() -> None:
    model = SparseBoostRegressor(1e-4, family=Kernel(gamma=0.1), tol=1e-4).fit(X, T + 50.0)
    assert model.n_features_used_ > 5
    assert model.score(X, T + 50.0) > 0.9


def test_alpha_is_chosen_for_targets_in_their_unit() -> None:
    A, b = load_diabetes(return_X_y=True)
    model = SparseBoostRegressorCV(n_alphas=8, cv=3).fit(A, b)
    assert 1e-4 < model.alpha_ < 1.0
    assert model.score(A, b) > 0.4


@pytest.mark.parametrize("scale", [0.5, 30.0, 3000.0])
def test_a_far_target_against_a_general_solver(scale: float) -> None:
    """Newton's method with a curvature that is safe ends at the optimum."""
    targets, alpha = scale * T + 7.0 * scale, 0.01
    model = SparseBoostRegressor(alpha, epsilon=0.1, standardize=False, tol=1e-9).fit(X, targets)
    loss = EpsilonInsensitiveScores(targets, 0.1)

    def objective(parameters: np.ndarray) -> float:
        scores = X @ (parameters[:5] - parameters[5:10]) + parameters[10]
        return float(loss.value(scores[None]).mean() + alpha * parameters[:10].sum())

    start = np.concatenate([np.maximum(model.coef_, 0.0), np.maximum(-model.coef_, 0.0), [model.intercept_]])
    bounds = [(0.0, None)] * 10 + [(None, None)]
    found = optimize.minimize(objective, start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15})
    assert objective(start) <= found.fun * (1.0 + 1e-8) + 1e-9


def test_the_safe_curvature_is_above_the_curvature_and_below_the_parabola() -> None:
    excess = np.linspace(-50.0, 50.0, 1001)
    loss = EpsilonInsensitiveScores(np.zeros(1001), 0.1)
    safe, exact = loss.safe_curvature(excess[None])[0], loss.curvature(excess[None])[0]
    assert np.all(safe >= exact)
    assert np.all(safe <= loss.lipschitz)
    assert safe[0] == pytest.approx(0.25 / 50.0)


def test_coefficients_are_those_of_the_last_fit(tmp_path: Path) -> None:
    model = SparseBoostClassifier(0.01).fit(X, Y)
    model.set_params(family="products").fit(X, Y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(radboost.load(tmp_path / "m").decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_entries_in_several_parts_and_stored_zeros(form: str) -> None:
    dense = np.array([[2.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]] * 4)
    parts = sparse.csr_matrix(([1.0, 1, 1, 1, 1, 1, 0] * 4, [0, 1, 0, 2, 3, 1, 0] * 4, np.arange(9) * 7 // 2), (8, 4))
    parts = parts.asformat(form)
    before = parts.data.copy()
    wanted = SparseBoostClassifier(0.01).fit(sparse.csr_matrix(parts.toarray()), [0, 1] * 4)
    model = SparseBoostClassifier(0.01).fit(parts, [0, 1] * 4)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)
    np.testing.assert_array_equal(parts.data, before)
    zeros = sparse.csr_matrix(X * (np.abs(X) > 0.5))
    stored = zeros.copy()
    stored.data[:3] = 0.0
    pruned = sparse.csr_matrix(stored.toarray())
    twice = SparseBoostClassifier(0.01).fit(sparse.vstack([stored, pruned]).tocsr(), np.tile(Y, 2))
    heavy = SparseBoostClassifier(0.01).fit(pruned, Y, np.full(80, 2.0))
    np.testing.assert_array_equal(twice.coef_, heavy.coef_)
    assert dense.shape == parts.shape


def test_products_that_leave_the_range_of_numbers_stay_out() -> None:
    rng = np.random.default_rng(3)
    rows = np.c_[X[:, 0], np.abs(X[:, 1]) * 1e60, X[:, 2] * 1e-60]
    model = SparseBoostClassifier(0.001, family="products", features_per_round=4, n_rounds=6, tol=1e-3)
    with pytest.warns(ConvergenceWarning, match="stopped after n_rounds=6"):
        model.fit(rows, rng.integers(0, 2, 80))
    assert model.n_features_used_ > 3
    assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize(
    "model", [SparseBoostClassifierCV(), SparseBoostRegressorCV(), MultiTaskSparseBoostClassifierCV()]
)
def test_paths_before_a_fit(model: Any) -> None:
    largest = model.alpha_max(X, Y)
    alphas, _, _ = model.path(X, Y, n_alphas=3)
    assert alphas[0] == pytest.approx(largest)


def test_optimal_means_within_the_tolerance() -> None:
    """Where the members are not weighed to the end, induction goes on with that."""
    model = SparseBoostClassifier(
        0.05, penalty="l1/linf", update="gradboost", family="stumps", features_per_round=4, n_rounds=40, tol=1e-4
    ).fit(X, Y3)
    assert model.stop_reason_.startswith("optimal")
    assert model.optimality_gap_ <= 1e-4


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "string"])
def test_nullable_labels_of_tasks(dtype: str) -> None:
    labels = np.column_stack([Y, 1 - Y, X[:, 2] > 0]).astype(int)
    gone = RNG.random(labels.shape) < 0.2
    frame = pd.DataFrame(labels).astype("Int64").astype(dtype).mask(gone)
    model = MultiTaskSparseBoostClassifier(0.01).fit(X, frame)
    plain = MultiTaskSparseBoostClassifier(0.01).fit(X, np.where(gone, np.nan, labels))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, frame) == plain.score(X, np.where(gone, np.nan, labels)) > 0.8


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.column_stack([Y]), r"3 tasks; it has the shape \(80, 1\)"),
        (np.column_stack([Y] * 4), r"shape \(80, 4\)"),
        (np.column_stack([Y] * 3)[:9], r"shape \(9, 3\)"),
        (np.full((80, 3), np.nan), "missing or have no weight"),
    ],
)
def test_scores_of_tasks_look_at_the_shape(y: Any, message: str) -> None:
    model = MultiTaskSparseBoostClassifier(0.01).fit(X, np.column_stack([Y, 1 - Y, X[:, 2] > 0]))
    with pytest.raises(ValueError, match=message):
        model.score(X, y)


def test_folds_without_weight() -> None:
    weights = np.where(np.arange(80) < 27, 1.0, 0.0)
    with pytest.raises(ValueError, match="no row with a positive weight"):
        SparseBoostRegressorCV(n_alphas=3, cv=KFold(3)).fit(X, T, weights)
    SparseBoostRegressorCV(n_alphas=3, cv=3).fit(X, T, weights)  # folds by content leave rows of no weight out
