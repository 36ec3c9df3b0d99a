"""Predictions of boosted classifiers: scores, labels and probabilities, also after each round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.metadata_routing import UNUSED

from radboost._typing import FloatArray
from radboost.calibration import Calibration
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._trees_model import TreesModel
from radboost.rows.offsets import read_offset


def begun_at(offset: Any, scores: FloatArray) -> FloatArray:
    """Scores of a model plus the offset, if there is one."""
    given = read_offset(offset, len(scores), 1 if scores.ndim == 1 else scores.shape[1])
    return scores if given is None else scores + given


def labels_and_probabilities(model: Any, X: Any) -> tuple[npt.NDArray[Any], FloatArray]:
    """`predict` and `predict_proba` of a classifier, from the scores of one pass over the rows."""
    scores = model.decision_function(X)
    return model._predictions(scores), model._calibrated(scores)


class PredictingMixin(TreesModel):
    """Predictions of a classifier, for two classes (one score per row) and for more (one per row and class).

    Methods take an `offset`, which is added to the scores: shape (n_rows,), with more than two classes
    (n_rows, n_classes). A model does not keep the offsets of its fit.
    """

    _takes_offset: ClassVar[bool] = True

    classes_: npt.NDArray[Any]
    calibration_: Calibration | None = None

    def __init_subclass__(cls, **others: Any) -> None:
        if not cls._takes_offset:  # no metadata for scikit-learn to route
            for method in ("decision_function", "predict", "predict_proba", "predict_log_proba", "score"):
                setattr(cls, f"__metadata_request__{method}", {"offset": UNUSED})
        super().__init_subclass__(**others)

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    @of_one_fit
    def decision_function(self, X: Any, offset: Any = None) -> FloatArray:
        """The scores f(x), plus the offset: the larger, the clearer.

        With two classes one number per row, positive for the second class. With more an array of shape
        (n_rows, n_classes); the class with the largest score is predicted. `offset` has the same shape.
        """
        self._check_takes(offset)
        blocks = list(self._scores_by_block(X))
        return begun_at(offset, blocks[0] if len(blocks) == 1 else np.concatenate(blocks))

    @of_one_fit
    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[FloatArray]:
        """The scores after each round."""
        self._check_takes(offset)
        stages = self._staged_scores(X)
        return stages if offset is None else (begun_at(offset, scores) for scores in stages)

    @of_one_fit
    def predict(self, X: Any, offset: Any = None) -> npt.NDArray[Any]:
        """The label of each row."""
        self._require_fitted()
        decide = self._decision()
        if offset is not None:
            return np.asarray(self.classes_[decide(self.decision_function(X, offset))])
        # The scores of many classes need not be in memory all at once.
        blocks = self._scores_by_block(X, n_outputs=self.ensemble_.n_outputs)
        return np.concatenate([self.classes_[decide(scores)] for scores in blocks])

    @of_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[npt.NDArray[Any]]:
        """The label of each row after each round."""
        yield from map(self._predictions, self.staged_decision_function(X, offset))

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes (docs/probabilities.md).

        A model of few rounds has few hypotheses behind its scores, and its probabilities are close to each other
        unless they are calibrated. `calibration_`, where there is one, says by how much scores are divided first.
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
        """Accuracy: the fraction of rows whose label is right."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _check_takes(self, offset: Any) -> None:
        if offset is not None and not self._takes_offset:
            raise TypeError(f"{type(self).__name__} takes no offset; DeepBoostClassifier and RGBClassifier do.")

    def _predictions(self, scores: FloatArray) -> npt.NDArray[Any]:
        return np.asarray(self.classes_[self._decision()(scores)])

    def _decision(self) -> Callable[[FloatArray], npt.NDArray[np.intp]]:
        """Function from scores to indices of classes."""
        # Of equal scores the first class wins, as it does at f(x) = 0 with two classes.
        return lambda scores: scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        calibration = self.calibration_
        return self._probabilities(scores) if calibration is None else calibration.apply(self._probabilities, scores)

    @abstractmethod
    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Probabilities before any calibration, from scores; shape (n_rows, n_classes)."""
