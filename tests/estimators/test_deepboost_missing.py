"""Where missing values go, in training and after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import with_tree_options
from reference import growth
from reference.data import smooth


def test_missing_values_that_tell_the_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = rng.integers(0, 2, 100)
    X[y == 1, 0] = np.nan
    for model in (DeepBoostClassifier.paper(n_rounds=3), DeepBoostClassifier(40, complexity_penalty=0.001)):
        assert model.fit(X, y).score(X, y) == 1.0
        assert list(model.predict([[np.nan, 0.0], [3.0, 0.0], [-1e300, 0.0], [1e300, 0.0]])) == [1, 0, 0, 0]


@pytest.mark.parametrize("side", [0, 1])
def test_missing_values_take_the_side_that_scores_best(side: int) -> None:
    X = np.array([[0.0]] * 10 + [[1.0]] * 10 + [[np.nan]] * 5)
    y = np.array([0] * 10 + [1] * 10 + [side] * 5)
    model = DeepBoostClassifier.paper(n_rounds=1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict([[np.nan]])[0] == side


@pytest.mark.parametrize(("n_low", "n_high", "expected"), [(12, 8, 0), (8, 12, 1), (10, 10, 0)])
def test_unseen_missing_values_follow_the_heavier_child(n_low: int, n_high: int, expected: int) -> None:
    X = np.array([[0.0]] * n_low + [[1.0]] * n_high)
    y = np.array([0] * n_low + [1] * n_high)
    model = DeepBoostClassifier.paper(n_rounds=1).fit(X, y)
    assert model.predict([[np.nan]])[0] == expected


def test_heavier_means_the_sum_of_the_weights() -> None:
    X = np.array([[0.0]] * 10 + [[1.0]] * 4)
    y = np.array([0] * 10 + [1] * 4)
    for w in (np.where(y == 1, 5.0, 1.0), np.where(y == 1, 2.75, 0.5)):
        model = DeepBoostClassifier.paper(n_rounds=1).fit(X, y, sample_weight=w)
        assert model.predict([[np.nan]])[0] == 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subsample": 0.5, "random_state": 3},
        {"family": "stump_pairs", "loss": "exponential"},
        {"tree_options": TreeOptions(max_bins=5, min_leaf_weight=4.0)},
        {"thresholds": "best", "split_criterion": "edge"},
    ],
    ids=str,
)
def test_raw_scores_equal_those_of_training(options: dict[str, Any]) -> None:
    """The history was computed on bins, the scores on raw values; they must agree on every training row."""
    X, y = smooth(1, m=200, missing=0.1)
    X[:, 2] = np.round(X[:, 2])
    model = DeepBoostClassifier(30, complexity_penalty=0.002, **with_tree_options(options)).fit(X, y)
    scores = model.decision_function(X)
    price = 0.002 * model.ensemble_.complexities
    mean = (
        np.mean(np.logaddexp(0, 1 - y * scores)) / np.log(2)
        if model.loss == "logistic"
        else np.mean(np.exp(1 - y * scores))
    )
    assert model.history_["objective"][-1] == pytest.approx(
        mean + np.sum(price * np.abs(model.ensemble_.weights)), rel=1e-12
    )
    assert model.history_["train_error"][-1] == pytest.approx(np.mean(y * scores <= 0), abs=1e-12)
    total = sum(
        w * np.array(growth.predict(h, X))
        for w, h in zip(model.ensemble_.weights, model.ensemble_.hypotheses, strict=True)
    )
    np.testing.assert_array_equal(scores, total)


def test_a_question_about_missing_values_reads_as_one() -> None:
    column = np.where(np.arange(40) % 2, np.nan, 7.0)[:, None]
    text = repr(DeepBoostClassifier(20).fit(column, np.arange(40) % 2).ensemble_)
    assert "x[0] is not missing" in text
    assert "1 hypothesis with 1 split," in text
