"""Features that enter one after the other: products, kernels, stumps, trees, and a generator of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from radboost import SparseBoostClassifier
from radboost.sparsity import Column, Generator, Kernel, Product, Products, Stump, Stumps, Training, Trees


def rows(seed: int = 0, m: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(m, 5))
    f = 4.0 * X[:, 0] * X[:, 1] + np.where(X[:, 2] > 0.3, 2.0, -1.0)
    return X, (f + rng.logistic(size=m) > 0).astype(int)


def test_products_are_found() -> None:
    X, y = rows()
    model = SparseBoostClassifier(0.02, penalty="l1", family="products", n_rounds=30).fit(X, y)
    assert model.stop_reason_.startswith("optimal among")
    assert Product((0, 1)) in model.ensemble_.hypotheses
    assert "x[0]*x[1]" in repr(model.ensemble_)
    assert model.score(X, y) > SparseBoostClassifier(0.02).fit(X, y).score(X, y) + 0.05
    assert not hasattr(model, "coef_")
    assert np.all(np.diff(model.history_["objective"]) < 0)
    # Every product that extends the model stays out, and the weights inside are optimal.
    assert model.optimality_gap_ <= 1e-6
    values = np.column_stack([h.values(X) for h in model.ensemble_.hypotheses])
    np.testing.assert_allclose(
        values @ model.ensemble_.weights[:, 0] + model.ensemble_.intercept[0], model.decision_function(X), atol=1e-10
    )
    assert model.get_support()[:2].all()


def test_products_of_bounded_degree_are_a_finite_problem() -> None:
    """Induction ends at the optimum over all products of two columns, whatever the number per round."""
    X, y = rows(1)
    everything = [(i,) for i in range(5)] + [(i, j) for i in range(5) for j in range(i, 5)]
    expanded = np.column_stack([Product(p).values(X) for p in everything])
    given = SparseBoostClassifier(0.03, tol=1e-8).fit(expanded, y)
    for per_round in (1, 5):
        induced = SparseBoostClassifier(
            0.03, family=Products(max_degree=2), features_per_round=per_round, tol=1e-8
        ).fit(X, y)
        assert induced.stop_reason_ == "optimal among columns and products of two columns"
        used = {everything[j] for j in np.flatnonzero(given.coef_[0])}
        assert {h.features for h in induced.ensemble_.hypotheses} == used
        np.testing.assert_allclose(induced.decision_function(X), given.decision_function(expanded), atol=1e-4)


@pytest.mark.parametrize("update", ["newton", "adaboost", "gradboost"])
def test_given_columns_one_at_a_time(update: str) -> None:
    """Induction and the solver that sees all columns end at the same optimum, dense or sparse."""
    X, y = rows(2)
    whole = SparseBoostClassifier(0.02, penalty="l1", tol=1e-8).fit(X, y)
    for matrix in (X, sparse.csr_array(X)):
        steps = SparseBoostClassifier(
            0.02, penalty="l1", update=update, features_per_round=1, tol=1e-7, n_rounds=100
        ).fit(matrix, y)
        np.testing.assert_allclose(steps.coef_, whole.coef_, atol=1e-4)
        assert steps.history_["n_features"][0] == 1
        assert steps.stop_reason_ == "optimal"


@pytest.mark.parametrize("update", ["newton", "adaboost", "gradboost"])
def test_sequential_boosting_falls_and_ends_at_the_same_place(update: str) -> None:
    X, y = rows(3)
    whole = SparseBoostClassifier(0.03, penalty="l1", family="stumps", tol=1e-8).fit(X, y)
    slow = SparseBoostClassifier(
        0.03, penalty="l1", update=update, family="stumps", features_per_round=1, totally_corrective=False,
        n_rounds=100, tol=1e-4,
    ).fit(X, y)  # fmt: skip
    assert np.all(np.diff(slow.history_["objective"]) <= 1e-13)
    assert slow.history_["objective"][-1] == pytest.approx(whole.history_["objective"][-1], abs=5e-3)
    assert slow.history_["objective"][-1] >= whole.history_["objective"][-1] - 1e-9


def test_features_leave_again() -> None:
    """Back-pruning: a feature that others make superfluous goes."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a + b + rng.normal(size=300) * 0.1, a, b])
    y = (a + b + 0.3 * rng.normal(size=300) > 0).astype(int)
    X[:, 0] += rng.normal(size=300) * 0.5
    model = SparseBoostClassifier(0.001, penalty="l1", features_per_round=1).fit(X, y)
    assert model.history_["n_features"][0] == 1
    assert model.stop_reason_ == "optimal"
    inside = np.abs(SparseBoostClassifier(0.001, penalty="l1").fit(X, y).coef_)
    np.testing.assert_allclose(np.abs(model.coef_), inside, atol=1e-3)


def test_stumps() -> None:
    X, y = rows(5)
    model = SparseBoostClassifier(0.02, family=Stumps(max_thresholds=9)).fit(X, y)
    assert all(isinstance(h, Stump) for h in model.ensemble_.hypotheses)
    by_hand = np.column_stack([np.where(X[:, h.feature] > h.threshold, 1.0, -1.0) for h in model.ensemble_.hypotheses])
    np.testing.assert_allclose(
        by_hand @ model.ensemble_.weights[:, 0] + model.ensemble_.intercept, model.decision_function(X)
    )
    thresholds = {h.threshold for h in model.ensemble_.hypotheses if h.feature == 2}
    assert min(abs(t - 0.3) for t in thresholds) < 0.15


