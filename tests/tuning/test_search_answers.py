"""A fitted search answers as its best estimator does, to the last bit, and has what that has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from radboost import (
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    RGBClassifier,
    RGBClassifierCV,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SoftmaxBoostClassifierCV,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4))
Y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
C = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
T = X[:, 0] + X[:, 1] ** 2
SHARED: dict[str, Any] = {"cv": 2, "n_jobs": 1}

TARGETS: dict[str, tuple[Any, Any]] = {
    "deepboost": (DeepBoostClassifierCV(DeepBoostClassifier(6), param_grid={"max_depth": [1, 2]}, **SHARED), Y),
    "rgb": (RGBClassifierCV(RGBClassifier(6), param_grid={"subsample": [0.5, 1.0]}, **SHARED), C),
    "numbers": (RGBRegressorCV(RGBRegressor(6), param_grid={"subsample": [0.5, 1.0]}, **SHARED), T),
    "softmax": (SoftmaxBoostClassifierCV(SoftmaxBoostClassifier(6), param_grid={"max_leaves": [4, 8]}, **SHARED), C),
}

# What is asked of searches and estimators alike, and how.
QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "predict": lambda model, y: model.predict(X),
    "score": lambda model, y: model.score(X, y),
    "staged_predict": lambda model, y: list(model.staged_predict(X)),
    "explain": lambda model, y: str(model.explain(X[0])),
    "predict_contributions": lambda model, y: model.predict_contributions(X[:9], interactions=True),
    "apply": lambda model, y: model.apply(X),
    "to_text": lambda model, y: model.to_text(max_trees=3),
    "feature_importance": lambda model, y: model.feature_importance("cover"),
    "permutation_importance": lambda model, y: model.permutation_importance(X, y, random_state=0).importances,
    "prune": lambda model, y: model.prune(X, y, max_trees=2).predict(X),
    "to_onnx": lambda model, y: model.to_onnx().SerializeToString(),
    "to_treelite": lambda model, y: model.to_treelite().dump_as_json(),
    "to_c": lambda model, y: model.to_c("named"),
    "rows_for_export": lambda model, y: model.rows_for_export(X),
}
OF_CLASSES: dict[str, Callable[[Any, Any], Any]] = {
    "predict_proba": lambda model, y: model.predict_proba(X),
    "predict_log_proba": lambda model, y: model.predict_log_proba(X),
    "decision_function": lambda model, y: model.decision_function(X),
    "staged_predict_proba": lambda model, y: list(model.staged_predict_proba(X)),
    "staged_decision_function": lambda model, y: list(model.staged_decision_function(X)),
}
KINDS = pytest.mark.parametrize("kind", TARGETS)


def questions_for(kind: str) -> dict[str, Callable[[Any, Any], Any]]:
    return QUESTIONS if kind == "numbers" else QUESTIONS | OF_CLASSES


@pytest.fixture(scope="module")
def searches() -> dict[str, Any]:
    return {kind: clone(search).fit(X, y) for kind, (search, y) in TARGETS.items()}


@KINDS
def test_a_search_answers_with_its_best_estimator(searches: dict[str, Any], kind: str) -> None:
    search, y = searches[kind], TARGETS[kind][1]
    for question, ask in questions_for(kind).items():
        if question in ("to_onnx", "to_treelite") and find_spec(question.removeprefix("to_")) is None:
            continue
        found, expected = ask(search, y), ask(search.best_estimator_, y)
        assert type(found) is type(expected), question
        assert_array_equal(found, expected, err_msg=question)


@KINDS
def test_before_the_fit_it_says_so(kind: str) -> None:
    search, y = TARGETS[kind]
    for question, ask in questions_for(kind).items():
        assert hasattr(search, question)  # as the estimator has
        with pytest.raises(NotFittedError, match=f"This {type(search).__name__} instance is not fitted yet"):
            ask(search, y)


@KINDS
def test_parameters_and_words_are_those_of_the_estimator(kind: str) -> None:
    """Of the class that is tuned, which may have others than the classes that it inherits from."""
    search = TARGETS[kind][0]
    for question in questions_for(kind):
        own, theirs = getattr(type(search), question), getattr(search._tuned, question)
        assert inspect.signature(own) == inspect.signature(theirs), question
        lines = inspect.cleandoc(own.__doc__).split("\n")
        assert lines[2] == f"This is `{question}` of `best_estimator_`."
        assert [lines[0], *lines[3:]] == inspect.cleandoc(theirs.__doc__).split("\n"), question


@KINDS
def test_a_search_has_all_that_its_estimator_has(searches: dict[str, Any], kind: str) -> None:
    """What is new in estimators has to be named by searches too; these alone are about fits, not fitted models."""
    search, best = searches[kind], searches[kind].best_estimator_
    about_fits = {"paper", "set_callbacks", "best_iteration_"}
    missing = {name for name in dir(best) if not name.startswith("_") and not hasattr(search, name)}
    assert missing - set(best.get_params()) <= about_fits
    for name in vars(best):
        if name.endswith("_"):
            assert getattr(search, name) is getattr(best, name)


def test_what_the_estimator_lacks_the_search_lacks(searches: dict[str, Any]) -> None:
    class WithoutLeaves(DeepBoostClassifier):
        @property
        def apply(self) -> Any:
            raise AttributeError("not here")

    search = clone(TARGETS["deepboost"][0]).set_params(estimator=WithoutLeaves(6))
    for model in (search, search.fit(X, Y)):
        assert not hasattr(model, "apply")
        assert hasattr(model, "explain")
        with pytest.raises(AttributeError, match="'DeepBoostClassifierCV' has no attribute 'apply'"):
            model.apply(X)
    assert not hasattr(searches["numbers"], "predict_proba")
    assert not hasattr(searches["numbers"], "classes_")


def test_a_pruned_search_is_a_model_of_the_estimator_and_the_search_stays(searches: dict[str, Any]) -> None:
    search = searches["deepboost"]
    before = search.predict_proba(X)
    pruned = search.prune(X, Y, max_trees=2)
    assert type(pruned) is DeepBoostClassifier
    assert len(pruned.ensemble_) <= 2 < len(search.ensemble_)
    assert_array_equal(search.predict_proba(X), before)


def test_offsets_are_added(searches: dict[str, Any]) -> None:
    search, offset = searches["deepboost"], np.linspace(-2.0, 2.0, len(X))
    assert_array_equal(search.decision_function(X, offset), search.decision_function(X) + offset)
    assert search.score(X, search.predict(X, offset), offset=offset) == 1.0
