"""Estimators ...CV: searches over the parameters of an estimator by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import ClassifierMixin, RegressorMixin

from radboost.estimators import DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier
from radboost.model_file import storable_estimator
from radboost.tuning.delegation import DelegatesToBestClassifier, by_best, of_best
from radboost.tuning.search import Search, described
from radboost.tuning.spaces import DEEPBOOST, RGB, SOFTMAX, Space

OF_CLASSES = (
    "log loss,\n        with the best factor on the scores, relative to a uniform guess, plus twice the error rate; "
    "both are\n        to be small."
)


@storable_estimator
class DeepBoostClassifierCV(DelegatesToBestClassifier, ClassifierMixin, Search):
    __doc__ = described(
        "DeepBoostClassifier", "DeepBoostClassifier with a setting that cross-validation chooses.", OF_CLASSES
    )

    _tuned: ClassVar[type[Any]] = DeepBoostClassifier
    _space: ClassVar[Space] = DEEPBOOST

    objective_ = of_best("objective_")
    optimality_gap_ = of_best("optimality_gap_")
    chosen_ = of_best("chosen_")
    predict_proba = by_best(DeepBoostClassifier.predict_proba)


@storable_estimator
class RGBClassifierCV(DelegatesToBestClassifier, ClassifierMixin, Search):
    __doc__ = described("RGBClassifier", "RGBClassifier with a setting that cross-validation chooses.", OF_CLASSES)

    _tuned: ClassVar[type[Any]] = RGBClassifier
    _space: ClassVar[Space] = RGB

    chosen_ = of_best("chosen_")
    predict_proba = by_best(RGBClassifier.predict_proba)


@storable_estimator
class RGBRegressorCV(RegressorMixin, Search):
    __doc__ = described(
        "RGBRegressor",
        "RGBRegressor with a setting that cross-validation chooses.",
        "the loss of the\n        estimator, which is to be small.",
    )

    _tuned: ClassVar[type[Any]] = RGBRegressor
    _regression: ClassVar[bool] = True
    _space: ClassVar[Space] = RGB

    chosen_ = of_best("chosen_")
    predict = by_best(RGBRegressor.predict)
    staged_predict = by_best(RGBRegressor.staged_predict)
    score = by_best(RGBRegressor.score)
    explain = by_best(RGBRegressor.explain)


@storable_estimator
class SoftmaxBoostClassifierCV(DelegatesToBestClassifier, ClassifierMixin, Search):
    __doc__ = described(
        "SoftmaxBoostClassifier",
        "SoftmaxBoostClassifier with a setting that cross-validation chooses.",
        OF_CLASSES + " With costs: mean of the costs of predictions and of the rule.",
    )

    _tuned: ClassVar[type[Any]] = SoftmaxBoostClassifier
    _space: ClassVar[Space] = SOFTMAX

    cost_ = of_best("cost_")
    learning_rate_ = of_best("learning_rate_")
    decision_ = of_best("decision_")
    predict = by_best(SoftmaxBoostClassifier.predict)
    predict_proba = by_best(SoftmaxBoostClassifier.predict_proba)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, cost: Any = None, groups: Any = None) -> Self:
        """Chooses a setting, then learns from all rows with it.

        Parameters
        ----------
        X, y, sample_weight, cost :
            As in SoftmaxBoostClassifier.
        groups : array or None
            As in DeepBoostClassifierCV.
        """
        return self._search(X, y, sample_weight, groups, cost)