def test_kernel_centres_are_the_mistakes_of_a_perceptron() -> None:
    X, y = rows(6)
    model = SparseBoostClassifier(0.01, family="kernel").fit(X, y)
    assert 0 < model.n_features_used_ < len(X)
    centres = {tuple(h.centre) for h in model.ensemble_.hypotheses}
    assert centres <= {tuple(row) for row in X.tolist()}
    given = SparseBoostClassifier(0.01, family=Kernel(gamma=2.0, centres=X[:7])).fit(X, y)
    assert given.n_features_used_ <= 7
    distances = ((X[:, None] - np.array([h.centre for h in given.ensemble_.hypotheses])[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        np.exp(-2.0 * distances) @ given.ensemble_.weights[:, 0] + given.ensemble_.intercept[0],
        given.decision_function(X),
        atol=1e-4,
    )
    with pytest.raises(ValueError, match=r"centres must be rows with 5 columns"):
        SparseBoostClassifier(family=Kernel(centres=np.ones((2, 3)))).fit(X, y)
    three = SparseBoostClassifier(0.01, family="kernel").fit(X, y + (X[:, 3] > 0.5))
    assert three.decision_function(X).shape == (200, 3)


def test_trees() -> None:
    X, y = rows(7)
    model = SparseBoostClassifier(0.02, penalty="l1", family=Trees(max_depth=2), features_per_round=1, n_rounds=20)
    model.fit(X, y)
    assert model.score(X, y) > 0.75
    assert np.all(np.diff(model.history_["objective"]) < 0)
    assert "tree(" in repr(model.ensemble_)


@dataclass(frozen=True)
class Wave:
    column: int
    frequency: int

    def values(self, X: Any) -> np.ndarray:
        return np.sin(self.frequency * X[:, self.column])

    def describe(self, names: Any) -> str:
        return f"sin({self.frequency} x[{self.column}])"


class Waves(Generator):
    def start(self, training: Training) -> Any:
        return lambda members, residual: [Wave(j, f) for j in range(training.X.shape[1]) for f in (1, 2, 4, 8)]


def test_a_generator_of_ones_own() -> None:
    rng = np.random.default_rng(11)
    X = rng.uniform(-2, 2, size=(200, 3))
    y = (np.sin(4 * X[:, 1]) + 0.2 * rng.normal(size=200) > 0).astype(int)
    model = SparseBoostClassifier(0.05, family=Waves(), features_per_round=2).fit(X, y)
    assert Wave(1, 4) in model.ensemble_.hypotheses
    assert "sin(4 x[1])" in repr(model.ensemble_)
    assert model.score(X, y) > 0.85

    class Broken(Waves):
        def start(self, training: Training) -> Any:
            return lambda members, residual: [Wave(0, np.inf)]  # type: ignore[arg-type]

    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match=r"Wave must return one finite number for each of 200 rows"),
    ):
        SparseBoostClassifier(family=Broken()).fit(X, y)
    with pytest.raises(TypeError, match=r"family must be one of .*'given'.*Generator"):
        SparseBoostClassifier(family=Waves).fit(X, y)


@pytest.mark.parametrize("chosen", [[3, 2], [0, 1, 1, 2, 3, 4]])
def test_candidates_of_ones_own_may_be_some_columns_or_come_twice(chosen: list[int]) -> None:
    class Some(Generator):
        finite = True

        def start(self, training: Training) -> Any:
            return lambda members, residual: [Column(feature) for feature in chosen]

    X, y = rows(9)
    model = SparseBoostClassifier(0.01, penalty="l1", family=Some(), features_per_round=1, tol=1e-8).fit(X, y)
    given = SparseBoostClassifier(0.01, penalty="l1", tol=1e-8).fit(X[:, sorted(set(chosen))], y)
    assert len(set(model.ensemble_.hypotheses)) == model.n_features_used_
    np.testing.assert_allclose(
        model.decision_function(X), given.decision_function(X[:, sorted(set(chosen))]), atol=1e-4
    )


def test_few_or_many_values_kept_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of candidates that do not fit into memory are worked out again."""
    X, y = rows(10)
    fits = [
        SparseBoostClassifier(0.01, penalty="l1", family=features, features_per_round=2, n_rounds=4, tol=1e-3)
        for features in ("products", "stumps")
    ]
    kept = [model.fit(X, y).decision_function(X) for model in fits]
    monkeypatch.setattr("radboost.linear.induction.KEPT_CELLS", 10)
    for model, scores in zip(fits, kept, strict=True):
        np.testing.assert_array_equal(model.fit(X, y).decision_function(X), scores)


def test_an_empty_model_of_induced_features_keeps_its_intercept() -> None:
    X, y = rows(11)
    with pytest.warns(UserWarning, match="empty"):
        model = SparseBoostClassifier(5.0, family="products").fit(X, y)
    assert model.predict_proba(X)[0, 1] == pytest.approx(y.mean())
