"""Models of several classes as a whole: staged predictions, early stopping, files, families, importances."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score

import radboost
from multiclass_tools import PAIRS
from radboost import DeepBoostClassifier, EarlyStopping, KernelFamily, TreeOptions
from reference import losses, multiclass
from reference.data import smooth_classes

FAMILIES: dict[str, Any] = {
    "trees": "trees",
    "stumps": "stumps",
    "stump pairs": "stump_pairs",
    "kernel": "kernel",
    "laplacian": KernelFamily(kernel="laplacian", n_centres=30),
    "mixture": ["trees", "kernel"],
}


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_families_learn_three_classes(family: str, pair: tuple[str, str]) -> None:
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = DeepBoostClassifier(
        80, family=FAMILIES[family], objective=pair[0], loss=pair[1], learning_rate=0.5, complexity_penalty=0.001
    ).fit(X[::2], y[::2])
    # A kernel is for one class only, and MaxSum counts every row that is not of that class against it.
    assert model.score(X[1::2], y[1::2]) > (0.88 if family in ("trees", "stumps", "stump pairs") else 0.5)
    assert np.all(model.ensemble_.weights > 0)
    for hypothesis in model.ensemble_.hypotheses:
        h = hypothesis.predict(X)
        assert h.shape == (150, 3)
        assert np.all((h >= 0) & (h <= 1))


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_staged_predictions(pair: tuple[str, str]) -> None:
    X, y = smooth_classes(1, m=80, n_classes=4, missing=0.1)
    names = np.array(["a", "b", "c", "d"])[y]
    model = DeepBoostClassifier(20, objective=pair[0], loss=pair[1]).fit(X, names)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_iter_ == len(model.history_["objective"])
    assert all(scores.shape == (80, 4) for scores in staged)
    np.testing.assert_array_equal(staged[-1], model.decision_function(X))
    probabilities = list(model.staged_predict_proba(X))
    np.testing.assert_array_equal(probabilities[-1], model.predict_proba(X))
    labels = list(model.staged_predict(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    assert labels[0].dtype == model.classes_.dtype
    part = DeepBoostClassifier(7, objective=pair[0], loss=pair[1]).fit(X, names)
    np.testing.assert_array_equal(staged[6], part.decision_function(X))


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[0] != "maxsum"], ids=" ".join)
def test_validation_history(pair: tuple[str, str]) -> None:
    X, y = smooth_classes(2, m=150)
    X_val, y_val = smooth_classes(3, m=80)
    w = np.random.default_rng(0).random(80) + 0.1
    model = DeepBoostClassifier(12, objective=pair[0], loss=pair[1])
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    rows = np.arange(80)
    for f, error, loss in zip(
        model.staged_decision_function(X_val),
        model.history_["validation_error"],
        model.history_["validation_loss"],
        strict=True,
    ):
        rivals = f.copy()
        rivals[rows, y_val] = -np.inf
        assert error == pytest.approx(np.sum(w * (f[rows, y_val] <= rivals.max(axis=1))) / w.sum(), abs=1e-12)
        expected = multiclass.mean_loss(pair[0], losses.LOSSES[pair[1]], f, np.zeros(80), y_val, w)
        assert loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_early_stopping(pair: tuple[str, str]) -> None:
    X, y = smooth_classes(5, m=250, noise=0.4)
    X_val, y_val = smooth_classes(6, m=250, noise=0.4)
    model = DeepBoostClassifier(
        400, objective=pair[0], loss=pair[1], complexity_penalty=0.0, learning_rate=1.0, early_stopping=8
    ).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 400
    path = model.history_["validation_loss"]
    assert len(path) == model.n_iter_ + 8  # the rounds that it waited are told too
    assert path[model.n_iter_ - 1] == min(path) == model.best_score_
    assert model.best_iteration_ == model.n_iter_
    assert len(list(model.staged_predict(X_val))) == model.n_iter_


def test_early_stopping_holds_rows_of_every_class_back() -> None:
    X, y = smooth_classes(7, m=300, n_classes=6)
    model = DeepBoostClassifier(10, early_stopping=EarlyStopping(patience=3, validation_fraction=0.4)).fit(X, y)
    assert "validation_error" in model.history_
    assert 120 < model.ensemble_.sample_size < 240
    twice = DeepBoostClassifier(10, early_stopping=EarlyStopping(patience=3, validation_fraction=0.4))
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.ensemble_.sample_size == pytest.approx(360, abs=6)


def same_bits(a: DeepBoostClassifier, b: DeepBoostClassifier, X: np.ndarray) -> None:
    for method in ("decision_function", "predict", "predict_proba"):
        left, right = getattr(a, method)(X), getattr(b, method)(X)
        assert left.dtype == right.dtype
        assert left.tolist() == right.tolist()
    for left, right in zip(a.staged_decision_function(X), b.staged_decision_function(X), strict=True):
        assert left.tobytes() == right.tobytes()
    assert a.history_ == b.history_
    assert list(a.classes_) == list(b.classes_)
    assert repr(a.ensemble_) == repr(b.ensemble_)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_saved_and_loaded(family: str, pair: tuple[str, str], tmp_path: Path) -> None:
    X, y = smooth_classes(8, m=90, n_classes=5)
    names = np.array(["ash", "beech", "cedar", "date", "elm"])[y]
    model = DeepBoostClassifier(10, family=FAMILIES[family], objective=pair[0], loss=pair[1]).fit(X, names)
    model.save(tmp_path / "trees.radboost")
    loaded = radboost.load(tmp_path / "trees.radboost")
    same_bits(loaded, model, X)
    assert loaded.get_params()["objective"] == pair[0]
    same_bits(pickle.loads(pickle.dumps(model)), model, X)
    again = clone(loaded).fit(X, names)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_saved_with_many_classes(tmp_path: Path) -> None:
    y = np.repeat(np.arange(300), 3)
    X = np.column_stack([y, y % 11]).astype(float)
    model = DeepBoostClassifier(3, learning_rate=1.0, max_depth=8, complexity_penalty=0.0).fit(X, y)
    model.save(tmp_path / "many.radboost")
    same_bits(radboost.load(tmp_path / "many.radboost"), model, X)


def test_repr_and_importances() -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 5))
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    model = DeepBoostClassifier(
        8, complexity_penalty=0.001, tree_options=TreeOptions(max_features=None, thresholds="best")
    ).fit(X, y)
    assert model.feature_importances_.shape == (5,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert np.argmax(model.feature_importances_) == 2
    assert "Ensemble of" in repr(model.ensemble_)
    stumps = DeepBoostClassifier(3, family="stumps").fit(X, y)
    assert repr(stumps.ensemble_)


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


def test_penalties_make_smaller_trees_and_fewer_hypotheses() -> None:
    X, y = smooth_classes(11, m=200)
    sizes = [
        np.mean([h.n_splits for h in DeepBoostClassifier(30, complexity_penalty=p).fit(X, y).ensemble_.hypotheses])
        for p in (0.0, 0.2)
    ]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("load", [load_iris, load_wine, pytest.param(load_digits, marks=pytest.mark.slow)])
def test_real_data(load: Any) -> None:
    X, y = load(return_X_y=True)
    for objective in ("sum", "compsum"):
        model = DeepBoostClassifier(60, learning_rate=0.3, objective=objective)
        assert cross_val_score(model, X, y, cv=3).mean() > 0.9
