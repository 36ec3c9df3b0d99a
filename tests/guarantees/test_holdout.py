"""Limits from held-out rows: they hold as often as they say, for every number of rows and every true error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from radboost import DeepBoostClassifier, RGBRegressor
from radboost.guarantees import conformal, holdout

ERRORS = np.concatenate([np.linspace(0.001, 0.999, 999), [1e-6, 0.02, 0.5, 1.0 - 1e-6]])


class Said:
    """A classifier that says what its rows say."""

    classes_ = np.array([0, 1])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0].astype(int)


def limit(wrong: int, n: int, delta: float = 0.05):
    answers = (np.arange(n) < wrong).astype(int)
    return holdout(Said(), np.column_stack([answers, np.arange(n)]), np.zeros(n, dtype=int), delta=delta)


def failures(holds: np.ndarray, n: int) -> np.ndarray:
    """The probability that a limit fails, for each true error: a sum over the numbers of mistakes."""
    return np.where(holds, 0.0, binom.pmf(np.arange(n + 1)[:, None], n, ERRORS)).sum(axis=0)


@pytest.mark.parametrize("n", [1, 7, 40, 113])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_it_holds_as_often_as_it_says_and_hardly_more_often(n: int, delta: float) -> None:
    limits = [limit(wrong, n, delta) for wrong in range(n + 1)]
    upper = np.array([found.upper for found in limits])[:, None]
    low, high = np.array([found.interval for found in limits]).T[:, :, None]
    one_sided = failures(upper >= ERRORS, n)
    assert one_sided.max() <= delta + 1e-12
    assert failures((low <= ERRORS) & (high >= ERRORS), n).max() <= delta + 1e-12
    # At a true error just above a limit the probability of failing is delta itself: no smaller limit would do.
    below = np.array([binom.cdf(wrong, n, upper[wrong, 0]) for wrong in range(n)])
    np.testing.assert_allclose(below, delta, rtol=1e-9)
    assert failures(upper - 0.02 >= ERRORS, n).max() > delta


def test_what_it_prints() -> None:
    found = limit(3, 200)
    text = str(found)
    assert "3 of 200 rows" in text
    assert f"{found.upper:.4f}" in text
    assert repr(found) == text
    assert found.error == 0.015
    assert found.interval[0] < found.error < found.upper < found.interval[1]


@pytest.mark.parametrize("names", [np.array([0, 1]), np.array(["no", "yes"]), np.array([False, True])], ids=str)
def test_any_classifier(names: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = names[(X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)]
    for model in (DeepBoostClassifier(n_rounds=20), make_pipeline(StandardScaler(), LogisticRegression())):
        model.fit(X[:300], y[:300])
        found = holdout(model, X[300:], y[300:])
        assert found.n_wrong == int((model.predict(X[300:]) != y[300:]).sum())
        assert holdout(model, X[300:], y[300:].astype(object)) == found
        assert holdout(model, X[300:], y[300:], sample_weight=np.ones(300)) == found


def test_labels_that_the_model_does_not_know_are_mistakes() -> None:
    X = np.column_stack([np.zeros(4), np.arange(4)])
    assert holdout(Said(), X, [0, 0, 2, 7]).n_wrong == 2
    assert holdout(Said(), X, ["0", "0", "0", "0"]).n_wrong == 4


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_copies_are_warned_of(form: Any) -> None:
    """Of labels that are coins, copied five times, the limit is below the true error far too often."""
    X = np.repeat(np.random.default_rng(0).normal(size=(12, 2)), 5, axis=0)
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    with pytest.warns(UserWarning, match="48 of the 60 rows in X are copies of others.*pass each row once"):
        holdout(model, form(X), X[:, 0] > 0)
    with pytest.warns(UserWarning, match="48 of the 60 rows"):
        conformal(model, form(X), X[:, 0] > 0)


ROWS = np.random.default_rng(0).normal(size=(50, 2))


@pytest.mark.parametrize(
    ("model", "X", "y", "settings", "error", "message"),
    [
        (Ridge().fit(ROWS, ROWS[:, 0]), ROWS, ROWS[:, 0], {}, TypeError, "predicts numbers.*conformal"),
        (RGBRegressor(3).fit(ROWS, ROWS[:, 0]), ROWS, ROWS[:, 0], {}, TypeError, "predicts numbers.*conformal"),
        (Said(), np.zeros((3, 1)), [0, 0, 1], {"sample_weight": [1, 2, 1]}, ValueError, "must be all 1.*copies"),
        (DeepBoostClassifier, ROWS, ROWS[:, 0], {}, TypeError, "fitted classifier"),
        (DeepBoostClassifier(), ROWS, ROWS[:, 0], {}, ValueError, "not fitted"),
        (Said(), np.zeros((3, 1)), [0, 0, 1], {"delta": 1}, ValueError, "between 0 and 1, got 1"),
        (Said(), np.zeros((3, 1)), [0, 1], {}, ValueError, "3 rows and y has 2"),
        (Said(), np.zeros((0, 1)), [], {}, ValueError, "no rows"),
        (Said(), np.zeros((3, 1)), [0, 1, np.nan], {}, ValueError, "missing"),
    ],
)
def test_what_is_refused(model: Any, X: Any, y: Any, settings: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        holdout(model, X, y, **settings)
