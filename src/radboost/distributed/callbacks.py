"""Callbacks of fits on several workers: the first worker forwards each hook to the process where they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from radboost.boosting import FitContext, Step, Trace
from radboost.boosting.callbacks import call, check_callbacks
from radboost.boosting.checkpoint import Checkpoint
from radboost.distributed.metadata import WorkerCollective
from radboost.estimators._checkpoints import Saver
from radboost.estimators._learning import ModelOf


@dataclass(frozen=True)
class TraceDelta:
    """Difference between two states of a trace: the index from which each list differs, and its entries from there."""

    first_hypothesis: int
    hypotheses: list[Any]
    complexities: list[float]
    first_step: int
    steps: list[Step]
    history: dict[str, tuple[int, list[float]]]
    details: dict[str, list[float]]
    n_skipped: int
    perturbed: bool
    stop_reason: str

    def apply(self, trace: Trace) -> None:
        trace.hypotheses[self.first_hypothesis :] = self.hypotheses
        trace.complexities[self.first_hypothesis :] = self.complexities
        trace.steps[self.first_step :] = self.steps
        for name in set(trace.history) - set(self.history):
            del trace.history[name]
        for name, (first, values) in self.history.items():
            trace.history.setdefault(name, [])[first:] = values
        trace.details = {name: list(values) for name, values in self.details.items()}
        trace.n_skipped, trace.perturbed, trace.stop_reason = self.n_skipped, self.perturbed, self.stop_reason


class DeltaTracker:
    """Remembers the last state of a trace, to send differences only."""

    def __init__(self) -> None:
        self._hypotheses: list[Any] = []
        self._steps: list[Step] = []
        self._history_lengths: dict[str, int] = {}

    def delta(self, trace: Trace) -> TraceDelta:
        """Difference since the last call."""
        first = _first_difference(self._hypotheses, trace.hypotheses)
        step = _first_difference(self._steps, trace.steps)
        history = {
            name: (self._history_lengths.get(name, 0), column[self._history_lengths.get(name, 0) :])
            for name, column in trace.history.items()
        }
        self._hypotheses, self._steps = list(trace.hypotheses), list(trace.steps)
        self._history_lengths = {name: len(column) for name, column in trace.history.items()}
        return TraceDelta(
            first,
            trace.hypotheses[first:],
            trace.complexities[first:],
            step,
            trace.steps[step:],
            history,
            trace.details,
            trace.n_skipped,
            trace.perturbed,
            trace.stop_reason,
        )


def _first_difference(before: Sequence[Any], after: Sequence[Any]) -> int:
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next((index for index, (one, other) in enumerate(pairs) if one is not other), shorter)


@dataclass(frozen=True)
class FitStart:
    """Facts of a fit that stay the same in all rounds."""

    n_rounds: int
    model_of: ModelOf  # without an estimator
    seed: int
    digests: Mapping[str, str]


@dataclass(frozen=True)
class CallbackEvent:
    """One hook of the callbacks that is due, with the rounds since the last one."""

    hook: str
    stop_reason: str | None
    delta: TraceDelta
    start: FitStart | None = None  # with "on_fit_begin" only


class CallbackReceiver(Protocol):
    """Receives events where the callbacks are."""

    def handle(self, event: CallbackEvent) -> str | None:
        """Call the callbacks; return the reason to stop the fit, or None."""


@dataclass
class ForwardingCallback:
    """Callback of the fit on every worker: the first one forwards each hook, and all stop with the same reason."""

    workers: WorkerCollective
    receiver: CallbackReceiver | None  # of the first worker; None elsewhere
    seed: int
    digests: Mapping[str, str]
    _tracker: DeltaTracker = field(default_factory=DeltaTracker, init=False)

    def on_fit_begin(self, context: FitContext) -> None:
        made = context.make_model
        assert isinstance(made, ModelOf)
        self._forward("on_fit_begin", context, FitStart(context.n_rounds, made.without_rows(), self.seed, self.digests))

    def on_round_end(self, context: FitContext) -> None:
        self._forward("on_round_end", context)

    def on_fit_end(self, context: FitContext) -> None:
        self._forward("on_fit_end", context)

    def _forward(self, hook: str, context: FitContext, start: FitStart | None = None) -> None:
        reason = None
        if self.receiver is not None:
            delta = self._tracker.delta(context.finished_rounds())
            reason = self.receiver.handle(CallbackEvent(hook, context.stop_reason, delta, start))
        reason = self.workers.all_gather(reason)[0]
        if reason is not None:
            context.stop(reason)


class CallbackRunner:
    """Calls the user's callbacks as a fit on one machine would, and keeps the rounds that it receives.

    A fit that goes on after a loss of workers starts again after these rounds: callbacks see each round once.
    """

    def __init__(self, estimator: Any, callbacks: Any) -> None:
        self._estimator = estimator
        self._callbacks = check_callbacks(callbacks)
        self._trace = Trace()
        self._context: FitContext | None = None
        self._stop_reason: str | None = None  # given by a callback
        self._ended = False

    @property
    def rounds(self) -> Trace | None:
        """Finished rounds that callbacks have seen; None before the first."""
        return self._trace.finished() if self._trace.n_rounds else None

    def handle(self, event: CallbackEvent) -> str | None:
        event.delta.apply(self._trace)
        started = self._context is not None
        if event.start is not None and not started:
            self._context = self._start(event.start)
        context = self._context
        assert context is not None
        context.stop_reason = event.stop_reason
        if (event.start is None or not started) and not self._ended:
            self._ended = event.hook == "on_fit_end"
            call(self._callbacks, event.hook, context)
            if event.stop_reason is None:
                self._stop_reason = context.stop_reason
        return event.stop_reason or self._stop_reason

    def _start(self, start: FitStart) -> FitContext:
        made = ModelOf(self._estimator, start.model_of.plan, start.model_of.rows)
        saver = Saver.of(self._estimator, start.model_of.rows, start.seed, start.digests)
        return FitContext(
            self._trace,
            start.n_rounds,
            type(self._estimator).__name__,
            self._estimator.get_params(deep=False),
            made,
            saver.save,
        )

    def write_checkpoints(self) -> list[str]:
        """Write the files of all `Checkpoint` callbacks, after a fit that has failed; return their paths."""
        if self._context is None:
            return []
        paths = [callback.path for callback in self._callbacks if isinstance(callback, Checkpoint)]
        for path in paths:
            self._context.save_checkpoint(path)
        return paths
