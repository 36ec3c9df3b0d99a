"""Metadata routing, weighted scores, tags and forms of output: what scikit-learn asks of every estimator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import radboost
from radboost import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SupervisedKernelProjection,
    baselines,
)
from radboost.tuning.search import Search

BASELINES = [getattr(baselines, name) for name in baselines.__all__ if name.endswith("Classifier")]
CLASSES = [getattr(radboost, name) for name in radboost.__all__ if hasattr(getattr(radboost, name), "fit")] + BASELINES
LABELS = [one for one in CLASSES if not one.__name__.startswith("MultiTask")]
draws = np.random.default_rng(0)
X = draws.normal(size=(72, 3))
Y = (X[:, 0] + draws.normal(size=72) > 0).astype(int)
W = draws.integers(1, 4, 72).astype(float)
OFFSET = draws.normal(size=72)
HALVES = [(np.arange(36), np.arange(36, 72)), (np.arange(36, 72), np.arange(36))]
by_name: dict[str, Any] = {"ids": lambda one: one.__name__}


def short(kind: Any) -> Any:
    model = kind()
    if issubclass(kind, Search):
        return model.set_params(estimator=short(kind._tuned), param_grid={"n_rounds": [3, 4]}, cv=2, n_jobs=1)
    quick = {"n_rounds": 4, "n_jobs": 1, "cv": 2, "n_alphas": 3, "n_starts": 1, "calibration": None}
    return model.set_params(**{name: value for name, value in quick.items() if name in model.get_params()})


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", LABELS, **by_name)
def test_weights_reach_fits_and_scores(kind: Any) -> None:
    """Through a search, a pipeline and a cross-validation: the scores are those of fits by hand."""
    asked = short(kind).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = cross_validate(asked, X, Y, params={"sample_weight": W}, cv=HALVES)["test_score"]
    by_hand = [short(kind).fit(X[a], Y[a], W[a]).score(X[b], Y[b], W[b]) for a, b in HALVES]
    np.testing.assert_array_equal(found, by_hand)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    line = Pipeline([("scale", scaler), ("model", asked)])
    search = GridSearchCV(line, {"model__n_jobs": [1]}, cv=HALVES, refit=False).fit(X, Y, sample_weight=W)
    scaled = [(StandardScaler().fit(X[a]), a, b) for a, b in HALVES]
    by_hand = [
        short(kind).fit(s.transform(X[a]), Y[a], W[a]).score(s.transform(X[b]), Y[b], W[b]) for s, a, b in scaled
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.mean(by_hand))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", [DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier], **by_name)
def test_offsets_and_metrics_are_routed(kind: Any) -> None:
    asked = short(kind).set_fit_request(offset=True).set_score_request(offset=True).set_predict_request(offset=True)
    found = cross_validate(asked, X, Y, params={"offset": OFFSET}, cv=HALVES)["test_score"]
    fits = [short(kind).fit(X[a], Y[a], offset=OFFSET[a]) for a, _ in HALVES]
    by_hand = [model.score(X[b], Y[b], offset=OFFSET[b]) for model, (_, b) in zip(fits, HALVES, strict=True)]
    np.testing.assert_array_equal(found, by_hand)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    line = Pipeline([("scale", scaler), ("model", asked)]).fit(X, Y, offset=OFFSET)
    by_hand = short(kind).fit(line[0].transform(X), Y, offset=OFFSET).predict(line[0].transform(X), OFFSET)
    np.testing.assert_array_equal(line.predict(X, offset=OFFSET), by_hand)
    name = "r2" if kind is RGBRegressor else "roc_auc"
    watching = short(kind).set_params(early_stopping=3).set_fit_request(eval_metric=True)
    search = GridSearchCV(watching, {"n_jobs": [1]}, cv=HALVES).fit(X, Y, eval_metric=name)
    assert f"validation_{name}" in search.best_estimator_.history_


@pytest.mark.usefixtures("routing")
def test_groups_sources_and_validation_rows_are_routed() -> None:
    groups = np.arange(72) % 4
    asked = MultiSourceBoostClassifier(4, n_jobs=1).set_fit_request(sources=True)
    found = cross_validate(
        asked, X, Y, params={"sources": groups, "groups": groups}, cv=GroupKFold(2), return_estimator=True
    )
    assert all(len(model.source_names_) == 2 for model in found["estimator"])
    watching = RGBClassifier(4, n_jobs=1).set_fit_request(X_val=True, y_val=True)
    line = Pipeline([("scale", StandardScaler()), ("model", watching)], transform_input=["X_val"])
    line.fit(X, Y, X_val=X[:20], y_val=Y[:20])
    scaled = line[0].transform(X)
    by_hand = RGBClassifier(4, n_jobs=1).fit(scaled, Y, X_val=scaled[:20], y_val=Y[:20])
    assert line[-1].history_ == by_hand.history_


@pytest.mark.usefixtures("routing")
def test_what_there_is_not_cannot_be_asked_for() -> None:
    for method in ("decision_function", "predict", "predict_proba", "predict_log_proba", "score"):
        with pytest.raises(TypeError, match=r"Unexpected args: \{'offset'\}"):
            getattr(MultiSourceBoostClassifier(), f"set_{method}_request")(offset=True)
    with pytest.raises(ValueError, match="offset"):
        cross_validate(short(RGBClassifier), X, Y, params={"offset": OFFSET}, cv=HALVES)


@pytest.mark.parametrize("kind", CLASSES, **by_name)
def test_tags(kind: Any) -> None:
    tags = kind().__sklearn_tags__()
    assert is_regressor(kind()) == kind.__name__.startswith(("RGBReg", "SparseBoostReg"))
    assert is_classifier(kind()) != is_regressor(kind())
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert not tags.non_deterministic
    assert tags.target_tags.multi_output == (
        kind.__name__.startswith("MultiTask") or kind in (RGBRegressor, RGBRegressorCV)
    )
    assert (tags.transformer_tags is not None) == (kind is SupervisedKernelProjection)
    on_trees = hasattr(kind(), "tree_options") or issubclass(kind, Search)
    assert tags.input_tags.allow_nan == on_trees
    if on_trees and kind is not baselines.MartiBoostClassifier and is_classifier(kind()):
        assert tags.classifier_tags.multi_class
