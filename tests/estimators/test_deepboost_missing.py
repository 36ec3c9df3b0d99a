"""Where missing values go, in training and after it."""

from __future__ import annotations

import numpy as np
import pytest

from radboost import DeepBoostClassifier


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


def test_a_question_about_missing_values_reads_as_one() -> None:
    column = np.where(np.arange(40) % 2, np.nan, 7.0)[:, None]
    text = repr(DeepBoostClassifier(20).fit(column, np.arange(40) % 2).ensemble_)
    assert "x[0] is not missing" in text
    assert "1 hypothesis with 1 split," in text
