"""Probabilities by each objective's own population minimiser (errata 32), and how well they are calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from multiclass_tools import PAIRS
from radboost import DeepBoostClassifier, TreeOptions
from radboost.losses import get_loss
from radboost.objectives import row_cost
from reference import losses, multiclass
from reference.data import smooth_classes

# What the largest probability of a row may miss the hit rate by, on average over ten bins of equal size. The price of
# complexity shrinks the scores of the logistic loss, so that probabilities are rather too cautious.
LARGEST_CALIBRATION_ERROR = {"exponential": 0.03, "logistic": 0.08}


def calibration_error(probabilities: np.ndarray, y: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error of the most probable class, in bins with as many rows each."""
    confidence, hit = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    order = np.argsort(confidence)
    parts = np.array_split(order, n_bins)
    return float(sum(len(p) * abs(confidence[p].mean() - hit[p].mean()) for p in parts) / len(y))


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, ...]:
    X, y = load_digits(return_X_y=True)
    return tuple(train_test_split(X, y, test_size=0.5, random_state=0, stratify=y))


@pytest.mark.parametrize("pair", [("compsum", "logistic"), ("sum", "exponential"), ("sum", "logistic")], ids=" ".join)
def test_calibration_on_digits(pair: tuple[str, str], digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    model = DeepBoostClassifier(
        calibration=None, objective=pair[0], loss=pair[1], max_depth=6, complexity_penalty=0.003
    ).fit(X, y)
    probabilities = model.predict_proba(X_test)
    assert model.score(X_test, y_test) > 0.96
    assert calibration_error(probabilities, y_test) < LARGEST_CALIBRATION_ERROR[pair[1]]
    assert log_loss(y_test, probabilities) < 0.15


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_defaults_are_cautious_but_not_wrong(loss: str, digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    calibrated = DeepBoostClassifier(loss=loss).fit(X, y)
    assert log_loss(y_test, calibrated.predict_proba(X_test)) < 0.1
    votes = TreeOptions(leaves="votes")
    model = DeepBoostClassifier(calibration=None, loss=loss, tree_options=votes).fit(X, y)
    probabilities = model.predict_proba(X_test)
    assert model.score(X_test, y_test) > 0.95
    assert calibration_error(probabilities, y_test) < 0.2
    assert log_loss(y_test, probabilities) < 0.3


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_probabilities_solve_the_stationarity_system(pair: tuple[str, str]) -> None:
    """M p = 0, where M[k, c] is the derivative of the loss of class c in score k. Max and MaxSum borrow CompSum's."""
    X, y = smooth_classes(1, m=60, n_classes=4)
    model = DeepBoostClassifier(30, calibration=None, objective=pair[0], loss=pair[1], learning_rate=0.5).fit(X, y)
    name, loss = pair if pair[0] in ("sum", "compsum") else ("compsum", "logistic")
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for f, p in zip(model.decision_function(X)[:25], found[:25], strict=True):
        expected = multiclass.population_probabilities(name, losses.LOSSES[loss], f)
        np.testing.assert_allclose(p, expected, atol=1e-8)
    order = np.argsort(model.decision_function(X), axis=1, kind="stable")
    ranked = np.take_along_axis(found, order, axis=1)
    assert np.all(np.diff(ranked, axis=1) >= -1e-12)  # the more score, the more probability


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_stay_those_of_the_fit(n_classes: int) -> None:
    X, y = smooth_classes(3, m=60, n_classes=n_classes)
    model = DeepBoostClassifier(10, calibration=None, objective="sum", loss="exponential").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(objective="compsum", loss="logistic")
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert not np.array_equal(model.fit(X, y).predict_proba(X), before)


@pytest.mark.parametrize("n_classes", [3, 7])
def test_probabilities_are_in_the_order_of_the_scores(n_classes: int) -> None:
    """Equal for equal scores, to the last bit."""
    scores = np.random.default_rng(0).integers(0, 4, (300, n_classes)) * 0.37
    found = row_cost("sum", n_classes).probabilities(get_loss("logistic"), scores)
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(found, order, axis=1)
    assert (np.diff(ranked) >= 0.0).all()
    tied = np.diff(np.take_along_axis(scores, order, axis=1)) == 0.0
    np.testing.assert_array_equal(ranked[:, 1:][tied], ranked[:, :-1][tied])
