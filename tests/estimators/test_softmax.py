"""SoftmaxBoostClassifier: what it learns, what it promises, and that nothing but the data and the seed matters."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from radboost import SoftmaxBoostClassifier, load
from reference import softmax as naive
from reference.data import smooth_classes

WINE = load_wine(return_X_y=True)
STEPS = [("edge", None), ("sampled", None), ("projection", "all"), ("line_search", None)]


def costs_of(model: SoftmaxBoostClassifier, y: np.ndarray) -> np.ndarray:
    assert model.cost_ is not None
    return model.cost_[np.searchsorted(model.classes_, y)]


def scores_of(model: SoftmaxBoostClassifier, X: np.ndarray) -> np.ndarray:
    """psi, a column for each class, up to a constant in each row."""
    scores = model.decision_function(X)
    return scores if scores.ndim == 2 else np.column_stack([np.zeros(len(X)), scores])


@pytest.mark.parametrize(("step", "pairs"), STEPS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_history_is_the_risk_of_the_model(step: str, pairs: Any, n_classes: int) -> None:
    X, y = smooth_classes(1, n_classes=n_classes)
    rng = np.random.default_rng(0)
    w, cost = rng.integers(1, 4, len(y)), rng.random((n_classes, n_classes)) * 7
    np.fill_diagonal(cost, 0)
    model = SoftmaxBoostClassifier(12, step=step, samples_per_round=pairs, cost=cost, decision="argmax").fit(X, y, w)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_iter_ == len(model.history_["objective"]) == 12
    for scores, risk, error, labels in zip(
        staged, model.history_["objective"], model.history_["train_error"], model.staged_predict(X), strict=True
    ):
        psi = scores if n_classes > 2 else np.column_stack([np.zeros(len(X)), scores])
        assert risk == pytest.approx(naive.risk(psi, cost[y], w), rel=1e-6)
        assert error == pytest.approx(np.average(labels != y, weights=w))
    np.testing.assert_array_equal(staged[-1], model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), naive.soft_max(scores_of(model, X)), rtol=1e-9)
    assert model.history_["objective"][-1] < naive.risk(np.zeros((len(y), n_classes)), cost[y], w)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_risk_descends_with_full_gradients(n_classes: int) -> None:
    # Theorem 1: alpha_t = 1, all pairs, costs scaled to [0, 1].
    X, y = smooth_classes(2, m=200, n_classes=n_classes)
    cost = np.random.default_rng(3).random((len(y), n_classes)) * 100
    model = SoftmaxBoostClassifier.paper(60, samples_per_round="all", step="projection").fit(X, y, cost=cost)
    risks = [float(cost.mean()), *model.history_["objective"]]
    assert all(after < before for before, after in pairwise(risks))


def test_costs_of_examples_cover_the_matrix_and_several_right_labels() -> None:
    X, y = smooth_classes(9, m=300, n_classes=4)
    cost = np.random.default_rng(1).random((4, 4))
    np.fill_diagonal(cost, 0)
    by_matrix = SoftmaxBoostClassifier.paper(10, samples_per_round="all", cost=cost).fit(X, y)
    by_example = SoftmaxBoostClassifier.paper(10, samples_per_round="all").fit(X, y, cost=cost[y])
    np.testing.assert_array_equal(by_example.decision_function(X), by_matrix.decision_function(X))
    assert by_example.cost_ is None
    both = np.ones((300, 4))  # y and its neighbour are both right: nothing more can be lost between them
    both[np.arange(300), y] = both[np.arange(300), (y + 1) % 4] = 0
    model = SoftmaxBoostClassifier(60).fit(X, y, cost=both)
    assert both[np.arange(300), np.searchsorted(model.classes_, model.predict(X))].mean() < 0.1
    assert model.history_["objective"][-1] < SoftmaxBoostClassifier(60).fit(X, y).history_["objective"][-1]


def test_costs_of_rows_without_weight_are_left_out() -> None:
    X, y = smooth_classes(10, m=100)
    w = np.where(np.arange(100) % 3 == 0, 0, 1)
    cost = np.random.default_rng(0).random((100, 3))
    whole = SoftmaxBoostClassifier(8).fit(X, y, w, cost=cost)
    part = SoftmaxBoostClassifier(8).fit(X[w > 0], y[w > 0], cost=cost[w > 0])
    np.testing.assert_array_equal(whole.decision_function(X), part.decision_function(X))


def test_decisions() -> None:
    X, y = smooth_classes(11, m=400, n_classes=3, noise=0.3)
    cost = np.array([[0, 1, 1], [1, 0, 1], [20, 20, 0]])
    model = SoftmaxBoostClassifier(4, cost=cost, decision="minimum_cost").fit(X, y)
    rule = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), (rule @ cost).argmin(axis=1))
    np.testing.assert_array_equal(model.set_params(decision="argmax").predict(X), rule.argmax(axis=1))
    model.set_params(decision="sample")
    np.testing.assert_array_equal(model.predict(X), model.predict(X))
    rows = np.repeat(X[:1], 5000, axis=0)
    shares = np.bincount(model.predict(rows), minlength=3) / 5000
    np.testing.assert_allclose(shares, rule[0], atol=4 * 0.5 / np.sqrt(5000))
    assert (model.set_params(random_state=None).predict(rows) != model.predict(rows)).any()
    by_example = SoftmaxBoostClassifier(2, decision="minimum_cost").fit(X, y, cost=cost[y])
    with pytest.raises(ValueError, match="needs a cost matrix"):
        by_example.predict(X)


@pytest.mark.parametrize(
    ("copies", "n_rows", "expected"), [(1, 400, "minimum_cost"), (3, 400, "minimum_cost"), (1, 1200, "argmax")]
)
def test_the_automatic_decision_goes_by_the_different_rows_of_the_rarest_class(
    copies: int, n_rows: int, expected: str, tmp_path: Path
) -> None:
    X, y = smooth_classes(11, m=n_rows, n_classes=3, noise=0.3)
    cost = [[0, 1, 1], [1, 0, 1], [20, 20, 0]]
    rows = np.repeat(np.arange(n_rows), copies)
    assert (np.bincount(y).min() < 250) == (expected == "minimum_cost")
    model = SoftmaxBoostClassifier(4, cost=cost).fit(X[rows], y[rows])
    assert model.decision_ == expected
    found = model.predict(X)
    model.save(tmp_path / "model.rad")
    loaded = load(tmp_path / "model.rad")
    assert loaded.decision == "auto"
    np.testing.assert_array_equal(loaded.predict(X), found)
    np.testing.assert_array_equal(model.set_params(decision=expected).predict(X), found)
    model.save(tmp_path / "model.rad")
    np.testing.assert_array_equal(load(tmp_path / "model.rad").set_params(decision="auto").predict(X), found)
    assert SoftmaxBoostClassifier(2).fit(X, y).decision_ == "argmax"
    assert SoftmaxBoostClassifier(2).fit(X, y, cost=np.array(cost)[y]).decision_ == "argmax"


def test_one_tree_for_each_class_and_round() -> None:
    X, y = WINE
    model = SoftmaxBoostClassifier.paper(7).fit(X, y)
    assert len(model.ensemble_) == 21
    assert (model.ensemble_.weights > 0).all()
    assert {h.n_outputs for h in model.ensemble_.hypotheses} == {3}
    assert max(h.n_splits for h in model.ensemble_.hypotheses) <= 11
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_a_thousand_classes_most_of_them_never_drawn() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(1000), 2)
    X = np.column_stack([y + rng.normal(size=2000) * 0.1, rng.normal(size=2000)])
    model = SoftmaxBoostClassifier(3, samples_per_round=400, calibration=None).fit(X, y)
    assert len(model.ensemble_) == 3000
    everywhere = [h for h in model.ensemble_.hypotheses if h.n_splits == 0 and h.value[0] >= 0]
    assert len(everywhere) > 1500
    assert model.predict_proba(X).shape == (2000, 1000)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.history_["objective"][-1] <= 0.999 + 1e-6


@pytest.mark.parametrize("step", ["edge", "sampled", "projection", "line_search"])
def test_steps_have_an_end(step: str) -> None:
    X, y = WINE
    model = SoftmaxBoostClassifier(40, learning_rate=64.0, step=step).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.ensemble_.steps["eta"] <= 128.0).all()
    risk = naive.risk(scores_of(model, X), costs_of(model, y), np.ones(len(y)))
    assert model.history_["objective"][-1] == pytest.approx(risk, abs=1e-6)  # scores beyond 1,024 are moved back


def test_the_way_is_as_long_as_the_data_allow() -> None:
    X, y = WINE
    for n_rounds in (20, 200):
        steps = SoftmaxBoostClassifier(n_rounds).fit(X, y).ensemble_.steps
        lengths = [steps["eta"][steps["round"] == r].max() / 2 for r in range(n_rounds)]
        assert max(lengths) <= 10.0 / n_rounds
        assert 2.0 < sum(lengths) <= 10.0
    heavy = SoftmaxBoostClassifier(20).fit(X, y, np.full(len(y), 100))
    assert heavy.learning_rate_ == 10.0 / 20  # copies of a row tell nothing new
    for n_rows, way in ((1_600, 10.0), (10_000, 25.0), (20_000, 50.0)):
        rows = np.random.default_rng(0).normal(size=(n_rows, 6))
        model = SoftmaxBoostClassifier(60, max_leaves=2, calibration=None).fit(rows, rows[:, 0] > 0.0)
        assert model.learning_rate_ == pytest.approx(way / 60)
    for n_classes, way in ((2, 10.0), (6, 18.0), (12, 30.0)):
        rows, labels = smooth_classes(15, m=200, n_classes=n_classes)
        scores = [
            SoftmaxBoostClassifier(50, learning_rate=rate, calibration=None).fit(rows, labels).decision_function(rows)
            for rate in ("auto", way / 50)
        ]
        np.testing.assert_array_equal(*scores)


class TestBadInput:
    @pytest.mark.parametrize(
        ("cost", "message"),
        [
            (np.ones((178, 2)), r"shape \(178, 2\).*\(178, 3\)"),
            (np.ones((3, 3)), "goes to the constructor"),
            (np.full((178, 3), np.nan), "NaN or infinity"),
            (-np.eye(178, 3), "negative costs"),
            (np.ones((178, 3)), "nothing to learn"),
        ],
    )
    def test_costs_of_examples(self, cost: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            SoftmaxBoostClassifier(2).fit(*WINE, cost=cost)

    def test_right_answers_that_cost_something_are_allowed_with_a_warning(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SoftmaxBoostClassifier(2, cost=np.eye(3) * 0.5 + (1 - np.eye(3))).fit(*WINE)
        assert [str(w.message)[:35] for w in caught] == ["The diagonal of cost is not zero, s"]
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"decision": "best"}, ValueError, "'argmax', 'minimum_cost', 'sample'"),
            ({"step": "long"}, ValueError, "'edge', 'sampled', 'projection', 'line_search'"),
            ({"samples_per_round": 0}, ValueError, "samples_per_round"),
            ({"samples_per_round": "some"}, ValueError, "'all'"),
            ({"samples_per_round": 0.5}, TypeError, "samples_per_round must be None, 'rows', 'all' or an integer"),
            ({"sampling": "row"}, ValueError, "'gradient', 'rule'"),
            ({"learning_rate": 0}, ValueError, "learning_rate"),
            ({"max_leaves": 1}, ValueError, "max_leaves must be at least 2"),
            ({"learning_rate": "fast"}, ValueError, "'auto'"),
            ({"cost": np.ones((2, 2))}, ValueError, r"shape \(2, 2\).*shape \(3, 3\)"),
            ({"cost": np.ones(3)}, ValueError, r"shape \(3,\); it must have the shape \(3, 3\)"),
            ({"cost": [[0, 1], [1]]}, ValueError, "numbers"),
            ({"cost": "costs"}, ValueError, "numbers"),
            ({"cost": np.where(np.eye(3) > 0, 0.0, np.nan)}, ValueError, "NaN or infinity"),
            ({"cost": np.where(np.eye(3) > 0, 0.0, np.inf)}, ValueError, "NaN or infinity"),
            ({"cost": np.eye(3) - 1.0}, ValueError, r"negative costs.*-1"),
            ({"cost": np.zeros((3, 3))}, ValueError, "nothing to learn"),
        ],
    )
    def test_parameters(self, changes: dict[str, Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            SoftmaxBoostClassifier(**changes).fit(*WINE)
