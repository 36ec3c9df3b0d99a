"""Conformal sets and intervals: their coverage by simulation, exactly what was asked for and not much more."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from radboost import DeepBoostClassifier, RGBRegressor
from radboost.guarantees import conformal
from radboost.guarantees.conformal import _threshold


class Given:
    """A classifier whose probabilities are its rows."""

    def __init__(self, n_classes: int = 3) -> None:
        self.classes_ = np.arange(n_classes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X.argmax(axis=1)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X


class Unsure(Given):
    """Without probabilities for some rows, whose sets would be empty."""

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(X))[:, None] % 5 == 0, np.nan, X)


def drawn(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, of which the third is rare and hard to see."""
    y = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += np.array([2.5, 2.0, 0.0])[y]
    odds = np.exp(logits)
    return odds / odds.sum(axis=1, keepdims=True), y


def covered(sets: np.ndarray, y: np.ndarray) -> np.ndarray:
    return sets[np.arange(len(y)), y]


@pytest.mark.parametrize("n", [9, 39])
@pytest.mark.parametrize("coverage", [0.7, 0.9])
def test_the_coverage_of_the_threshold(n: int, coverage: float) -> None:
    """Over 40,000 draws of n + 1 scores: from coverage to coverage + 1/(n + 1); a plain quantile falls short."""
    scores = np.random.default_rng(n).exponential(size=(40_000, n + 1))
    found = np.array([_threshold(row, coverage) for row in scores[:, :n]])
    share = float((scores[:, n] <= found).mean())
    noise = 4.0 * np.sqrt(coverage * (1 - coverage) / len(scores))
    assert coverage - noise <= share <= coverage + 1.0 / (n + 1) + noise
    toy = np.quantile(scores[:, :n], coverage, axis=1)
    assert float((scores[:, n] <= toy).mean()) < coverage - noise


@pytest.mark.parametrize(
    ("n", "coverage", "k"),
    [(9, 0.9, 9), (9, 0.7, 7), (99, 0.07, 7), (19, 0.95, 19), (18, 0.95, None), (8, 0.9, None), (99, 0.29, 29)],
)
def test_the_place_of_the_threshold_is_exact(n: int, coverage: float, k: int | None) -> None:
    """(99 + 1) 0.07 is 7 and not a little more, as it is in floating point."""
    scores = np.random.default_rng(0).permutation(n) + 1.0
    assert _threshold(scores, coverage) == (np.inf if k is None else k)


def test_sets_cover_on_average_and_per_class() -> None:
    """A threshold for all classes leaves the hard one behind, one for each does not."""
    rng = np.random.default_rng(1)
    runs, coverage = 400, 0.9
    shares = np.zeros((2, 4))
    for _ in range(runs):
        X, y = drawn(300, rng)
        X_new, y_new = drawn(300, rng)
        for line, per_class in enumerate((False, True)):
            hits = covered(conformal(Given(), X, y, coverage=coverage, per_class=per_class).predict_set(X_new), y_new)
            of_classes = [hits[y_new == label].mean() if (y_new == label).any() else coverage for label in range(3)]
            shares[line] += [hits.mean(), *of_classes]
    shares /= runs
    assert coverage - 0.004 < shares[0, 0] < coverage + 0.008
    assert shares[0, 3] < 0.75
    assert (shares[1, 1:] > coverage - 0.01).all()
    assert (shares[1, 1:] < coverage + 0.05).all()


def test_intervals_cover() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    model = LinearRegression().fit(X, X @ [1.0, -2.0] + rng.normal(size=200))
    shares = []
    for _ in range(300):
        X = rng.normal(size=(160, 2))
        y = X @ [1.0, -2.0] + rng.standard_t(3, size=160)
        intervals = conformal(model, X[:60], y[:60], coverage=0.8).predict_set(X[60:])
        assert intervals.shape == (100, 2)
        shares.append(((intervals[:, 0] <= y[60:]) & (y[60:] <= intervals[:, 1])).mean())
    assert 0.79 < np.mean(shares) < 0.80 + 1 / 61 + 0.01


