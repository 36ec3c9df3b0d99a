"""Predictions whose scores begin at an offset: classifiers that take one in `fit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.estimators._predicting import PredictingMixin, of_one_fit
from radboost.rows.offsets import read_offset


def begun_at(offset: Any, scores: FloatArray) -> FloatArray:
    """Scores of a model, with what the rows begin at added."""
    given = read_offset(offset, len(scores), 1 if scores.ndim == 1 else scores.shape[1])
    return scores if given is None else scores + given


class OffsetMixin(PredictingMixin):
    """The predicting side of a classifier whose rows may have offsets.

    `offset` of a method: scores that are added to those of the model, which does not keep the offsets of its fit; one
    number for each row, with more than two classes a line of numbers.
    """

    _takes_offset: ClassVar[bool] = True

    @of_one_fit
    def decision_function(self, X: Any, offset: Any = None) -> FloatArray:
        """The scores f(x), plus the offset: the larger, the clearer.

        With two classes one number per row, positive for the second class. With more an array of shape
        (n_rows, n_classes); the class with the largest score is predicted. `offset` has the same shape.
        """
        self._check_takes(offset)
        return begun_at(offset, super().decision_function(X))

    @of_one_fit
    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[FloatArray]:
        """The scores after each round."""
        self._check_takes(offset)
        stages = super().staged_decision_function(X)
        return stages if offset is None else (begun_at(offset, scores) for scores in stages)

    @of_one_fit
    def predict(self, X: Any, offset: Any = None) -> npt.NDArray[Any]:
        """The label of each row."""
        return super().predict(X) if offset is None else self._answers(self.decision_function(X, offset))

    @of_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[npt.NDArray[Any]]:
        """The label of each row after each round."""
        yield from map(self._answers, self.staged_decision_function(X, offset))

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes, by the scores that minimise the expected loss (docs/theory.md).

        With two classes p = Phi'(1+f) / (Phi'(1-f) + Phi'(1+f)) for the second: a row of probability p minimises
        p Phi(1 - f) + (1 - p) Phi(1 + f), and its derivative is zero at this p. With more each objective has a map of
        its own; those of "max" and "maxsum" do not exist, and they use that of "compsum". A model of few rounds has few
        hypotheses behind its scores, and its probabilities are still close to each other, unless they are calibrated:
        `calibration_`, where there is one, says by how much scores are divided first (docs/probabilities.md).
        """
        return self._calibrated(self.decision_function(X, offset))

    @of_one_fit
    def staged_predict_proba(self, X: Any, offset: Any = None) -> Iterator[FloatArray]:
        """Probabilities after each round, with the calibration of the last."""
        yield from map(self._calibrated, self.staged_decision_function(X, offset))

    @of_one_fit
    def predict_log_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Logarithms of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, offset)), dtype=np.float64)

    @of_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """The share of the rows that are predicted rightly."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _check_takes(self, offset: Any) -> None:
        if offset is not None and not self._takes_offset:
            raise TypeError(f"{type(self).__name__} takes no offset; DeepBoostClassifier and RGBClassifier do.")
