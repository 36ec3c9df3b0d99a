"""Options of trees as parameters of a parameter, in scikit-learn's way."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from radboost import (
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    RGBClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    TreeOptions,
    load,
)
from radboost.baselines import SAMMEClassifier

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", [DeepBoostClassifier, RGBClassifier, RGBRegressor, SAMMEClassifier])
@pytest.mark.parametrize("before", [None, TreeOptions(), TreeOptions(max_bins=200)])
def test_new_options_take_the_place_of_the_old(estimator: Any, before: TreeOptions | None) -> None:
    first, second = estimator(tree_options=before), estimator(tree_options=before)
    assert first.set_params(tree_options__max_bins=15) is first
    assert first.tree_options == TreeOptions(max_bins=15)
    assert second.tree_options is before
    assert before in (None, TreeOptions(), TreeOptions(max_bins=200))


def test_options_and_one_of_them_together() -> None:
    given = TreeOptions(thresholds="best")
    model = DeepBoostClassifier().set_params(tree_options__max_bins=7, tree_options=given, n_rounds=4)
    assert model.tree_options == TreeOptions(thresholds="best", max_bins=7)
    assert model.n_rounds == 4
    assert given == TreeOptions(thresholds="best")


def test_parameters_with_and_without_depth() -> None:
    model = DeepBoostClassifier(tree_options=TreeOptions(max_bins=31))
    shallow, deep = model.get_params(deep=False), model.get_params()
    assert {name: value for name, value in deep.items() if "__" not in name} == shallow
    nested = {name for name in deep if "__" in name}
    assert nested == {f"tree_options__{field.name}" for field in fields(TreeOptions)}
    assert deep["tree_options__max_bins"] == 31
    assert not [name for name in DeepBoostClassifier().get_params() if "__" in name]
    assert not [name for name in SparseBoostClassifier().get_params() if "__" in name]
    assert model.set_params(**deep).get_params() == deep


def test_clones_and_words() -> None:
    model = DeepBoostClassifier(3, tree_options=TreeOptions())
    copied = clone(model).set_params(tree_options__max_bins=15)
    assert model.tree_options == TreeOptions()
    assert clone(copied).tree_options == TreeOptions(max_bins=15)
    assert "max_bins=15" in repr(copied)
    assert "tree_options__" not in repr(copied)
    assert "max_bins=15" in copied._repr_html_()


def test_searches_and_pipelines_of_scikit_learn(tmp_path: Path) -> None:
    base = DeepBoostClassifier(3, calibration=None, n_jobs=1, tree_options=TreeOptions())
    search = GridSearchCV(base, {"tree_options__max_bins": [3, 31]}, cv=2, n_jobs=1).fit(X, Y)
    assert base.tree_options == TreeOptions()
    by_hand = GridSearchCV(
        base, {"tree_options": [TreeOptions(max_bins=3), TreeOptions(max_bins=31)]}, cv=2, n_jobs=1
    ).fit(X, Y)
    for split in range(2):
        name = f"split{split}_test_score"
        np.testing.assert_array_equal(search.cv_results_[name], by_hand.cv_results_[name])
    chosen = search.best_estimator_
    assert chosen.tree_options.max_bins == search.best_params_["tree_options__max_bins"]
    chosen.save(tmp_path / "model.radboost")
    assert load(tmp_path / "model.radboost").get_params() == chosen.get_params()
    pipeline = make_pipeline(StandardScaler(), base).set_params(deepboostclassifier__tree_options__max_bins=9)
    assert pipeline[-1].tree_options == TreeOptions(max_bins=9)


def test_within_a_search_of_our_own() -> None:
    search = DeepBoostClassifierCV(DeepBoostClassifier(tree_options=TreeOptions()))
    assert search.get_params()["estimator__tree_options__max_bins"] == 255
    search.set_params(estimator__tree_options__max_bins=9)
    assert search.estimator.tree_options == TreeOptions(max_bins=9)


def test_what_is_refused() -> None:
    model = DeepBoostClassifier(tree_options=TreeOptions(max_bins=31))
    with pytest.raises(ValueError, match=r"TreeOptions has no option 'max_bin'. It is called max_bins here"):
        model.set_params(tree_options__max_bin=15)
    with pytest.raises(TypeError, match=r"tree_options must be a radboost.TreeOptions or None; got 3"):
        model.set_params(tree_options=3, tree_options__max_bins=15)
    assert model.tree_options == TreeOptions(max_bins=31)
    with pytest.raises(ValueError, match="SparseBoostClassifier has no parameter 'tree_options__max_bins'"):
        SparseBoostClassifier().set_params(tree_options__max_bins=15)