def test_rounding_shuts_no_calibration_row_out() -> None:
    """k of n calibration rows are inside, those at the ends included, whatever the sizes of the numbers."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        X = rng.normal(size=(50, 1)) * 10.0 ** rng.integers(-6, 7, size=(50, 1))
        y = rng.normal(size=50) * 10.0 ** rng.integers(-6, 7, size=50)
        model = LinearRegression().fit(X[:5], y[:5])
        ends = conformal(model, X, y, coverage=0.8).predict_set(X)
        assert ((ends[:, 0] <= y) & (y <= ends[:, 1])).sum() >= 41


@pytest.mark.parametrize("names", [np.array(["a", "b", "c"]), np.array([3, 5, 9])], ids=str)
@pytest.mark.parametrize("per_class", [False, True])
def test_any_classifier(names: np.ndarray, per_class: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = names[(2 * X[:, :3] + rng.gumbel(size=(900, 3))).argmax(axis=1)]
    for model in (
        DeepBoostClassifier(n_rounds=20, calibration=None),
        LogisticRegression(),
        RandomForestClassifier(20, random_state=0),
    ):
        model.fit(X[:300], y[:300])
        found = conformal(model, X[300:600], y[300:600], per_class=per_class)
        sets = found.predict_set(X[600:])
        assert sets.shape == (300, 3)
        assert sets.dtype == bool
        assert covered(sets, np.searchsorted(names, y[600:])).mean() > 0.84
        assert found.mean_size == pytest.approx(found.predict_set(X[300:600]).sum(axis=1).mean())
        assert np.array_equal(found.classes_, names)
        assert (len(set(found.threshold_.tolist())) == 1) is not per_class
        assert "300 rows" in str(found)
        assert "0.9 of new rows" in str(found)
        assert ("of each class" in repr(found)) is per_class


def test_regressors_of_ours() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    model = RGBRegressor(n_rounds=30).fit(X[:100], y[:100])
    found = conformal(model, X[100:200], y[100:200])
    half = found.threshold_[0]
    np.testing.assert_allclose(found.predict_set(X[200:]).mean(axis=1), model.predict(X[200:]))
    assert found.mean_size == 2 * half == pytest.approx(np.diff(found.predict_set(X[:5])).mean())
    assert f"{half:.4g}, half the width" in str(found)


def test_too_few_rows_say_so_and_promise_what_they_can() -> None:
    rng = np.random.default_rng(0)
    X, y = drawn(300, rng)
    with pytest.warns(UserWarning, match=r"coverage=0.99 needs at least 99 calibration rows, and there are 98"):
        found = conformal(Given(), X[:98], y[:98], coverage=0.99)
    assert found.predict_set(X).all()
    assert found.mean_size == 3
    few = np.concatenate([np.flatnonzero(y == 2)[:8], np.flatnonzero(y != 2)])
    with pytest.warns(UserWarning, match=r"at least 9 calibration rows of each class, and the class 2 has 8: it is in"):
        found = conformal(Given(), X[few], y[few], per_class=True)
    assert found.predict_set(X)[:, 2].all()
    assert not found.predict_set(X)[:, 0].all()
    model = LinearRegression().fit(X, y)
    with pytest.warns(UserWarning, match="all answers"):
        assert np.isinf(conformal(model, X[:5], y[:5]).predict_set(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conformal(Given(), X[:99], y[:99], coverage=0.99)


ROWS, LABELS = drawn(60, np.random.default_rng(0))
LINEAR = LinearRegression().fit(ROWS, LABELS)


@pytest.mark.parametrize(
    ("model", "y", "settings", "error", "message"),
    [
        (
            Given(),
            np.where(np.arange(60) == 5, 7, LABELS),
            {},
            ValueError,
            "label 7, which is not one of the 3",
        ),
        (LinearSVC().fit(ROWS, LABELS), LABELS, {}, TypeError, "no predict_proba"),
        (LINEAR, LABELS, {"per_class": True}, ValueError, "per_class=True is for classifiers"),
        (Given(), LABELS[:-1], {}, ValueError, "60 rows and y_cal 59"),
        (Given(), LABELS, {"coverage": 1.0}, ValueError, "coverage is the probability"),
        (LinearRegression, LABELS, {}, TypeError, "Expected a fitted"),
        (LogisticRegression(), LABELS, {}, ValueError, "not fitted"),
        (LINEAR, np.full(60, np.nan), {}, ValueError, "missing or infinite"),
        (LinearRegression().fit(ROWS, ROWS[:, :2]), LABELS, {}, ValueError, "2 columns; intervals are for one number"),
        (Given(2), LABELS, {}, TypeError, "for one output"),
        (Unsure(), LABELS, {}, ValueError, "Unsure returns NaN"),
    ],
)
def test_what_is_refused(model: Any, y: Any, settings: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        conformal(model, ROWS, y, **settings)
