"""DeepBoost for any number of classes: when a fit ends, its history, missing values, trees, numbers in leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from multiclass_tools import PAIRS
from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, TreeOptions
from radboost.trees import with_tree_options
from radboost.trees.arrays import holds_numbers
from reference import losses, multiclass, rademacher
from reference.data import smooth, smooth_classes


@pytest.mark.parametrize("recipe", [DeepBoostClassifier, DeepBoostClassifier.paper])
def test_penalty_too_large_for_any_step(recipe: Any) -> None:
    """At alpha = 0 nothing moves once Lambda exceeds S/m = Phi'(1)."""
    X, y = smooth(3, m=50)
    slope = {"exponential": math.e, "logistic": math.e / (1 + math.e) / math.log(2)}
    for loss, largest in slope.items():
        model = recipe(n_rounds=40, loss=loss, l1_penalty=largest * 1.01).fit(X, y)
        assert len(model.ensemble_.weights) == 0
        assert np.all(model.decision_function(X) == 0)
        np.testing.assert_array_equal(model.predict_proba(X), 0.5)
        assert set(model.predict(X)) == {-1}  # a score of 0 goes to the first class, as in scikit-learn
        assert len(model.ensemble_.hypotheses) == 0
        assert np.all(np.isfinite(model.feature_importances_))


