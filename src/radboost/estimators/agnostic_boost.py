"""Boosted trees under the worst mixture of several losses: ALMO on the engine of gradient boosting."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real
from radboost.engine import current
from radboost.estimators._class_scores import probabilities_from
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output
from radboost.estimators._gradient_boosting import GradientBoosting, TargetMonitor
from radboost.estimators._learning import BoostingEstimator, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._predicting import PredictingMixin
from radboost.estimators.agnostic import losses_and_vertices
from radboost.export.parts import ExportedOutput
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


class AgnosticMonitor(TargetMonitor):
    """The worst mixture of the losses on rows that it does not learn from."""

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        _, wrong = super().evaluate(scores)
        several: Any = self._loss
        return several.values(several.of(self._targets), scores), wrong

    def _mean(self, values: npt.NDArray[Any]) -> float:
        if values.ndim == 1:
            return super()._mean(values)
        several: Any = self._loss
        means = np.array([super(AgnosticMonitor, self)._mean(np.ascontiguousarray(column)) for column in values.T])
        return agnostic(means, several.vertices)


@storable_estimator
@described_like(BoostingEstimator)
@with_constructor
class AgnosticBoostClassifier(PredictingMixin, ClassifierMixin, GradientBoosting):
    """Gradient boosting that minimizes the worst mixture of several losses, for two classes and for more.

    The losses and their units are those of `AgnosticClassifier` (Storcheus, PhD thesis, NYU 2021, chapter 5), the trees
    those of `RGBClassifier`. The objective is the soft maximum log(sum of exp(mu L_k)) / mu, which is at most
    log(number of losses) / mu above the maximum. No round raises it where the losses are convex.

    Parameters
    ----------
    n_rounds : int
        Rounds of boosting, at most.
    losses, mixtures : as for `AgnosticClassifier`
    mu : float
        The larger, the closer to the maximum.
    family, n_candidates, complexity_penalty, learning_rate, subsample, tree_options
        As in RGBClassifier.

    Attributes
    ----------
    mixture_ : dict
        lambda at the end: which losses are worst.
    loss_values_ : dict
        The losses on the training rows, divided by their units.
    agnostic_loss_ : float
        The worst mixture of them.
    optimality_gap_ : float
        The soft maximum of this model is at most so far above the smallest one over sums of the trees that were grown,
        with weights of the same total size. Losses that are not convex count as their least values. NaN with losses of
        your own that do not say that they are `convex`.
    stop_reason_ : str
        "converged": `optimality_gap_` is at most 1e-6 of the objective.
    history_ : dict of lists, one entry per round
        As for `RGBClassifier`, "objective" being the soft maximum; and "loss[name]" and "mixture[name]" of each loss.
    classes_, ensemble_
        As in RGBClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from radboost import AgnosticBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AgnosticBoostClassifier(50, losses=("cross_entropy", "hinge")).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    n_rounds: int = field(default=200, kw_only=False)
    losses: Any = ("cross_entropy", "hinge", "zero_one", "l1")
    mixtures: Any = None
    mu: float = 20.0
    complexity_penalty: float = 0.3
    subsample: float = 0.5
    class_weight: Any = None

    # Parameters of RGB that are fixed here.
    loss: str = field(default="auto", init=False)
    step: str = field(default="line_search", init=False)

    _regression: ClassVar[bool] = False
    _has_gap: ClassVar[bool] = True
    _type_of_monitor: ClassVar[type[TargetMonitor]] = AgnosticMonitor

    def _read_parameters(self) -> FitSettings:
        check_real("mu", self.mu, low=0.0, open_low=True)
        check_integer("n_rounds", self.n_rounds, 1)  # trials of RGB's "auto" are for one loss
        check_real("subsample", self.subsample, low=0.0, high=1.0, open_low=True)
        return super()._read_parameters()

    def _several(self, n_classes: int) -> SeveralLosses:
        losses, vertices = losses_and_vertices(self.losses, self.mixtures)
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
        # Scores are taken for logarithms of odds.
        return probabilities_from(scores[:, None] if scores.ndim == 1 else scores)

    def _exported_output(self) -> ExportedOutput:
        return class_output(self, Link("logistic" if len(self.classes_) == 2 else "softmax"))

    def _warn(self, fitted: Any) -> None:
        if not len(fitted.ensemble_):
            warnings.warn(
                f"The model is empty and predicts 0 everywhere: no tree lowers the losses ({fitted.stop_reason_}).",
                UserWarning,
                stacklevel=4,
            )

    def _last(self, what: str) -> dict[str, float]:
        self._require_fitted()
        start, last = f"{what}[", max(self.n_iter_ - 1, 0)
        columns = {name: column for name, column in self.history_.items() if name.startswith(start) and column}
        return {name.removeprefix(start)[:-1]: column[last] for name, column in columns.items()}

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
