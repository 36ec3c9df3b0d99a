"""Model files of searches: the best estimator bit for bit, and what the search has found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from model_files import damaged_in_many_ways, dropper, forged, setter
from radboost import DeepBoostClassifier, DeepBoostClassifierCV, ModelFileError, RGBRegressor, RGBRegressorCV

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4))
Y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
T = X[:, 0] + X[:, 1] ** 2


def fitted(**changes: Any) -> DeepBoostClassifierCV:
    grid = {"max_depth": [1, 2], "thresholds": ["best", "random"]}
    base = DeepBoostClassifier(6, class_weight="balanced")
    return DeepBoostClassifierCV(**{"estimator": base, "param_grid": grid, "cv": 2, "n_jobs": 1, **changes}).fit(X, Y)


@pytest.mark.parametrize(
    "search",
    [
        fitted(),
        fitted(estimator=None, param_grid={"n_rounds": [5]}),
        RGBRegressorCV(RGBRegressor(5), param_grid={"subsample": [0.5, 1.0]}, cv=2, n_jobs=1).fit(X, T),
    ],
    ids=lambda search: f"{type(search).__name__} {search.estimator}",
)
def test_a_search_comes_back(search: Any, tmp_path: Path) -> None:
    search.save(tmp_path / "a.radb")
    loaded = radboost.load(tmp_path / "a.radb")
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert loaded.best_params_ == search.best_params_
    assert loaded.best_score_ == search.best_score_
    assert loaded.n_splits_ == search.n_splits_
    assert loaded.refit_time_ == search.refit_time_
    assert str(loaded.get_params()) == str(search.get_params())
    assert set(loaded.cv_results_) == set(search.cv_results_)
    for name, column in search.cv_results_.items():
        assert list(loaded.cv_results_[name]) == list(column), name
    for one, other in zip(loaded.validation_curves_, search.validation_curves_, strict=True):
        np.testing.assert_array_equal(one, other)
    loaded.save(tmp_path / "b.radb")
    assert (tmp_path / "a.radb").read_bytes() == (tmp_path / "b.radb").read_bytes()
    loaded.fit(X, T if isinstance(search, RGBRegressorCV) else Y)
    assert loaded.best_params_ == search.best_params_


def test_what_a_user_wrote_is_asked_for_again(tmp_path: Path) -> None:
    search = fitted(scoring=lambda model, X, y: model.score(X, y))
    search.save(tmp_path / "a.radb")
    loaded = radboost.load(tmp_path / "a.radb")
    np.testing.assert_array_equal(loaded.predict_proba(X), search.predict_proba(X))
    with pytest.raises(ModelFileError, match="scoring"):
        loaded.fit(X, Y)


FORGERIES = [
    (dropper("best"), "best"),
    (dropper("search"), "search"),
    (setter("best", value=[]), "must be a dict"),
    (setter("best", "model", value="RGBClassifier"), "."),
    (
        setter("estimator", value={"model": "RGBClassifier", "params": {}, "given_params": {}}),
        "must be a DeepBoostClassifier",
    ),
    (setter("estimator", "model", value="Nobody"), "known are"),
    (setter("search", value=3), "must be a dict"),
    (setter("search", "items", value=[["best_index", 99], ["settings", []], ["params", []]]), "."),
    (lambda header, arrays: arrays.pop("search/curves"), "curves"),
    (lambda header, arrays: arrays.update({"search/curve_lengths": np.array([-1, 2, 3, 4])}), "curves"),
    (lambda header, arrays: arrays.update({"search/n_splits": np.zeros(2, dtype=np.int64)}), "lengths"),
    (lambda header, arrays: header.update({"best": {**header}}), "no search"),
]


@pytest.mark.parametrize(("change", "match"), FORGERIES)
def test_forged_files_are_refused(change: Any, match: str, tmp_path: Path) -> None:
    fitted().save(tmp_path / "a.radb")
    with pytest.raises(ModelFileError, match=match):
        radboost.load(forged(tmp_path / "a.radb", change))


def test_damaged_files_are_refused_or_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.radb"
    fitted().save(path)
    damaged_in_many_ways(path, lambda model: model.predict(X), 30)
