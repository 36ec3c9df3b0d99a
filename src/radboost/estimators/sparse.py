"""Boosting with structural sparsity (Duchi and Singer, 2009) in scikit-learn's form."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_real_or
from radboost.estimators._class_scores import ClassScores
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._linear import Read
from radboost.estimators._naming import with_constructor
from radboost.estimators._sparse_fit import SparseBoost, no_columns
from radboost.explain.build import RowPrediction, prediction_of_task
from radboost.explain.explanation import Explanation
from radboost.export.parts import ExportedOutput
from radboost.linear.induction import InductionSettings
from radboost.losses import SCORE_LOSSES, ScoreLoss
from radboost.losses.epsilon_insensitive import EpsilonInsensitiveScores
from radboost.losses.exponential import ExponentialScores
from radboost.losses.link import Link
from radboost.losses.logistic import LogisticScores
from radboost.losses.multinomial import MultinomialScores
from radboost.losses.target import WeightedRows
from radboost.model_file import storable_estimator
from radboost.rows.prepare import CheckedRows
from radboost.rows.read import Accepted, plain_labels
from radboost.rows.tasks import as_tasks, missing_labels, read_tasks
from radboost.rows.weights import RowWeights

# What epsilon="auto" and alpha="auto" stand for (docs/sparsity.md).
EPSILON_PER_SPREAD = 0.1
# Of all that can be induced, the best by chance is far above one feature alone.
ALPHA_PER_CHANCE, ALPHA_PER_CHANCE_INDUCED = 1.0, 2.0
# Half of a normal distribution lies within this fraction of a standard deviation around the median.
HALF_WITHIN = 0.6745


@storable_estimator
@described_like(SparseBoost)
@with_constructor
class SparseBoostClassifier(ClassifierMixin, ClassScores, SparseBoost):
    """Logistic or exponential boosting that learns which features are worth their price, for two or more classes.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        With more than two classes "logistic" is multinomial, and the exponential loss is not there.
    class_weight : dict from labels to weights, "balanced", or None
        What rows of each class weigh, times `sample_weight`. "balanced" gives all classes the same total weight.
    """

    loss: str = "logistic"
    class_weight: Any = None

    def _scale_of_odds(self) -> float:
        link = SCORE_LOSSES[self.loss_].link
        return 1.0 if link is None else link.scale

    def _read_parameters(self) -> InductionSettings:
        check_choice("loss", self.loss, ["logistic", "exponential"])
        return super()._read_parameters()

    def _read_targets(self, training: CheckedRows) -> FloatArray:
        self.classes_ = training.classes_with_warning()
        self._take_parameters_of_fit()
        return training.class_ids[None].astype(np.float64)

    def _make_loss(self, labels: FloatArray) -> ScoreLoss:
        n_classes = len(self.classes_)
        if n_classes > 2:
            return MultinomialScores(labels[0].astype(np.uint16), n_classes)
        return (LogisticScores if self.loss == "logistic" else ExponentialScores)(2.0 * labels - 1.0)

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {"loss": self.loss_}

    def _take_parameters_of_fit(self) -> None:
        if len(self.classes_) > 2 and self.loss == "exponential":
            raise ValueError(
                f'loss="exponential" is for two classes, and y holds {len(self.classes_)}. Use loss="logistic".'
            )
        self.loss_ = self.loss

    def _output_names(self) -> list[str] | None:
        return [str(label) for label in self.classes_] if len(self.classes_) > 2 else None


@storable_estimator
@described_like(SparseBoost)
@with_constructor
class SparseBoostRegressor(RegressorMixin, SparseBoost):
    """Smooth epsilon-insensitive boosting (equation (39)) that learns which features are worth their price.

    A residual within epsilon costs next to nothing, and a large one its size. Where y varies by 1 or less the loss is
    much like a square, where it varies by hundreds like an absolute value.

    Parameters
    ----------
    epsilon : float or "auto"
        The width of the insensitive zone, in the unit of y. "auto": a tenth of the spread of y around its median
        (docs/sparsity.md#defaults-of-the-regressor).
    alpha : float or "auto"
        The price. The loss is a mean over rows, so alpha is the lambda of the paper divided by the number of rows.
        "auto": the expected gain of a feature that is independent of y, or twice that where features are induced.

    Attributes
    ----------
    epsilon_ : float
        The epsilon of the fit.
    """

    alpha: float | str = field(default="auto", kw_only=False)
    penalty: str = "l1"
    epsilon: float | str = "auto"

    _accepted: ClassVar[Accepted] = Accepted(missing=False, formats=("csr", "csc"), targets="numbers")

    @of_one_fit
    def predict(self, X: Any) -> FloatArray:
        """The predicted number for each row."""
        return self._scores(X)[:, 0]

    def _exported_output(self) -> ExportedOutput:
        return ExportedOutput()

    def _read_parameters(self) -> InductionSettings:
        check_real_or(["auto"], "epsilon", self.epsilon, low=0.0)
        return super()._read_parameters()

    def _read_targets(self, training: CheckedRows) -> FloatArray:
        return training.labels.reshape(1, -1)

    def _take_units(self, labels: FloatArray, weights: FloatArray) -> None:
        automatic = isinstance(self.epsilon, str)
        self.epsilon_ = EPSILON_PER_SPREAD * spread_of(labels[0], weights) if automatic else float(self.epsilon)

    def _alpha(self) -> float:
        check_real_or(["auto"], "alpha", self.alpha, low=0.0)
        return 0.0 if isinstance(self.alpha, str) else float(self.alpha)

    def _alpha_for(self, read: Read, settings: InductionSettings) -> float:
        """The price; with "auto" the expected slope of a random column at the empty model."""
        # A column of spread 1 that is independent of y has a slope of mean zero. Its standard deviation is the root
        # mean square of the loss's derivative over the rows, divided by the root of their number.
        if not isinstance(self.alpha, str):
            return settings.alpha
        start = settings.problem(no_columns(read), read.loss, read.row_weights, 1.0).start()
        square = float(read.row_weights @ read.loss.gradient(start.scores)[0] ** 2)
        factor = ALPHA_PER_CHANCE if self._solves_at_once() else ALPHA_PER_CHANCE_INDUCED
        return float(factor * np.sqrt(square / read.total_weight))

    def _make_loss(self, labels: FloatArray) -> ScoreLoss:
        return EpsilonInsensitiveScores(labels[0], self.epsilon_)

    def _shaped(self, weights: FloatArray, intercept: FloatArray) -> tuple[FloatArray, Any]:
        return weights[:, 0].copy(), float(intercept[0])


def spread_of(targets: FloatArray, weights: FloatArray) -> float:
    """The median distance from the median, as a standard deviation of normal numbers; the same for every order."""
    row_weights = RowWeights(weights, len(targets))
    rows = WeightedRows(targets, weights, row_weights.mean)
    median = rows.quantile(0.5)
    spread = rows.quantile(0.5, lambda targets: np.abs(targets - median)) / HALF_WITHIN
    if spread == 0.0:  # half of the targets are the same number
        spread = row_weights.mean(np.abs(targets - median))
    return spread if spread > 0.0 else 1.0


@storable_estimator
@described_like(SparseBoost)
class MultiTaskSparseBoostClassifier(ClassifierMixin, SparseBoost):
    """Several tasks with two classes each, which share the features they pay for (equation (3)).

    y has a column for each task, with two labels of any kind in it, for example -1 and +1; NaN is a missing label. A y
    without columns is one task, and predictions have no columns then either.

    Attributes
    ----------
    classes_ : array, or list of arrays
        The two labels, if they are the same for all tasks; otherwise those of each.
    task_labels_ : list of arrays
        The two labels of each task.
    """

    _learns_tasks: ClassVar[bool] = True
    _accepted: ClassVar[Accepted] = Accepted(missing=False, formats=("csr", "csc"), targets="tasks")

    classes_: npt.NDArray[Any] | list[npt.NDArray[Any]]
    task_labels_: list[npt.NDArray[Any]]

    @of_one_fit
    def decision_function(self, X: Any) -> FloatArray:
        """The score of each row and task; positive for the larger label of the task."""
        scores = self._scores(X)
        return scores[:, 0] if self._one_task else scores

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row and task."""
        above = (self._scores(X) > 0.0).astype(np.intp)
        if self._one_task:
            return self.task_labels_[0][above[:, 0]]
        return np.column_stack([labels[column] for labels, column in zip(self.task_labels_, above.T, strict=True)])

    @of_one_fit
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of the larger label of each row and task; of both labels where y had no columns."""
        larger = np.asarray(expit(self._scores(X)))
        return np.hstack([1.0 - larger, larger]) if self._one_task else larger

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean accuracy over all tasks; missing labels do not count."""
        tasks, predicted = as_tasks(y), as_tasks(self.predict(X))
        if tasks.shape != predicted.shape:
            raise ValueError(
                f"y must have a label for each of {predicted.shape[0]} rows and {predicted.shape[1]} tasks; it has the "
                f"shape {tasks.shape}."
            )
        known = ~missing_labels(tasks)
        right = np.zeros(tasks.shape, dtype=bool)
        for task, rows in enumerate(known.T):
            right[rows, task] = predicted[rows, task] == plain_labels(tasks[rows, task])
        counts = known * (1.0 if sample_weight is None else np.asarray(sample_weight)[:, None])
        if not counts.any():
            raise ValueError("All labels in y are missing or have no weight: there is nothing to score.")
        return float((right * counts).sum() / counts.sum())

    @of_one_fit
    @described_like(SparseBoost.explain)
    def explain(self, x: Any, *, task: int | None = None) -> Explanation:
        """Why the model predicts this for one row: the terms of the formula of a task.

        Parameters
        ----------
        task : int or None
            The column of y that is explained; None is for models of one task.
        """
        check_is_fitted(self)
        n_tasks = len(self.task_labels_)
        if task is None and n_tasks > 1:
            raise ValueError(f"The model has {n_tasks} tasks; say which one to explain: explain(x, task=0).")
        return self._explain(x, 0 if task is None else check_integer("task", task, 0, n_tasks - 1))

    def _verdict(self, table: Any, scores: FloatArray, output: int) -> RowPrediction:
        score, labels = scores[[output]], self.task_labels_[output].tolist()
        larger = float(expit(score[0]))
        return prediction_of_task(score, labels, np.array([1.0 - larger, larger]), output, len(scores))

    def _exported_output(self) -> ExportedOutput:
        if self._one_task:
            return ExportedOutput(tuple(self.task_labels_[0]), Link("logistic"))
        return ExportedOutput(tasks=tuple(map(tuple, self.task_labels_)))

    def _read_targets(self, training: CheckedRows) -> FloatArray:
        labels, signs = read_tasks(as_tasks(training.labels))
        self._take_tasks(labels, training.labels.ndim == 1)
        return signs

    def _take_tasks(self, task_labels: list[npt.NDArray[Any]], one_task: bool) -> None:
        """Keep the two labels of each task, and whether predictions have no columns."""
        alike = all(np.array_equal(labels, task_labels[0]) for labels in task_labels)
        self.classes_ = task_labels[0] if alike else task_labels
        self.task_labels_, self._one_task = task_labels, one_task

    def _make_loss(self, labels: FloatArray) -> ScoreLoss:
        return LogisticScores(np.nan_to_num(labels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
