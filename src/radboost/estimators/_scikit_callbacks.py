"""Callbacks of scikit-learn (`sklearn.callback`, from version 1.9), called in a fit and in each of its rounds."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from radboost.boosting import FitContext

STOPPED = "stopped by a callback of scikit-learn"
# Attributes of scikit-learn on an estimator while it is fitted.
OF_ONE_FIT = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


def has_callbacks(estimator: Any) -> bool:
    """True if this scikit-learn has callbacks."""
    return find_spec("sklearn.callback") is not None


class Bridge:
    """Callback that calls those of scikit-learn: the fit is a task, and each round a task within it."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._arguments: dict[str, Any] = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._estimator = estimator
        self._round: Any = None  # the task of the round that is being made

    def on_fit_begin(self, context: FitContext) -> None:
        from sklearn.callback import CallbackSupportMixin

        self._fit = CallbackSupportMixin._init_callback_context(self._estimator, max_subtasks=context.n_rounds)
        self._fit.call_on_fit_task_begin(**self._arguments)
        self._arguments["reconstruction_attributes"] = lambda: _attributes(context)
        self._begin_round(context)

    def on_round_end(self, context: FitContext) -> None:
        if self._end_round():
            context.stop(STOPPED)
        self._begin_round(context)

    def on_fit_end(self, context: FitContext) -> None:
        if self._round is not None:  # it was not to be made
            self._end_round()
        self._fit.call_on_fit_task_end(**self._arguments)

    def _begin_round(self, context: FitContext) -> None:
        if context.stop_reason is None and context.round + 1 < context.n_rounds:
            self._round = self._fit.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(**self._arguments)

    def _end_round(self) -> bool:
        ended, self._round = self._round, None
        return bool(ended.call_on_fit_task_end(**self._arguments))


def _attributes(context: FitContext) -> dict[str, Any]:
    """Attributes of a model of the rounds so far."""
    return {name: value for name, value in vars(context.fitted_estimator).items() if name not in OF_ONE_FIT}


def with_callbacks_of_scikit_learn(
    estimator: Any, X: Any, y: Any, sample_weight: Any, fit: Callable[[list[Any]], Any]
) -> Any:
    """Result of `fit`, called with a callback that forwards to those of `set_callbacks`."""
    from sklearn.callback import with_callbacks

    fitted = with_callbacks(lambda one: fit([Bridge(one, X, y, sample_weight)]))(estimator)
    for name in OF_ONE_FIT:
        vars(fitted).pop(name, None)
    return fitted
