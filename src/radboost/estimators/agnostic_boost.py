"""Boosted trees judged by several losses: ALMO on the engine of gradient boosting."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real
from radboost.boosting.monitor import EarlyStopping
from radboost.engine import current
from radboost.estimators._class_scores import chances
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_answer
from radboost.estimators._gradient_boosting import GradientBoosting, TargetWatch
from radboost.estimators._learning import FitSettings
from radboost.estimators._predicting import PredictingMixin
from radboost.export.parts import ExportedAnswer
from radboost.families import TreeFamilies
from radboost.losses import TargetLoss
from radboost.losses.link import Link
from radboost.losses.model_evaluation import check_evaluation_losses
from radboost.model_file import ModelFileError, storable_estimator
from radboost.model_file.sections import json_array, read_json_array
from radboost.objectives.over_sources import agnostic, read_mixtures, vertices_of
from radboost.objectives.several_losses import SeveralLosses, SeveralLossRows
from radboost.objectives.targets import LossRows
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.weights import RowWeights
from radboost.trees import TreeOptions


class AgnosticWatch(TargetWatch):
    """The worst mixture of the losses on rows that it does not learn from."""

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        _, wrong = super().evaluate(scores)
        several: Any = self._loss
        return several.values(several.of(self._targets), scores), wrong

    def _mean(self, values: npt.NDArray[Any]) -> float:
        if values.ndim == 1:
            return super()._mean(values)
        several: Any = self._loss
        means = np.array([super(AgnosticWatch, self)._mean(np.ascontiguousarray(column)) for column in values.T])
        return agnostic(means, several.vertices)


@storable_estimator
class AgnosticBoostClassifier(PredictingMixin, ClassifierMixin, GradientBoosting):
    """Gradient boosting that minimises the worst mixture of several losses, for two classes and for more.

    The losses and their units are those of `AgnosticClassifier` (Storcheus, PhD thesis, NYU 2021, chapter 5), the trees
    those of `RGBClassifier`. What is lowered is the soft maximum log(sum of exp(mu L_k)) / mu, which no round raises
    where the losses are convex; it is at most log(number of losses) / mu above the maximum.

    Parameters
    ----------
    n_rounds : int
        Rounds of boosting, at most.
    losses, mixtures : as for `AgnosticClassifier`
    mu : float
        The larger, the closer to the maximum.
    family, n_candidates, complexity_penalty, learning_rate, subsample, categorical_features, class_weight,
    early_stopping, warm_start, n_jobs, random_state, verbose, tree_options : as for `RGBClassifier`

    Attributes
    ----------
    mixture_ : dict
        lambda at the end: which losses are worst.
    loss_values_ : dict
        The losses on the training rows, divided by their units.
    agnostic_loss_ : float
        The worst mixture of them.
    history_ : dict of lists, one entry per round
        As for `RGBClassifier`, "objective" being the soft maximum; and "loss[name]" and "mixture[name]" of each loss.
    classes_, ensemble_, n_iter_, best_iteration_, best_score_, stop_reason_, feature_importances_, categories_,
    n_features_in_, feature_names_in_ : as for `RGBClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from radboost import AgnosticBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AgnosticBoostClassifier(50, losses=("cross_entropy", "hinge")).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _stores_objective: ClassVar[bool] = False
    _regression: ClassVar[bool] = False
    _type_of_watch: ClassVar[type[TargetWatch]] = AgnosticWatch
    # Of RGB, and no parameters here.
    loss = "auto"
    step = "line_search"

    def __init__(
        self,
        n_rounds: int = 200,
        *,
        losses: Any = ("cross_entropy", "hinge", "zero_one", "l1"),
        mixtures: Any = None,
        mu: float = 20.0,
        family: TreeFamilies | None = None,
        n_candidates: int = 7,
        complexity_penalty: float = 0.3,
        learning_rate: float | str = "auto",
        subsample: float = 0.5,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: bool | int | EarlyStopping = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        tree_options: TreeOptions | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.losses = losses
        self.mixtures = mixtures
        self.mu = mu
        self.family = family
        self.n_candidates = n_candidates
        self.complexity_penalty = complexity_penalty
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.tree_options = tree_options

    def _read_parameters(self) -> FitSettings:
        check_real("mu", self.mu, low=0.0, open_low=True)
        check_integer("n_rounds", self.n_rounds, 1)  # RGB's "auto" looks at one loss
        check_real("subsample", self.subsample, low=0.0, high=1.0, open_low=True)
        return super()._read_parameters()

    def _several(self, n_classes: int) -> SeveralLosses:
        losses = check_evaluation_losses(self.losses)
        mixtures = read_mixtures(self.mixtures)
        if mixtures.penalty > 0.0:
            raise ValueError("The penalty of Mixtures is about numbers of rows; a mixture of losses has none.")
        vertices = vertices_of(mixtures, np.array([name for name, _ in losses]), "losses")
        return SeveralLosses(losses, n_classes, vertices, float(self.mu))

    def _read_loss(self) -> TargetLoss:
        return self._several(2)

    def _name_of_loss(self) -> str | TargetLoss:
        return ", ".join(name for name, _ in check_evaluation_losses(self.losses))

    def _resolve_loss(self, rows: CheckedRows | PreparedRows) -> tuple[TargetLoss, int]:
        n_classes = len(rows.known_classes)
        return self._several(n_classes), 1 if n_classes == 2 else n_classes

    def _rows(
        self, loss: TargetLoss, targets: FloatArray, weights: RowWeights, n_outputs: int, n_threads: int
    ) -> LossRows:
        assert isinstance(loss, SeveralLosses)
        scores = current().gradient_scores("given", 0.0, n_outputs, targets, weights.native)
        return SeveralLossRows(scores, weights, loss, targets, n_threads)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return chances(scores[:, None] if scores.ndim == 1 else scores)

    def _exported_answer(self) -> ExportedAnswer:
        return class_answer(self, Link("logistic" if len(self.classes_) == 2 else "softmax"))

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes, of scores that are taken for logarithms of odds."""
        return self._calibrated(self.decision_function(X, offset))

    def _warn(self, fitted: Any) -> None:
        if not len(fitted.ensemble_):
            warnings.warn(
                f"The model is empty and predicts 0 everywhere: no tree lowers the losses ({fitted.stop_reason_}).",
                UserWarning,
                stacklevel=4,
            )

    # --- what the model says of the losses

    def _last(self, what: str) -> dict[str, float]:
        self._require_fitted()
        start = f"{what}["
        last = max(self.n_iter_ - 1, 0)
        return {
            name.removeprefix(start)[:-1]: column[last]
            for name, column in self.history_.items()
            if name.startswith(start) and column
        }

    @property
    @of_one_fit
    def mixture_(self) -> dict[str, float]:
        """lambda after the last round of the model."""
        return self._last("mixture")

    @property
    @of_one_fit
    def loss_values_(self) -> dict[str, float]:
        """The losses on the training rows, divided by their units."""
        return self._last("loss")

    @property
    @of_one_fit
    def agnostic_loss_(self) -> float:
        """The worst mixture of the losses on the training rows."""
        values = self.loss_values_
        vertices = vertices_of(read_mixtures(self.mixtures), np.array(list(values)), "losses")
        return agnostic(np.array(list(values.values())), vertices)

    # --- files

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {}

    def _take_parameters_of_fit(self) -> None:
        """`_take_arrays_of_fit` has the names of the losses."""

    def _take_given_parameters(self) -> None:
        self._loss_given = self.loss_

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        return {"losses": json_array(self.loss_)}

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        names = read_json_array(arrays, "losses")
        if not isinstance(names, str):
            raise ModelFileError("the names of the losses are missing.")
        self.loss_ = names
