"""Metrics of `eval_metric` on validation rows: names of scikit-learn's scorers, or user-defined scorers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.objectives.targets import coarse

# What LightGBM, XGBoost and CatBoost call a metric, by the name of its scorer.
METRICS_ELSEWHERE = {
    "roc_auc": "auc AUC",
    "roc_auc_ovr": "auc_mu",
    "average_precision": "aucpr PRAUC",
    "accuracy": "error merror binary_error multi_error Accuracy",
    "neg_log_loss": "logloss mlogloss binary_logloss multi_logloss binary cross_entropy Logloss MultiClass",
    "f1": "F1",
    "neg_mean_squared_error": "l2 mse MSE mean_squared_error",
    "neg_root_mean_squared_error": "rmse l2_root RMSE root_mean_squared_error",
    "neg_mean_absolute_error": "l1 mae MAE mean_absolute_error",
    "neg_mean_absolute_percentage_error": "mape MAPE mean_absolute_percentage_error",
    "neg_mean_poisson_deviance": "poisson poisson-nloglik Poisson",
    "neg_mean_gamma_deviance": "gamma gamma_deviance gamma-deviance",
    "r2": "R2",
}
OTHER_METRICS = {other: ours for ours, others in METRICS_ELSEWHERE.items() for other in others.split()}
# What to advise where a metric does not suit what is predicted.
FOR_NUMBERS: tuple[str, ...] = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error")
FOR_TWO_CLASSES: tuple[str, ...] = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss")
FOR_CLASSES: tuple[str, ...] = ("accuracy", "balanced_accuracy", "roc_auc_ovr", "neg_log_loss")
TAKEN = ("loss", "error")  # columns that a history has anyway


@dataclass(frozen=True)
class Metric:
    """Scorer (larger is better) and its name in the history."""

    name: str
    scorer: Callable[..., Any]

    @property
    def takes_weights(self) -> bool:
        """True if the scorer uses weights; a user-defined function does if it has an argument `sample_weight`."""
        asked = getattr(self.scorer, "_score_func", self.scorer)
        try:
            parameters = inspect.signature(asked).parameters.values()
        except (TypeError, ValueError):  # some callables have no signature
            return False
        return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)

    def measure(self, model: Any, X: Any, y: npt.NDArray[Any], weights: FloatArray | None) -> float:
        """Score, rounded to 24 bits: further bits depend on the order of the rows."""
        if weights is not None and not self.takes_weights:
            raise ValueError(
                f"eval_metric={self.name!r} takes no sample_weight, and the validation rows have weights. Choose "
                "another metric, or give validation rows without weights."
            )
        given = {} if weights is None else {"sample_weight": weights}
        try:
            value = self.scorer(model, X, y, **given)
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(_does_not_suit(self.name, model, y, error)) from error
        if not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise ValueError(
                f"eval_metric={self.name!r} must be a finite number on the validation rows; got {value!r}. Some "
                "metrics need rows of every class: give other rows as X_val and y_val, or choose another metric."
            )
        return coarse(float(value))


def read_metrics(given: Any) -> tuple[Metric, ...]:
    """The argument `eval_metric` of fit: a name, a scorer, a list of these, or None."""
    if given is None:
        return ()
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not listed:
        raise ValueError("eval_metric is an empty list. Leave it out to watch the loss alone.")
    metrics = tuple(map(_read_metric, listed))
    names = [metric.name for metric in metrics]
    for name in names:
        if names.count(name) > 1 or name in TAKEN:
            raise ValueError(
                f"eval_metric has the name {name!r} {'twice' if names.count(name) > 1 else ''}, and the history keeps "
                f"it as 'validation_{name}'. Give each metric a name of its own: the __name__ of a function."
            )
    return metrics


def _does_not_suit(name: str, model: Any, y: npt.NDArray[Any], error: Exception) -> str:
    """Message for a metric that has failed: its arguments, and the metrics that suit them."""
    if hasattr(model, "classes_"):
        labels = [repr(label) for label in model.classes_.tolist()]
        shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        given, kind = f"{len(labels)} classes ({shown})", "classes"
        fitting = FOR_TWO_CLASSES if len(labels) == 2 else FOR_CLASSES
        methods = "predict, predict_proba, decision_function and score"
    else:
        given, kind, fitting, methods = "numbers", "numbers", FOR_NUMBERS, "predict and score"
        if y.ndim == 2:
            given = f"numbers for {y.shape[1]} targets"
    return (
        f"eval_metric={name!r} has failed on the validation rows, whose y is of {given}: {type(error).__name__}: "
        f"{error}\n"
        f"Metrics for {kind} are {', '.join(map(repr, fitting))} and others of scikit-learn; a function of your own is "
        f"called as scorer(model, X, y), and may ask the model for {methods} of this X."
    )


def _read_metric(given: Any) -> Metric:
    if isinstance(given, str):
        from sklearn.metrics import get_scorer, get_scorer_names  # which takes longer to import than all of RadBoost

        known = get_scorer_names()
        if given not in known:
            meant = OTHER_METRICS.get(given)
            advice = f" It is called {meant!r} here." if meant in known else ""
            raise ValueError(
                f"Unknown eval_metric {given!r}.{advice} Known are the names of scikit-learn's scorers, "
                f"{', '.join(map(repr, known))}, or a function scorer(model, X, y) of which larger values are better."
            )
        return Metric(given, get_scorer(given))
    if not callable(given) or isinstance(given, type):
        raise TypeError(
            "eval_metric must be the name of a scorer of scikit-learn, a function scorer(model, X, y) of which larger "
            f"values are better, or a list of these; got {given!r}. sklearn.metrics.make_scorer makes a scorer of a "
            "metric of labels and predictions."
        )
    _check_is_scorer(given)
    function = getattr(given, "_score_func", given)
    return Metric(str(getattr(function, "__name__", type(function).__name__)), given)


def _check_is_scorer(given: Callable[..., Any]) -> None:
    """Refuses metrics of labels and predictions, as sklearn.metrics has them beside their scorers."""
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):  # some callables have no signature
        return
    try:
        signature.bind("model", "X", "y")
    except TypeError as error:
        from sklearn.metrics import get_scorer, get_scorer_names

        name = getattr(given, "__name__", repr(given))
        of_it = [one for one in get_scorer_names() if getattr(get_scorer(one), "_score_func", None) is given]
        named = f"eval_metric={min(of_it, key=len)!r}, or " if of_it else ""
        raise TypeError(
            f"eval_metric={name}{signature} is no function scorer(model, X, y). For a metric of labels and predictions "
            f"give {named}sklearn.metrics.make_scorer({name}), with greater_is_better=False if it is a loss."
        ) from error


class Measures:
    """The metrics of a fit on its validation rows.

    `stand_in` converts scores of these rows to an object that predicts for them like the model. `rows` are columns,
    labels and weights of the rows of all workers; `gather` collects scores from all workers.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        stand_in: Callable[[FloatArray], Any],
        rows: tuple[Any, npt.NDArray[Any], FloatArray | None],
        gather: Callable[[FloatArray], FloatArray],
    ) -> None:
        self._metrics, self._stand_in = metrics, stand_in
        self._rows, self._gather = rows, gather

    @property
    def names(self) -> list[str]:
        """Names of the metrics; the first one decides when to stop."""
        return [metric.name for metric in self._metrics]

    def of(self, scores: FloatArray) -> dict[str, float]:
        model = self._stand_in(self._gather(scores))
        result = np.array([[metric.measure(model, *self._rows) for metric in self._metrics]])
        # Values of the first worker: other processors may round differently.
        of_first = self._gather(result)[0].tolist()
        return dict(zip(self.names, of_first, strict=True))
