"""Boosting with structural sparsity (Duchi and Singer, 2009) in scikit-learn's form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_real_or
from radboost.estimators._class_scores import ClassScores
from radboost.estimators._describing import TasksDescribing
from radboost.estimators._linear import Read
from radboost.estimators._predicting import of_one_fit
from radboost.estimators._sparse_fit import SparseBoost, no_columns
from radboost.export.parts import ExportedAnswer, Rule
from radboost.linear import InductionSettings
from radboost.losses import ScoreLoss
from radboost.losses.epsilon_insensitive import EpsilonInsensitiveScores
from radboost.losses.exponential import ExponentialScores
from radboost.losses.logistic import LogisticScores
from radboost.losses.multinomial import MultinomialScores
from radboost.losses.target import WeightedRows
from radboost.model_file import storable_estimator
from radboost.rows.read import Accepted, plain_labels, read_labels, read_targets
from radboost.rows.tasks import as_tasks, missing_labels, read_tasks
from radboost.rows.weights import RowWeights

# What epsilon="auto" and alpha="auto" stand for (docs/sparsity.md).
EPSILON_PER_SPREAD = 0.1
# Of all that can be induced, the best by chance is far above one feature alone.
ALPHA_PER_CHANCE, ALPHA_PER_CHANCE_INDUCED = 1.0, 2.0
# Of numbers with a normal distribution half lie within this share of a standard deviation around the median.
HALF_WITHIN = 0.6745

PARAMETERS = """
    penalty : {"l1", "l1/l2", "l1/linf", "l2", "smooth_l1"}
        What a feature pays for its weights, one for each class or task: the sum of their absolute values, their
        Euclidean length, or the largest of them. With the two mixed norms a feature enters and leaves with all its
        weights together. "l2" is half the sum of the squares, "smooth_l1" the sum of log(1 + e^w) + log(1 + e^-w), like
        squares near zero and like absolute values far out: with these two nothing becomes zero.
    alpha : float
        The price. The loss is a mean over rows, so alpha is the lambda of the paper divided by the number of rows.
    update : {"newton", "adaboost", "gradboost"}
        How weights are found; all end at the same optimum. "newton" is the fast way; the others are the paper's bounds,
        exponential (equation (8), Figures 2 and 3) and quadratic ((25), Figure 5, (35)).
    template : {"auto", "one", "all"} or int
        How many columns the paper's updates move at a time.
    family : {"given", "products", "kernel", "stumps", "trees"} or Generator
        Where features come from: the columns of X, products of columns of any degree, kernels around centres, stumps,
        trees. Of all but the columns the fit sees only what is proposed (docs/sparsity.md#where-features-come-from).
    features_per_round : int or None
        How many features enter at a time, those with the best progress bounds. None: all of them if they are a finite
        set, otherwise 8.
    totally_corrective : bool
        Whether all weights in the model are optimised after features have entered, or only those of the features that
        were chosen, by one step (sequential boosting).
    n_rounds : int or "auto"
        Most rounds: inductions, or steps of the solver where all features are there from the start. "auto" is 100
        inductions, or 1000 steps.
    tol : float
        Largest violation of the optimality conditions at the end, for columns scaled to a spread of 1.
    standardize : bool
        Whether the price is one for columns scaled to a spread of 1. False: for columns as they are.
    fit_intercept : bool
        Whether there is an intercept; it costs nothing.
    n_jobs : int or None
        Threads; None for all cores. The model does not depend on it.
    random_state : int, generator or None
        Seed of the order in which a perceptron looks for centres, and of trees.
    verbose : int
        Show a progress bar.

    Attributes
    ----------
    coef_, intercept_ : arrays
        With family="given", in the units of X and in scikit-learn's shapes.
    alpha_ : float
        The price of the fit.
    ensemble_ : SparseEnsemble
        The hypotheses and their weights; its `repr` is a formula.
    n_features_used_ : int
        Hypotheses with a weight.
    optimality_gap_ : float
        The largest violation of the termination conditions of section 8, over the features outside the model too that
        were proposed last.
    duality_gap_ : float
        The objective of this model is at most so far above the smallest one over all features that were proposed; what
        rounding may hide is added, so that it is never 0. NaN where the proposals change from round to round (products,
        trees, generators that are not `finite`) or are too many to keep.
    history_ : dict of lists, one entry per round
        "objective" and "n_features".
    stop_reason_ : str
        "optimal": no column of X can help within `tol`. "optimal among ...": none of the features that were proposed
        can, and which these were; others may. "n_rounds": there were so many. "precision": the objective does not fall
        any more in floating-point numbers.
    feature_importances_, n_iter_, n_features_in_, feature_names_in_
"""


@storable_estimator
class SparseBoostClassifier(ClassifierMixin, ClassScores, SparseBoost, BaseEstimator):
    """Logistic or exponential boosting that learns which features are worth their price, for two or more classes.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        With more than two classes "logistic" is multinomial, and the exponential loss is not there.
    class_weight : dict from labels to weights, "balanced", or None
        What rows of each class weigh, times `sample_weight`. "balanced" gives all classes the same total weight.
    """

    __doc__ = __doc__.rstrip() + PARAMETERS

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        loss: str = "logistic",
        penalty: str = "l1/l2",
        update: str = "newton",
        template: str | int = "auto",
        family: Any = "given",
        features_per_round: int | None = None,
        totally_corrective: bool = True,
        n_rounds: int | str = "auto",
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.penalty = penalty
        self.update = update
        self.template = template
        self.family = family
        self.features_per_round = features_per_round
        self.totally_corrective = totally_corrective
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _scale_of_odds(self) -> float:
        return 1.0 if self.loss_ == "logistic" else 2.0

    def _read_parameters(self) -> InductionSettings:
        check_choice("loss", self.loss, ["logistic", "exponential"])
        return super()._read_parameters()

    def _read_targets(self, y: npt.NDArray[Any]) -> FloatArray:
        self.classes_, class_ids = read_labels(y)
        self._take_parameters_of_fit()
        return class_ids[None].astype(np.float64)

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
class SparseBoostRegressor(RegressorMixin, SparseBoost, BaseEstimator):
    """Smooth epsilon-insensitive boosting (equation (39)) that learns which features are worth their price.

    A residual within epsilon costs next to nothing, and a large one its size. Where y varies by 1 or less the loss is
    much like a square, where it varies by hundreds like an absolute value.

    Parameters
    ----------
    epsilon : float or "auto"
        The width of the insensitive zone, in the unit of y. "auto": a tenth of the spread of y around its median
        (docs/sparsity.md#defaults-of-the-regressor).
    """

    __doc__ = (
        __doc__.rstrip()
        + PARAMETERS.replace("    alpha : float\n", '    alpha : float or "auto"\n', 1)
        .replace(
            "number of rows.\n",
            """number of rows.
        "auto": what a feature that has nothing to do with y is worth by chance, or twice that where features are
        induced.
""",
            1,
        )
        .rstrip()
        + """
    epsilon_ : float
        The epsilon of the fit.
"""
    )

    _accepted: ClassVar[Accepted] = Accepted(missing=False, formats=("csr", "csc"), targets="numbers")

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        epsilon: float | str = "auto",
        penalty: str = "l1",
        update: str = "newton",
        template: str | int = "auto",
        family: Any = "given",
        features_per_round: int | None = None,
        totally_corrective: bool = True,
        n_rounds: int | str = "auto",
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.penalty = penalty
        self.update = update
        self.template = template
        self.family = family
        self.features_per_round = features_per_round
        self.totally_corrective = totally_corrective
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @of_one_fit
    def predict(self, X: Any) -> FloatArray:
        """The predicted number for each row."""
        return self._scores(X)[:, 0]

    def _exported_answer(self) -> ExportedAnswer:
        return ExportedAnswer()

    def _read_parameters(self) -> InductionSettings:
        check_real_or(["auto"], "epsilon", self.epsilon, low=0.0)
        return super()._read_parameters()

    def _read_targets(self, y: npt.NDArray[Any]) -> FloatArray:
        return read_targets(y).reshape(1, -1)

    def _take_units(self, labels: FloatArray, weights: FloatArray) -> None:
        automatic = isinstance(self.epsilon, str)
        self.epsilon_ = EPSILON_PER_SPREAD * spread_of(labels[0], weights) if automatic else float(self.epsilon)

    def _alpha(self) -> float:
        check_real_or(["auto"], "alpha", self.alpha, low=0.0)
        return 0.0 if isinstance(self.alpha, str) else float(self.alpha)

    def _alpha_for(self, read: Read, settings: InductionSettings) -> float:
        """With "auto" the slopes of the loss at the empty model, and how far a random column follows them.

        A column of spread 1 that knows nothing of y has a slope with a mean of zero and a standard deviation of the
        root mean square of the rows' slopes, divided by the root of their number.
        """
        if not isinstance(self.alpha, str):
            return settings.alpha
        start = settings.problem(no_columns(read), read.loss, read.row_weights, 1.0).start()
        square = float(read.row_weights @ read.loss.gradient(start.scores)[0] ** 2)
        share = ALPHA_PER_CHANCE if self._solves_at_once() else ALPHA_PER_CHANCE_INDUCED
        return float(share * np.sqrt(square / read.total_weight))

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
class MultiTaskSparseBoostClassifier(ClassifierMixin, TasksDescribing, SparseBoost, BaseEstimator):
    """Several tasks with two classes each, which share the features they pay for (equation (3)).

    y has a column for each task, with two labels of any kind in it, for example -1 and +1; NaN is a missing label. A y
    without columns is one task, and answers have no columns then either.

    Parameters
    ----------
    """

    __doc__ = (
        __doc__.rstrip()
        + PARAMETERS.rstrip()
        + """
    classes_ : array, or list of arrays
        The two labels, if they are the same for all tasks; otherwise those of each.
    task_labels_ : list of arrays
        The two labels of each task.
"""
    )

    _learns_tasks: ClassVar[bool] = True
    _accepted: ClassVar[Accepted] = Accepted(missing=False, formats=("csr", "csc"), targets="tasks")

    classes_: npt.NDArray[Any] | list[npt.NDArray[Any]]
    task_labels_: list[npt.NDArray[Any]]

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        penalty: str = "l1/l2",
        update: str = "newton",
        template: str | int = "auto",
        family: Any = "given",
        features_per_round: int | None = None,
        totally_corrective: bool = True,
        n_rounds: int | str = "auto",
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.update = update
        self.template = template
        self.family = family
        self.features_per_round = features_per_round
        self.totally_corrective = totally_corrective
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        """The mean share of right labels over all tasks; missing labels do not count."""
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

    def _exported_answer(self) -> ExportedAnswer:
        if self._one_task:
            return ExportedAnswer(tuple(self.task_labels_[0]), Rule("logistic"))
        return ExportedAnswer(tasks=tuple(map(tuple, self.task_labels_)))

    def _read_targets(self, y: npt.NDArray[Any]) -> FloatArray:
        labels, signs = read_tasks(as_tasks(y))
        self._take_tasks(labels, y.ndim == 1)
        return signs

    def _take_tasks(self, task_labels: list[npt.NDArray[Any]], one_task: bool) -> None:
        """Remembers the two labels of each task, and whether answers have no columns."""
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
