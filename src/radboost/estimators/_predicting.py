"""What a fitted model answers: scores, labels, probabilities, importances, a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from radboost._typing import Category, FloatArray
from radboost._validation import resolve_n_jobs
from radboost.calibration import Calibration
from radboost.ensemble import Ensemble
from radboost.estimators._exporting import class_answer, margin_rule
from radboost.estimators._naming import CHECKED, check_prediction_names
from radboost.estimators._saving import SavingMixin
from radboost.export.parts import ExportedAnswer, ScoreSum, refuse_model, sum_of_trees
from radboost.losses import MarginLoss, get_loss
from radboost.model_file import ModelFileError, NotStored
from radboost.objectives import OBJECTIVES, resolve_objective, row_cost
from radboost.rows.read import dense_rows, read_matrix, row_blocks

Model = TypeVar("Model")
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def of_one_fit(method: Callable[Concatenate[Model, Given], Answer]) -> Callable[Concatenate[Model, Given], Answer]:
    """Lets a method that reads several attributes of a fitted estimator see those of one fit.

    `fit` replaces the dict of the attributes as a whole, perhaps in another thread and between two of the reads. The
    method gets an estimator that keeps the dict which was there when it was called. Arguments that it does not have are
    refused with what other libraries mean by them.
    """

    @wraps(method)
    def of_the_fit_there_is(self: Model, /, *arguments: Given.args, **named: Given.kwargs) -> Answer:
        if named:
            check_prediction_names(method, self, named)
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__
        return method(view, *arguments, **named)

    setattr(of_the_fit_there_is, CHECKED, True)
    return of_the_fit_there_is


class ScoringMixin(SavingMixin):
    """Scores, importances and files: for classifiers and regressors alike."""

    # Whether the model is one of an objective and a loss, which its probabilities follow from.
    _stores_objective: ClassVar[bool] = False
    _kind_of_file: ClassVar[str] = "boosted"
    # What `chosen_` says of a fit, where there is one, and which of it are words.
    _chosen: ClassVar[tuple[str, ...]] = ()
    _chosen_words: ClassVar[tuple[str, ...]] = ("thresholds", "leaves")
    # What `ensemble_` is; its `from_arrays` reads that of a model file.
    _type_of_ensemble: ClassVar[type[Any]] = Ensemble

    ensemble_: Ensemble
    n_jobs: int | None

    def _exported_scores(self) -> ScoreSum:
        if not isinstance(self.ensemble_, Ensemble):
            refuse_model(type(self).__name__, f"its {type(self.ensemble_).__name__} is no sum of trees")
        return sum_of_trees(self.ensemble_)

    def _name_classes(self) -> None:
        """Lets the trees of the ensemble say the labels that they vote for, or that they answer for targets."""
        names, classes = getattr(self.ensemble_, "names", None), getattr(self, "classes_", None)
        if names is not None and classes is not None:
            names.classes = tuple(classes.tolist())
        elif names is not None:
            names.outputs = "targets"

    @property
    @of_one_fit
    def categories_(self) -> dict[int, tuple[Category, ...]]:
        """For each categorical column, by its index, the sorted categories of the training rows."""
        check_is_fitted(self)
        return self.ensemble_.categories

    @property
    @of_one_fit
    def feature_importances_(self) -> FloatArray:
        """Gain of the splits on each feature, weighted like their trees; the shares sum to 1."""
        self._require_fitted()
        return self.ensemble_.feature_importances()

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises; asking it first would cost a tenth of a short prediction

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def _scores_by_block(self, X: Any, n_outputs: int = 1) -> Iterator[FloatArray]:
        self._require_fitted()
        n_threads = resolve_n_jobs(self.n_jobs)
        for block in row_blocks(read_matrix(self, X, self.ensemble_.categories), n_outputs, len(self.ensemble_)):
            yield self.ensemble_.decision_function(dense_rows(block), n_threads)

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        self._require_fitted()
        rows = dense_rows(read_matrix(self, X, self.ensemble_.categories))
        yield from self.ensemble_.staged_decision_function(rows, resolve_n_jobs(self.n_jobs))


class PredictingMixin(ScoringMixin):
    """The predicting side of a classifier, for two classes (one score per row) and for more (one per row and class)."""

    _stores_objective: ClassVar[bool] = True

    classes_: npt.NDArray[Any]
    loss_: Any  # a name or an object: each estimator has losses of its own kind
    objective_: str
    loss: Any
    calibration_: Calibration | None = None

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    @of_one_fit
    def decision_function(self, X: Any) -> FloatArray:
        """The scores f(x): the larger, the clearer.

        With two classes one number per row, positive for the second class. With more an array of shape
        (n_rows, n_classes); the class with the largest score is predicted.
        """
        blocks = list(self._scores_by_block(X))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    @of_one_fit
    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The scores after each round."""
        return self._staged_scores(X)

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row."""
        self._require_fitted()
        # The scores of many classes need not be in memory all at once.
        blocks = self._scores_by_block(X, n_outputs=self.ensemble_.n_outputs)
        return np.concatenate([self._answers(scores) for scores in blocks])

    @of_one_fit
    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """The label of each row after each round."""
        yield from map(self._answers, self.staged_decision_function(X))

    @of_one_fit
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, by the scores that minimise the expected loss (docs/theory.md).

        With two classes p = Phi'(1+f) / (Phi'(1-f) + Phi'(1+f)) for the second: a row of probability p minimises
        p Phi(1 - f) + (1 - p) Phi(1 + f), and its derivative is zero at this p. With more each objective has a map of
        its own; those of "max" and "maxsum" do not exist, and they use that of "compsum". A model of few rounds has few
        hypotheses behind its scores, and its probabilities are still close to each other, unless they are calibrated:
        `calibration_`, where there is one, says by how much scores are divided first (docs/probabilities.md).
        """
        return self._calibrated(self.decision_function(X))

    @of_one_fit
    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Probabilities after each round, with the calibration of the last."""
        yield from map(self._calibrated, self.staged_decision_function(X))

    @of_one_fit
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)), dtype=np.float64)

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
        return class_answer(self, margin_rule(self.objective_, loss, len(self.classes_)))

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