def test_skipped_rounds_are_counted_and_not_fatal() -> None:
    """Random proposals, a penalty that only some of them can pay."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = np.where(X[:, 3] > 0, 1, 0)
    r = rademacher.trees(80, 30, 1)
    model = DeepBoostClassifier(
        150,
        loss="logistic",
        max_depth=1,
        complexity_penalty=0.35 / r,
        learning_rate=0.1,
        tree_options=TreeOptions(max_features=1, thresholds="random"),
    ).fit(X, y)
    assert model.n_skipped_rounds_ > 0
    assert len(model.ensemble_.weights) > 0
    assert np.all(np.diff(model.history_["objective"]) <= 0)


@pytest.mark.parametrize(
    ("pair", "n_classes"), [(PAIRS[1], 2), *((pair, 3) for pair in PAIRS if pair[0] != "maxsum")], ids=str
)
def test_validation_history_is_that_of_the_staged_scores(pair: tuple[str, str], n_classes: int) -> None:
    X, y = smooth_classes(2, m=150, n_classes=n_classes)
    X_val, y_val = smooth_classes(3, m=80, n_classes=n_classes)
    w = np.random.default_rng(0).random(80) + 0.1
    model = DeepBoostClassifier(12, objective=pair[0], loss=pair[1])
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    rows = np.arange(80)
    for scores, error, loss in zip(
        model.staged_decision_function(X_val),
        model.history_["validation_error"],
        model.history_["validation_loss"],
        strict=True,
    ):
        f = scores if n_classes > 2 else np.column_stack([np.zeros(80), scores])
        rivals = f.copy()
        rivals[rows, y_val] = -np.inf
        assert error == pytest.approx(np.sum(w * (f[rows, y_val] <= rivals.max(axis=1))) / w.sum(), abs=1e-12)
        expected = multiclass.mean_loss(pair[0], losses.LOSSES[pair[1]], f, np.zeros(80), y_val, w)
        assert loss == pytest.approx(expected, rel=1e-9)


def test_a_question_about_missing_values_reads_as_one() -> None:
    column = np.where(np.arange(40) % 2, np.nan, 7.0)[:, None]
    text = repr(DeepBoostClassifier(20).fit(column, np.arange(40) % 2).ensemble_)
    assert "x[0] is not missing" in text
    assert "1 hypothesis with 1 split," in text


@pytest.mark.parametrize("growth", ["layers", "best_first"])
def test_limits_of_trees(growth: str) -> None:
    X, y = smooth_classes(10, m=200, n_classes=4)
    leaves = 5 if growth == "best_first" else None
    options = TreeOptions(growth=growth, max_leaves=leaves, min_leaf_weight=7.0)
    model = DeepBoostClassifier(15, max_depth=3, complexity_penalty=0.0, tree_options=options).fit(X, y)
    for tree in model.ensemble_.entered:
        assert tree.depth <= 3
        cover = tree.cover[np.asarray(tree.feature) < 0]
        assert np.all(cover >= 7.0)
        if leaves:
            assert len(cover) <= leaves
        assert tree.n_splits == len(cover) - 1
        assert cover.sum() == 200


def quick(**changes: Any) -> DeepBoostClassifier:
    settings = {"n_rounds": 8, "complexity_penalty": 0.001, "calibration": None, **changes}
    return DeepBoostClassifier(**with_tree_options(settings))


@pytest.mark.parametrize(
    "pair",
    [pytest.param(p, marks=() if p in PAIRS[2::3] else pytest.mark.slow, id=" ".join(p)) for p in PAIRS],
)
def test_a_thousand_classes(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(1000), 3)
    X = np.column_stack([y % 32 + 0.1 * rng.normal(size=3000), y // 32 + 0.1 * rng.normal(size=3000)])
    model = quick(n_rounds=3, objective=pair[0], loss=pair[1], learning_rate=1.0, max_features=None, max_depth=10).fit(
        X, y
    )
    assert model.predict_proba(X[:50]).shape == (50, 1000)
    np.testing.assert_allclose(model.predict_proba(X[:50]).sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    if pair[0] in ("sum", "compsum"):
        assert model.score(X, y) > 0.2
    assert set(model.predict(X)) <= set(range(1000))


@pytest.mark.parametrize("n_classes", [254, 255, 256, 257])
@pytest.mark.parametrize("objective", ["sum", "maxsum"])
def test_around_the_largest_class_that_fits_a_byte(n_classes: int, objective: str) -> None:
    y = np.repeat(np.arange(n_classes), 2)
    X = np.column_stack([y, y % 7]).astype(float)
    model = quick(
        n_rounds=4, objective=objective, learning_rate=1.0, max_depth=9, thresholds="best", max_features=None
    ).fit(X, y)
    staged = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(staged[-1], model.decision_function(X))
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    last = [h.predict(X) for h in model.ensemble_.hypotheses]
    total = sum(weight * h for weight, h in zip(model.ensemble_.weights, last, strict=True))
    np.testing.assert_array_equal(total, model.decision_function(X))
    errors = []
    for scores in staged:
        own = scores[np.arange(len(y)), y].copy()
        scores[np.arange(len(y)), y] = -np.inf
        errors.append(np.mean(own <= scores.max(axis=1)))
    np.testing.assert_allclose(model.history_["train_error"], errors, atol=1e-12)


RATED = TreeOptions(leaves="rated")


def data(n_classes: int, m: int = 300) -> tuple[np.ndarray, np.ndarray]:
    return smooth(0, m=m, d=5) if n_classes == 2 else smooth_classes(0, m=m, d=5, n_classes=n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_leaves_that_hold_numbers_are_those_of_the_training_rows(n_classes: int) -> None:
    """What the fit believes of its rows is what the model says of them, and F falls in every round."""
    X, y = data(n_classes)
    for settings in ({}, {"learning_rate": 1.0, "n_rounds": 8}, {"objective": "compsum"}, {"loss": "exponential"}):
        if settings.get("objective") == "compsum" and n_classes == 2:
            continue
        model = DeepBoostClassifier(**{"n_rounds": 40, "complexity_penalty": 0.003, **settings}, tree_options=RATED)
        model.fit(X, y)
        assert any(map(holds_numbers, model.ensemble_.hypotheses))
        assert np.all(np.diff(model.history_["objective"]) <= 0.0)
        assert model.history_["train_error"][-1] == pytest.approx(np.mean(model.predict(X) != y), abs=2.5 / len(y))
        assert model.score(X, y) > 0.9
        prices = 0.003 * np.asarray(model.ensemble_.complexities)
        penalty = float(np.abs(model.ensemble_.weights) @ prices)
        assert penalty < model.history_["objective"][-1]


def test_nearly_even_leaves_that_hold_numbers_move_less() -> None:
    X, y = data(2, m=600)
    y = np.where(np.random.default_rng(0).random(600) < 0.3, -y, y)
    votes = DeepBoostClassifier(60, complexity_penalty=0.003, step="line_search").fit(X, y)
    rated = DeepBoostClassifier(60, complexity_penalty=0.003, tree_options=RATED).fit(X, y)
    assert rated.history_["objective"][-1] < votes.history_["objective"][-1]


def test_where_numbers_in_leaves_do_not_go() -> None:
    X, y = data(3)
    for objective in ("maxsum", "max"):
        with pytest.raises(ValueError, match=r'leaves="rated".*"sum" or "compsum".*got .max'):
            DeepBoostClassifier(objective=objective, tree_options=RATED).fit(X, y)
        DeepBoostClassifier(3, objective=objective, tree_options=RATED).fit(*data(2))
    with pytest.raises(ValueError, match=r"no use for TreeOptions\(leaves='rated'\)"):
        MultiSourceBoostClassifier(tree_options=RATED).fit(X, y)
    with pytest.raises(ValueError, match="'votes', 'rated'"):
        DeepBoostClassifier(tree_options=TreeOptions(leaves="real")).fit(X, y)
