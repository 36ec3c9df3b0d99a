"""Margins and bounds of fitted models, against sums over their hypotheses."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from radboost import (
    DeepBoostClassifier,
    EarlyStopping,
    KernelFamily,
    MultiTaskSparseBoostClassifier,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
)
from radboost.guarantees import bound, margins
from radboost.guarantees.bounds import every_statement


def separable(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Five noisy copies of one quantity: stumps vote almost unanimously."""
    rng = np.random.default_rng(seed)
    level = rng.choice([-1.0, 1.0], n_rows)
    return level[:, None] + 0.4 * rng.standard_normal((n_rows, 5)), (level > 0).astype(int)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"family": "stump_pairs"},
        {"family": ["stumps", KernelFamily(n_centres=30, gamma=0.2)]},
        {"loss": "exponential"},
    ],
    ids=str,
)
def test_margins_are_the_weighted_votes(parameters: dict) -> None:
    X, y = make_classification(150, 5, flip_y=0.2, random_state=0)
    model = DeepBoostClassifier(n_rounds=20, max_depth=3, **parameters).fit(X, y)
    votes = np.array([hypothesis.predict(X) for hypothesis in model.ensemble_.hypotheses])
    alpha = model.ensemble_.weights
    expected = (2 * y - 1) * (alpha @ votes) / np.abs(alpha).sum()
    np.testing.assert_allclose(margins(model, X, y), expected, atol=1e-12)
    for result in every_statement(model, X, y, (0.3,), 0.1):
        ramp, share = np.clip(1 - expected / 0.3, 0, 1).mean(), np.mean(expected <= 0.3 + 1e-12)
        assert result.margin_error == pytest.approx(share if result.n_draws else ramp)


def test_weights_count_as_copies() -> None:
    X, y = separable(300, 1)
    weight = np.random.default_rng(0).integers(1, 4, 300)
    weighted = DeepBoostClassifier(n_rounds=15).fit(X, y, weight)
    copies = DeepBoostClassifier(n_rounds=15).fit(X.repeat(weight, axis=0), y.repeat(weight))
    a = bound(weighted, X, y, sample_weight=weight)
    with pytest.warns(UserWarning, match="are copies of others, and the bounds hold for rows that are drawn"):
        b = bound(copies, X.repeat(weight, axis=0), y.repeat(weight))
    assert a.total == pytest.approx(b.total)
    assert a.sample_size == b.sample_size == weight.sum()


def test_rows_held_back_for_early_stopping_belong_to_the_sample() -> None:
    X, y = separable(400, 2)
    model = DeepBoostClassifier(n_rounds=20, early_stopping=EarlyStopping(5, 0.25)).fit(X, y)
    assert model.ensemble_.sample_size < 400
    assert bound(model, X, y).sample_size == 400


def test_the_bound_says_something_on_many_rows_and_holds() -> None:
    X, y = separable(100_000, 3)
    model = DeepBoostClassifier.paper(family="stumps", n_rounds=15).fit(X, y)
    result = bound(model, X, y)
    assert not result.vacuous
    X_new, y_new = separable(50_000, 4)
    error = 1.0 - model.score(X_new, y_new)
    assert error < result.total < 0.12


@pytest.mark.parametrize(
    "model",
    [
        SparseBoostClassifier(),
        SparseBoostClassifier(family="stumps"),
        SparseBoostClassifierCV(n_alphas=2, cv=2),
        MultiTaskSparseBoostClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_models_do_not_vote(model) -> None:
    X, y = make_classification(60, 4, random_state=0)
    model.fit(100.0 * X, y)
    for ask in (margins, bound):
        with pytest.raises(
            TypeError, match=f"(?s){type(model).__name__} does not vote.*intercepts.*values of any size"
        ):
            ask(model, X, y)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("parameters", [{"family": "stumps"}, {"max_depth": 2}, {"max_depth": 6}], ids=str)
def test_it_holds_where_labels_are_noise(parameters: dict, n_classes: int) -> None:
    """Columns say nothing of the labels, so that every model is wrong on all but 1/c of the rows, whatever it learned
    by heart. A bound that holds for half of the samples says so on most of them; this one does on all."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((300, 10)), rng.integers(0, n_classes, 300)
        model = DeepBoostClassifier.paper(15, **parameters).fit(X, y)
        for rho in (0.1, None):
            assert bound(model, X, y, rho=rho, delta=0.5).total > 1 - 1 / n_classes
