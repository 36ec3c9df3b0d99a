"""Importances by cover and by shuffling: against scikit-learn's, against a walk by hand, in every form of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance

from properties.hooks import with_sources
from radboost import (
    AgnosticClassifier,
    DeepBoostClassifier,
    KernelFamily,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    SparseBoostRegressor,
    SupervisedKernelProjection,
)
from radboost.baselines import MartiBoostClassifier
from reference.audit import walk
from reference.data import smooth, smooth_classes

X, Y = smooth(0, m=120, d=5)
TARGETS = X[:, 0] + 0.1 * X[:, 1]


def frame(rows: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=list("abcde"))
    table["c"] = pd.cut(table["c"], 4, labels=["low", "mid", "high", "top"]).astype("category")
    return table


MODELS = [
    (DeepBoostClassifier(n_rounds=8), Y),
    (DeepBoostClassifier(n_rounds=4, family=KernelFamily(n_centres=20), complexity_penalty=0.0), Y),
    (RGBClassifier(n_rounds=8), Y),
    (RGBRegressor(n_rounds=8), TARGETS),
    (SparseBoostClassifier(alpha=0.05), Y),
    (SparseBoostRegressor(alpha=0.01), TARGETS),
    (AgnosticClassifier(n_rounds=10), Y),
    (SupervisedKernelProjection(n_starts=0), Y),
    (MartiBoostClassifier(n_rounds=3, max_leaves=4), Y),
    (with_sources(MultiSourceBoostClassifier(n_rounds=4)), Y),
    (MultiTaskSparseBoostClassifier(alpha=0.05), np.column_stack([Y, np.sign(X[:, 1])])),
]


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda value: type(value).__name__)
def test_equals_that_of_scikit_learn(model: Any, y: np.ndarray) -> None:
    model.fit(X, y)
    ours = model.permutation_importance(X, y, n_repeats=3, random_state=7)
    theirs = permutation_importance(model, X, y, n_repeats=3, random_state=7)
    for name in ("importances", "importances_mean", "importances_std"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-12)
    assert ours.importances.any()


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", ["accuracy", "neg_log_loss"]], ids=str)
def test_scores_and_weights_are_passed_on(scoring: Any) -> None:
    model = DeepBoostClassifier(n_rounds=5).fit(X, Y)
    weights = np.arange(len(Y)) % 3 + 1.0
    given = {"n_repeats": 2, "random_state": 0, "scoring": scoring, "sample_weight": weights}
    ours, theirs = model.permutation_importance(X, Y, **given), permutation_importance(model, X, Y, **given)
    if isinstance(scoring, list):
        assert list(ours) == list(theirs) == scoring
    else:
        ours, theirs = {"": ours}, {"": theirs}
    for name, bunch in theirs.items():
        np.testing.assert_allclose(ours[name].importances, bunch.importances, rtol=0, atol=1e-12)


def test_every_form_of_rows_gives_the_same_and_stays_as_it_was() -> None:
    model = DeepBoostClassifier(n_rounds=8, n_jobs=1).fit(X, Y)
    expected = model.permutation_importance(X, Y, random_state=1).importances
    for form in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X), X.tolist(), np.asfortranarray(X)):
        before = form.toarray() if sparse.issparse(form) else np.array(form)
        np.testing.assert_array_equal(model.permutation_importance(form, Y, random_state=1).importances, expected)
        np.testing.assert_array_equal(form.toarray() if sparse.issparse(form) else np.array(form), before)


def test_sparse_rows_with_entries_in_parts() -> None:
    """Two entries of one cell are their sum."""
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X)
    model = DeepBoostClassifier(n_rounds=8).fit(thin, Y)
    rows, columns = np.nonzero(thin)
    parts = np.tile(thin[rows, columns] / 2, 2)
    split = sparse.csr_array((parts, (np.tile(rows, 2), np.tile(columns, 2))), shape=thin.shape)
    expected = model.permutation_importance(thin, Y, random_state=1).importances
    np.testing.assert_array_equal(model.permutation_importance(split, Y, random_state=1).importances, expected)


def test_frames_with_categories() -> None:
    table = frame(X)
    table.index = np.arange(len(table))[::-1] * 3  # which must not matter
    model = DeepBoostClassifier(n_rounds=10).fit(table, Y)
    before = table.copy()
    expected = permutation_importance(model, table, Y, n_repeats=3, random_state=2).importances
    assert expected[2].any()
    for form in (
        table,
        pl.from_pandas(table.reset_index(drop=True)),
        pa.Table.from_pandas(table, preserve_index=False),
    ):
        found = model.permutation_importance(form, Y, n_repeats=3, random_state=2).importances
        np.testing.assert_array_equal(found, expected)
    pd.testing.assert_frame_equal(table, before)


def test_columns_that_no_tree_asks_about_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.column_stack([X[:, 0], np.zeros(len(X)), X[:, 1]])
    model = DeepBoostClassifier(n_rounds=3).fit(rows, Y)
    calls, predict = [], DeepBoostClassifier.predict
    monkeypatch.setattr(
        DeepBoostClassifier, "predict", lambda self, X, *more: calls.append(1) or predict(self, X, *more)
    )
    found = model.permutation_importance(rows, Y, n_repeats=4, random_state=0)
    assert found.importances.shape == (3, 4)
    assert not found.importances[1].any()
    assert len(calls) == 1 + 2 * 4
    calls.clear()
    model.permutation_importance(rows, Y, n_repeats=1, scoring=lambda model, X, y: model.score(X, y) + X[:, 1].sum())
    assert len(calls) == 1 + 3


def test_the_same_seed_shuffles_alike_and_none_does_not() -> None:
    model = RGBRegressor(n_rounds=8).fit(X, TARGETS)
    first, again, other = (
        model.permutation_importance(X, TARGETS, random_state=seed).importances for seed in (3, 3, None)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_arguments() -> None:
    model = DeepBoostClassifier(n_rounds=2)
    for ask in (lambda: model.permutation_importance(X, Y), model.feature_importance, model.to_text):
        with pytest.raises(NotFittedError):
            ask()
    model.fit(X, Y)
    with pytest.raises(ValueError, match="n_repeats must be at least 1"):
        model.permutation_importance(X, Y, n_repeats=0)
    with pytest.raises(ValueError, match="no rows"):
        model.permutation_importance(X[:0], Y[:0])
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.permutation_importance(X[:, :4], Y)
    with pytest.raises(ValueError, match="rows and columns"):
        model.permutation_importance(X[:, 0], Y)
    with pytest.raises(ValueError, match="masked array"):
        model.permutation_importance(np.ma.masked_greater(X, 0.5), Y)
    with pytest.raises(TypeError, match="LazyFrame"):
        model.permutation_importance(pl.DataFrame(X).lazy(), Y)
    with pytest.raises(ValueError, match="kind must be one of 'gain', 'cover', 'split'; got 'weight'"):
        model.feature_importance("weight")
    with pytest.raises(ValueError, match="weight"):
        SparseBoostClassifier(alpha=0.05).fit(X, Y).feature_importance("gain")


def test_gain_is_what_the_attribute_has() -> None:
    for model, y in MODELS[:1] + MODELS[3:5]:
        model.fit(X, y)
        np.testing.assert_array_equal(model.feature_importance(), model.feature_importances_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_cover_is_counted_by_walking_every_row(n_classes: int) -> None:
    """All rows learn, so that the cover of a node is the weight of the rows that reach it."""
    rows, y = smooth(1, m=80, d=4, missing=0.1) if n_classes == 2 else smooth_classes(1, m=80, d=4, n_classes=3)
    weights = np.arange(len(y)) % 3 + 1.0
    settings: dict[str, Any] = {"n_rounds": 6, "complexity_penalty": 0.01, "learning_rate": 0.5, "subsample": 1.0}
    model = DeepBoostClassifier(**settings, random_state=0).fit(rows, y, weights)
    splits = [tree.feature[tree.feature >= 0] for tree in model.ensemble_.hypotheses]
    np.testing.assert_array_equal(model.feature_importance("split"), np.bincount(np.concatenate(splits), minlength=4))
    expected = np.zeros(4)
    for alpha, tree in zip(model.ensemble_.weights, model.ensemble_.hypotheses, strict=True):
        for node in walk(tree, rows):
            if tree.feature[node.index] >= 0:
                expected[tree.feature[node.index]] += abs(alpha) * weights[node.rows].sum()
    np.testing.assert_allclose(model.feature_importance("cover"), expected / expected.sum(), rtol=1e-9)


def test_models_without_trees_have_no_importance() -> None:
    with pytest.warns(UserWarning, match="empty"):
        model = DeepBoostClassifier(n_rounds=3, complexity_penalty=100.0).fit(X, Y)
    for kind in ("gain", "cover", "split"):
        np.testing.assert_array_equal(model.feature_importance(kind), np.zeros(5))
    assert not model.permutation_importance(X, Y).importances.any()
    kernel = MODELS[1][0].fit(X, Y)
    np.testing.assert_array_equal(kernel.feature_importance("cover"), np.zeros(5))


def test_sourced_and_layered_trees_count() -> None:
    for model, y in (MODELS[8], MODELS[9]):
        shares = model.fit(X, y).feature_importance("cover")
        assert shares.sum() == pytest.approx(1.0)
        assert (shares >= 0).all()
