"""Attributes and methods of a fitted search that it delegates to its best estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from radboost.estimators._estimator import Estimator, of_one_fit
from radboost.estimators._predicting import PredictingMixin
from radboost.estimators._pruning import PruningMixin
from radboost.estimators._trees_model import TreesModel

Given = ParamSpec("Given")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, Given], Result]


def of_best(name: str) -> Any:
    """Property that returns the attribute of this name of `best_estimator_`."""

    def get(self: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)

    return property(get, doc=f"`{name}` of `best_estimator_`.")


def by_best(method: Method[Given, Result]) -> Method[Given, Result]:
    """Method that calls the one of `best_estimator_`, with the same parameters, types and documentation.

    It exists only if the estimator has it (before the fit: the estimator to be tuned, and a call raises
    NotFittedError).
    """
    name = method.__name__

    def is_there(search: Any) -> bool:
        given = search.estimator if isinstance(search.estimator, search._tuned) else search._tuned
        return hasattr(search.best_estimator_ if search.__sklearn_is_fitted__() else given, name)

    @of_one_fit
    @wraps(method)
    def ask_best(self: Any, /, *arguments: Given.args, **named: Given.kwargs) -> Result:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises
        return cast(Result, getattr(self.best_estimator_, name)(*arguments, **named))

    title, *rest = cleandoc(method.__doc__ or "").split("\n")
    ask_best.__doc__ = "\n".join([title, "", f"This is `{name}` of `best_estimator_`.", *rest])
    return cast(Method[Given, Result], available_if(is_there)(ask_best))


class DelegatesToBest:
    """Attributes and methods of the best estimator that all searches have."""

    ensemble_ = of_best("ensemble_")
    loss_ = of_best("loss_")
    history_ = of_best("history_")
    n_iter_ = of_best("n_iter_")
    n_skipped_rounds_ = of_best("n_skipped_rounds_")
    stop_reason_ = of_best("stop_reason_")
    categories_ = of_best("categories_")
    feature_importances_ = of_best("feature_importances_")
    n_features_in_ = of_best("n_features_in_")
    feature_names_in_ = of_best("feature_names_in_")

    predict_contributions = by_best(TreesModel.predict_contributions)
    apply = by_best(TreesModel.apply)
    to_text = by_best(TreesModel.to_text)
    feature_importance = by_best(TreesModel.feature_importance)
    permutation_importance = by_best(TreesModel.permutation_importance)
    prune = by_best(PruningMixin.prune)
    # `save` and `to_dict` keep the whole search: `load` and `from_dict` give it back.
    to_onnx = by_best(Estimator.to_onnx)
    to_treelite = by_best(Estimator.to_treelite)
    to_c = by_best(Estimator.to_c)
    rows_for_export = by_best(Estimator.rows_for_export)


class DelegatesToBestClassifier(DelegatesToBest):
    """Attributes and methods of the best estimator that searches for classifiers have."""

    classes_ = of_best("classes_")
    n_classes_ = of_best("n_classes_")
    calibration_ = of_best("calibration_")

    predict = by_best(PredictingMixin.predict)
    predict_proba = by_best(PredictingMixin.predict_proba)
    predict_log_proba = by_best(PredictingMixin.predict_log_proba)
    decision_function = by_best(PredictingMixin.decision_function)
    staged_predict = by_best(PredictingMixin.staged_predict)
    staged_predict_proba = by_best(PredictingMixin.staged_predict_proba)
    staged_decision_function = by_best(PredictingMixin.staged_decision_function)
    score = by_best(PredictingMixin.score)
    explain = by_best(TreesModel.explain)
