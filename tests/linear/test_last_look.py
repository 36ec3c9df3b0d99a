"""What generators propose only where nothing else helps, and what a fit that ends there says it has looked at."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from radboost import SparseBoostClassifier, SparseBoostRegressor
from radboost.families import columns as columns_module
from radboost.losses import EpsilonInsensitiveScores
from radboost.sparsity import Column, Generator, Kernel, LastLook, Product, Products, Stumps, Training, Trees

# Every combination of six signs: no column has anything to do with a product of others.
SIGNS = np.array(list(product([-1.0, 1.0], repeat=6)))
LOOKED_AT = "columns, products in the model times a column and products of two columns"


@pytest.mark.parametrize("totally_corrective", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_exclusive_or_of_two_columns(form: Any, totally_corrective: bool) -> None:
    y = SIGNS[:, 1] * SIGNS[:, 4] > 0
    model = SparseBoostClassifier(0.05, family="products", totally_corrective=totally_corrective, tol=1e-4)
    model.fit(form(SIGNS), y)
    assert model.score(form(SIGNS), y) == 1.0
    assert list(model.ensemble_.hypotheses) == [Product((1, 4))]
    assert model.stop_reason_ == f"optimal among {LOOKED_AT}"
    assert model.optimality_gap_ <= 1e-4
    assert np.isnan(model.duality_gap_)


def test_what_has_entered_is_no_violation_any_more() -> None:
    with pytest.warns(ConvergenceWarning, match="n_rounds=1 "):
        model = SparseBoostClassifier(0.05, family="products", n_rounds=1).fit(SIGNS, SIGNS[:, 0] * SIGNS[:, 1] > 0)
    assert model.stop_reason_ == "n_rounds"
    assert model.optimality_gap_ <= 1e-6


def test_every_pair_is_found_and_leads_further() -> None:
    for pair in combinations(range(6), 2):
        model = SparseBoostClassifier(0.05, family="products").fit(SIGNS, SIGNS[:, pair].prod(axis=1) > 0)
        assert list(model.ensemble_.hypotheses) == [Product(pair)]
    # A product of three is reached by way of one of two that helps alone.
    scores = 2.0 * SIGNS[:, 0] * SIGNS[:, 1] + SIGNS[:, [0, 1, 2]].prod(axis=1)
    model = SparseBoostRegressor(0.01, epsilon=0.0, family="products").fit(SIGNS, scores)
    assert {h.features for h in model.ensemble_.hypotheses} == {(0, 1), (0, 1, 2)}
    again = SparseBoostRegressor(0.01, epsilon=0.0, family=Products(max_degree=2)).fit(SIGNS, scores)
    assert {h.features for h in again.ensemble_.hypotheses} == {(0, 1)}
    assert again.stop_reason_ == "optimal among columns and products of two columns"


def test_parity_of_three_is_not_found_and_not_denied() -> None:
    y = SIGNS[:, [0, 2, 5]].prod(axis=1) > 0
    with pytest.warns(UserWarning, match="no proposed feature is worth its price.*products of two columns"):
        model = SparseBoostClassifier(0.05, family="products").fit(SIGNS, y)
    assert model.n_features_used_ == 0
    assert model.stop_reason_ == f"optimal among {LOOKED_AT}"
    # The product itself would help: "optimal" alone would be wrong.
    column = Product((0, 2, 5)).values(SIGNS)[:, None]
    assert SparseBoostClassifier(0.05).fit(column, y).score(column, y) == 1.0


def test_no_longer_products_than_allowed() -> None:
    with pytest.warns(UserWarning, match="empty"):
        model = SparseBoostClassifier(0.05, family=Products(max_degree=1)).fit(SIGNS, SIGNS[:, :2].prod(axis=1) > 0)
    assert model.stop_reason_ == "optimal among columns"


def test_every_product_of_two_stays_out_at_the_end() -> None:
    """The conditions hold for all of them at the model that is kept, not only when they were looked at first."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] - X[:, 4] * X[:, 5] + rng.normal(size=150)
    alpha = 0.05
    model = SparseBoostRegressor(alpha, epsilon=0.1, family="products", features_per_round=1, tol=1e-7).fit(X, y)
    assert model.stop_reason_ == f"optimal among {LOOKED_AT}"
    excess = model.predict(X) - y
    slopes = 1 / (1 + np.exp(-(excess - 0.1))) - 1 / (1 + np.exp(excess + 0.1))
    for i in range(8):
        for j in range(i, 8):
            values = X[:, i] * X[:, j]
            assert abs(np.mean(slopes * (values - values.mean())) / values.std()) <= alpha + 1e-6


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_wide_rows_get_the_pairs_of_some_columns(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more columns than the limits allow those are taken along which the loss falls most, and the fit says so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64, 150)) * rng.uniform(0.01, 100.0, size=150) + 5.0
    y = 3.0 * X[:, 1] * X[:, 4]
    weights = rng.dirichlet(np.ones(64))
    residual = weights * rng.normal(size=(2, 64))
    residual -= weights * residual.sum(axis=1, keepdims=True)
    training = Training(form(X), EpsilonInsensitiveScores(y, 0.1), weights, 0, 1)
    monkeypatch.setattr(columns_module, "MOST_PAIRS", 21)
    look = Products().last_look(training, residual)
    assert look.proposed == f"{LOOKED_AT} (6 of the 150 columns)"
    spread = np.sqrt(weights @ (X - weights @ X) ** 2)
    steepest = np.argsort(-np.abs(residual @ X / spread).sum(axis=0))[:6]
    pairs = [h.features for h in look.hypotheses]
    assert len(pairs) == 21
    assert {feature for pair in pairs for feature in pair} == set(steepest.tolist())
    monkeypatch.setattr(columns_module, "MOST_PAIR_VALUES", 64 * 10 + 5)
    with pytest.warns(UserWarning, match=r"empty.*\(4 of the 150 columns\)"):
        SparseBoostRegressor(1e6, epsilon=0.0, family="products").fit(form(X), y)


