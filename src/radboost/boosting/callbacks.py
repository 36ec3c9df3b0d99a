"""Callbacks: user-defined objects that a fit calls after every round, and that can end it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from radboost.boosting.trace import Trace

HOOKS = ("on_fit_begin", "on_round_end", "on_fit_end")
STOPPED = "stopped by a callback"


class FitContext:
    """State of a fit, which every hook of a callback gets.

    The hooks of a callback are `on_fit_begin(context)`, before the first round; `on_round_end(context)`, after each;
    `on_fit_end(context)`, after the last one and before the model is put in place. A callback has any of them. They are
    called in the order of the list given to `fit`, from the thread of the fit. An error in one of them ends the fit and
    leaves the estimator as it was; so does Ctrl-C, and `on_fit_end` is not called then.

    Attributes
    ----------
    round : int
        Index of the round that ended last, counted from 0; -1 before the first. A resumed fit begins with that of the
        last round of the earlier one.
    n_rounds : int
        Rounds of the whole fit, at most.
    history : dict of lists, one entry per round
        As `history_` of the estimator will be, up to now. To be read, not changed.
    estimator_name : str
    parameters : mapping
        The parameters of the estimator; they cannot be changed here.
    stop_reason : str or None
        Why the fit will end after this round, if that is known.
    """

    def __init__(
        self,
        trace: Trace,
        n_rounds: int,
        estimator_name: str,
        parameters: Mapping[str, Any],
        make_model: Callable[[Trace], Any],
        save: Callable[[Trace, str, str], None],
    ) -> None:
        self._trace = trace
        self.n_rounds = n_rounds
        self.estimator_name = estimator_name
        self.parameters: Mapping[str, Any] = MappingProxyType(dict(parameters))
        self.stop_reason: str | None = None
        self.make_model = make_model
        self._save = save
        self._model: tuple[int, Any] | None = None

    @property
    def round(self) -> int:
        return self._trace.n_rounds - 1

    @property
    def history(self) -> Mapping[str, Sequence[float]]:
        return self._trace.history

    @property
    def ensemble(self) -> Any:
        """The ensemble of all rounds so far, made when it is asked for."""
        return self.fitted_estimator.ensemble_

    @property
    def fitted_estimator(self) -> Any:
        """A new estimator, ready to predict, as if the fit had ended here with all its rounds; made when asked for."""
        if self._model is None or self._model[0] != self._trace.n_rounds:
            self._model = self._trace.n_rounds, self.make_model(self._trace)
        return self._model[1]

    def finished_rounds(self) -> Trace:
        """A copy of all that the fit needs to go on from here: `learn(..., go_on_from=...)`."""
        return self._trace.finished()

    def stop(self, reason: str = STOPPED) -> None:
        """Ends the fit after this round; the reason becomes `stop_reason_`, unless there is one already."""
        if not isinstance(reason, str):
            raise TypeError(f"The reason to stop must be a text; got {reason!r}.")
        if self.stop_reason is None:
            self.stop_reason = reason

    def save_checkpoint(self, path: str) -> None:
        """Write a checkpoint for `fit(..., resume_from=path)`; atomic."""
        self._save(self._trace, self._trace.stop_reason if self.stop_reason is None else self.stop_reason, path)


def check_callbacks(callbacks: Any) -> list[Any]:
    """Checked list of callbacks, each with at least one of the hooks."""
    if callbacks is None:
        return []
    if not isinstance(callbacks, Iterable) or isinstance(callbacks, str | bytes):
        raise TypeError(f"callbacks must be a list of objects with any of {', '.join(HOOKS)}; got {callbacks!r}.")
    given = list(callbacks)
    for callback in given:
        if isinstance(callback, type) or not any(callable(getattr(callback, hook, None)) for hook in HOOKS):
            raise TypeError(
                f"A callback must be an object with any of the methods {', '.join(HOOKS)}; got {callback!r}."
            )
    return given


def call(callbacks: Iterable[Any], hook: str, context: FitContext) -> None:
    for callback in callbacks:
        method = getattr(callback, hook, None)
        if method is not None:
            method(context)
