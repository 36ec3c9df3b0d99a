"""What a fitted classifier of two or more classes answers, on ensembles put together by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hand_made import fitted, naive_scores, random_ensemble, random_rows
from radboost import DeepBoostClassifier
from radboost.losses import get_loss
from radboost.objectives import row_cost
from radboost.rows import read

NAMES = ["ant", "bee", "cow", "dog"]


@pytest.fixture
def model() -> DeepBoostClassifier:
    return fitted(random_ensemble(11, 4, n_rounds=20), NAMES)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 26]))
def test_scores_labels_and_stages(seed: int, n_classes: int) -> None:
    ensemble = random_ensemble(seed, 1 if n_classes == 2 else n_classes)
    model = fitted(ensemble, 10 * np.arange(n_classes))
    X = random_rows(seed, missing=0.1)
    scores = model.decision_function(X)
    assert scores.shape == ((30,) if n_classes == 2 else (30, n_classes))
    expected = naive_scores(ensemble, X)
    np.testing.assert_array_equal(scores.reshape(expected.shape), expected)
    columns = np.column_stack([np.zeros(30), expected[:, 0]]) if n_classes == 2 else expected
    # Of equal scores the first class wins.
    labels = [10 * max(range(n_classes), key=lambda c, row=row: (row[c], -c)) for row in columns]
    assert model.predict(X).tolist() == labels
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, scores)
    assert [labels.shape for labels in model.staged_predict(X)] == [(30,)] * ensemble.n_rounds
    *_, last = model.staged_predict(X)
    assert last.tolist() == labels
    assert model.score(X, labels) == 1.0


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("objective", "loss"), [("compsum", "logistic"), ("sum", "logistic"), ("sum", "exponential")])
def test_probabilities_are_those_of_the_objective(n_classes: int, objective: str, loss: str) -> None:
    ensemble = random_ensemble(4, 1 if n_classes == 2 else n_classes)
    model = fitted(ensemble, NAMES[:n_classes], objective, loss=loss)
    X = random_rows(5)
    p = model.predict_proba(X)
    assert p.shape == (30, n_classes)
    expected = row_cost(objective, len(model.classes_)).probabilities(get_loss(loss), model.decision_function(X))
    np.testing.assert_array_equal(p, expected)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == ensemble.n_rounds
    np.testing.assert_array_equal(stages[-1], p)


def test_probabilities_may_be_zero(model: DeepBoostClassifier) -> None:
    model.objective_ = "sum"
    model.loss_ = "exponential"
    model.ensemble_ = random_ensemble(11, 4)
    model.ensemble_.weights.flags.writeable = True
    model.ensemble_.weights *= 1e4
    logs = model.predict_log_proba(random_rows(7))
    assert np.isneginf(logs).any()
    assert not np.isnan(logs).any()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("block_bytes", [1, 100, 2**26])
def test_input_of_every_kind(n_classes: int, block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse rows are made dense, and the scores of many classes computed, a few rows at a time."""
    model = fitted(random_ensemble(8, 1 if n_classes == 2 else n_classes), NAMES[:n_classes])
    X = np.where(np.random.default_rng(0).random((30, 3)) < 0.5, 0.0, random_rows(9))
    scores, labels, p = model.decision_function(X), model.predict(X), model.predict_proba(X)
    monkeypatch.setattr(read, "BLOCK_BYTES", block_bytes)
    for other in (X, X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X), X.tolist()):
        np.testing.assert_array_equal(model.decision_function(other), scores)
        np.testing.assert_array_equal(model.predict(other), labels)
        np.testing.assert_array_equal(model.predict_proba(other), p)
        *_, last = model.staged_decision_function(other)
        np.testing.assert_array_equal(last, scores)


def test_labels_of_many_rows_need_no_scores_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(random_ensemble(8, 1000), np.arange(1000))
    heights = []
    score = model.ensemble_.decision_function
    monkeypatch.setattr(model.ensemble_, "decision_function", lambda X, n: heights.append(len(X)) or score(X, n))
    monkeypatch.setattr(read, "BLOCK_BYTES", 80_000)
    X = random_rows(1, m=95)
    labels = model.predict(X)
    assert heights == [10] * 9 + [5]
    np.testing.assert_array_equal(labels, score(X).argmax(axis=1))