def test_columns_that_are_made_dense_together_have_the_same_products() -> None:
    rows = sparse.random(40, 9, density=0.4, format="csc", random_state=0)
    products = [Product(pair) for pair in [(0,), (0, 8), (3, 3), (1, 3, 7)]]
    found = columns_module.ProductKind().values(products, rows)
    np.testing.assert_array_equal(found, [h.values(rows.toarray()) for h in products])


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("given", "optimal"),
        (Stumps(max_thresholds=3), "optimal among stumps with at most 3 thresholds per column"),
        ("kernel", "optimal among kernels around the mistakes of a perceptron"),
        (Kernel(centres=SIGNS[:5]), "optimal among kernels around the given centres"),
        (Trees(max_depth=1), "optimal among the trees that the search has grown"),
    ],
)
@pytest.mark.parametrize("per_round", [None, 2])
def test_every_family_says_what_was_looked_at(family: Any, reason: str, per_round: int | None) -> None:
    y = SIGNS[:, 0] + SIGNS[:, 1] + SIGNS[:, 2] > 0
    model = SparseBoostClassifier(0.05, family=family, features_per_round=per_round, tol=1e-4).fit(SIGNS, y)
    assert model.stop_reason_ == reason
    # Where the proposals are the same in every round, there is a bound on the distance to their optimum.
    assert np.isnan(model.duality_gap_) if isinstance(family, Trees) else 0.0 < model.duality_gap_ < 1e-3


class First(Generator):
    """The first column, and the others only when it does not help."""

    def start(self, training: Training) -> Any:
        return lambda members, residual: [Column(0)]

    def last_look(self, training: Training, residual: np.ndarray) -> LastLook:
        assert residual.shape == (training.loss.n_outputs, training.loss.n_rows)
        return LastLook("six columns", [Column(feature) for feature in range(6)])


def test_a_generator_of_ones_own() -> None:
    y = SIGNS[:, 3] + 0.5 * SIGNS[:, 4]
    model = SparseBoostRegressor(0.01, family=First(), features_per_round=1).fit(SIGNS, y)
    assert model.stop_reason_ == "optimal among six columns"
    assert {h.feature for h in model.ensemble_.hypotheses} == {3, 4}

    class Silent(First):
        last_look = Generator.last_look

    with pytest.warns(UserWarning, match="empty"):
        silent = SparseBoostRegressor(0.01, family=Silent()).fit(SIGNS, y)
    assert silent.stop_reason_ == "optimal among the features that were proposed"

    for found, message in (
        ([Column(1)], "Wrong.last_look must return a radboost.sparsity.LastLook"),
        (LastLook(None, [3]), "Wrong.last_look must return hypotheses.*values"),
    ):
        wrong = type("Wrong", (First,), {"last_look": lambda *_, found=found: found})
        with pytest.raises(TypeError, match=message):
            SparseBoostRegressor(0.01, family=wrong()).fit(SIGNS, y)
