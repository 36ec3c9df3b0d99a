"""Stand-ins for a model while metrics are computed: predictions for the validation rows, from known scores."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from radboost._typing import FloatArray
from radboost.boosting.metrics import Measures
from radboost.boosting.monitor import Monitor
from radboost.rows.prepare import PreparedRows


class RegressorStandIn(RegressorMixin, BaseEstimator):
    """A regressor that predicts the validation rows alone, from their scores."""

    def __init__(self, model: Any, X: Any, scores: FloatArray) -> None:
        self.model, self.X, self.scores = model, X, scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self.model._predictions(self._scores_of(X)))

    def _scores_of(self, X: Any) -> FloatArray:
        if X is not self.X:
            raise ValueError(
                "A metric of eval_metric may ask the model about the validation rows alone, with the X that it is "
                "given: their scores are known. A callback can ask about any rows (context.fitted_estimator)."
            )
        return self.scores

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()


class ClassifierStandIn(ClassifierMixin, RegressorStandIn):
    """A classifier of the same kind; its probabilities are not calibrated, which follows the last round."""

    @property
    def classes_(self) -> npt.NDArray[Any]:
        return np.asarray(self.model.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        return self._scores_of(X)

    def predict_proba(self, X: Any) -> FloatArray:
        return np.asarray(self.model._probabilities(self._scores_of(X)))


def measures_of(estimator: Any, attributes: Any, monitor: Any, prepared: PreparedRows) -> Measures:
    """The metrics of a fit; `attributes` are those of the model to be."""
    if monitor is None:
        raise ValueError(
            "eval_metric is one of validation rows, and there are none. Give X_val and y_val, or set early_stopping, "
            "which holds some rows back."
        )
    assert isinstance(monitor, Monitor)
    rows = monitor.rows
    model = copy(estimator)
    model.__dict__.update(attributes)
    # Each worker measures on the validation rows of all of them.
    gather = rows.row_weights().gather
    if prepared.classes is not None:
        model.classes_ = prepared.classes
        kind, y = ClassifierStandIn, prepared.classes[gather(rows.class_ids)]
    else:
        assert rows.targets is not None
        kind, y = RegressorStandIn, gather(rows.targets)
    weights = None if rows.weights is None else gather(rows.weights)
    X = rows.X if rows.collective is None else _columns_of_all(prepared, rows.X, len(y), gather)
    return Measures(prepared.metrics, lambda scores: kind(model, X, scores), (X, y, weights), gather)


def _columns_of_all(prepared: PreparedRows, X: Any, n_rows: int, gather: Callable[[Any], Any]) -> Any:
    """Columns of all workers' rows for a metric of the user's; none for scikit-learn's scorers, which ask the model."""
    from sklearn.metrics._scorer import _BaseScorer

    if all(isinstance(metric.scorer, _BaseScorer) for metric in prepared.metrics):
        return np.zeros((n_rows, 0))
    return gather(np.ascontiguousarray(X))
