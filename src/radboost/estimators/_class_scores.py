"""Labels and probabilities from scores, for the linear classifiers and AgnosticBoostClassifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from radboost._typing import FloatArray
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output
from radboost.export.parts import ExportedOutput
from radboost.losses.link import Link


class ClassScores:
    """Predictions of a classifier with one score for two classes, otherwise one for each."""

    classes_: npt.NDArray[Any]
    _scores: Callable[[Any], FloatArray]  # shape (n_rows, n_outputs)

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    @of_one_fit
    def decision_function(self, X: Any) -> FloatArray:
        """The scores: one number per row with two classes, positive for the second; otherwise one for each class."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row."""
        return self._predictions(self.decision_function(X))

    @of_one_fit
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, for which the scores minimize the expected loss."""
        return self._calibrated(self.decision_function(X))

    @of_one_fit
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)), dtype=np.float64)

    def _predictions(self, scores: FloatArray) -> npt.NDArray[Any]:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        best = scores > 0.0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best.astype(np.intp)]

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return probabilities_from(scores[:, None] if scores.ndim == 1 else scores, self._scale_of_odds())

    def _exported_output(self) -> ExportedOutput:
        return class_output(self, Link("logistic" if len(self.classes_) == 2 else "softmax", self._scale_of_odds()))

    def _scale_of_odds(self) -> float:
        """Factor from scores to logarithms of odds."""
        return 1.0


def probabilities_from(scores: FloatArray, scale: float = 1.0) -> FloatArray:
    """Probabilities, shape (n_rows, n_classes): softmax of scores; with one score per row logistic of scale * score."""
    if scores.shape[1] > 1:
        return np.asarray(softmax(scores, axis=1))
    second = expit(scale * scores)
    return np.hstack([1.0 - second, second])
