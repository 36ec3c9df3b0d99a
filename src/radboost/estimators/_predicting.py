"""Predictions of boosted classifiers: scores, labels and probabilities, also after each round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.metadata_routing import UNUSED

from radboost._typing import FloatArray
from radboost.calibration import Calibration
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_answer, margin_link
from radboost.estimators._trees_model import TreesModel
from radboost.export.parts import ExportedAnswer
from radboost.losses import MarginLoss, get_loss
from radboost.model_file import ModelFileError, NotStored
from radboost.objectives import OBJECTIVES, resolve_objective, row_cost
from radboost.rows.offsets import read_offset


def begun_at(offset: Any, scores: FloatArray) -> FloatArray:
    """Scores of a model plus the offset; None: the scores."""
    given = read_offset(offset, len(scores), 1 if scores.ndim == 1 else scores.shape[1])
    return scores if given is None else scores + given


class PredictingMixin(TreesModel):
    """Predictions of a classifier, for two classes (one score per row) and for more (one per row and class).

    `offset` of a method: scores that are added to those of the model, which does not keep the offsets of its fit; one
    number for each row, with more than two classes an array of shape (n_rows, n_classes).
    """

    _stores_objective: ClassVar[bool] = True
    _takes_offset: ClassVar[bool] = True

    classes_: npt.NDArray[Any]
    loss_: Any  # a name or an object: each estimator has losses of its own kind
    objective_: str
    loss: Any
    calibration_: Calibration | None = None

    def __init_subclass__(cls, **others: Any) -> None:
        if not cls._takes_offset:  # nothing that scikit-learn could route
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
        if offset is not None:
            return self._answers(self.decision_function(X, offset))
        # The scores of many classes need not be in memory all at once.
        blocks = self._scores_by_block(X, n_outputs=self.ensemble_.n_outputs)
        return np.concatenate([self._answers(scores) for scores in blocks])

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
        """Accuracy: the fraction of the rows that are predicted rightly."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _check_takes(self, offset: Any) -> None:
        if offset is not None and not self._takes_offset:
            raise TypeError(f"{type(self).__name__} takes no offset; DeepBoostClassifier and RGBClassifier do.")

    def _answers(self, scores: FloatArray) -> npt.NDArray[Any]:
        """The labels that `predict` makes of scores."""
        # Of equal scores the first class wins, as it does at f(x) = 0 with two classes.
        best = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best.astype(np.intp)]

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        found = self.calibration_
        return self._probabilities(scores) if found is None else found.apply(self._probabilities, scores)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return row_cost(self.objective_, len(self.classes_)).probabilities(self._loss_of_fit(), scores)

    def _loss_of_fit(self) -> MarginLoss:
        """The loss of the fit, whatever the parameter says by now; a user's own is not in a file and comes back."""
        return get_loss(self.loss if isinstance(self.loss_, NotStored) else self.loss_)

    def _exported_answer(self) -> ExportedAnswer:
        loss = None if isinstance(self.loss_, NotStored) else get_loss(self.loss_)
        return class_answer(self, margin_link(self.objective_, loss, len(self.classes_)))

    def _parameters_of_fit(self) -> dict[str, Any]:
        """Parameters that predictions depend on, as they were in the fit; a file keeps these."""
        return {"loss": self.loss_}

    def _take_parameters_of_fit(self) -> None:
        """Called when the parameters and classes of a file are in place."""
        self.loss_ = self.loss

    def _take_objective(self, name: Any) -> None:
        """The objective that a file names. A loss of the user's own is not in the file, and goes with any of them."""
        if not isinstance(name, str) or name not in OBJECTIVES:
            raise ModelFileError(f"its objective is {str(name)[:40]!r}, and known are {', '.join(OBJECTIVES)}.")
        self.objective_ = resolve_objective(name, self.loss) if isinstance(self.loss, str) else name
