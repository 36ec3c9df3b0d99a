"""Callbacks of fits on several workers: the first worker forwards each hook to the process where they live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from radboost.boosting import FitContext, Trace
from radboost.boosting.callbacks import call, check_callbacks
from radboost.boosting.checkpoint import Checkpoint
from radboost.distributed.metadata import WorkerCollective
from radboost.estimators._checkpoints import Saver
from radboost.estimators._learning import ModelOf


@dataclass(frozen=True)
class NewRounds:
    """Rounds of a trace beyond those that were sent before; a trace only grows."""

    n_hypotheses: int  # sent before, as the next two
    n_steps: int
    n_rounds: int
    rest: Trace

    @classmethod
    def since(cls, n_hypotheses: int, n_steps: int, n_rounds: int, trace: Trace) -> NewRounds:
        """Rest of a trace of which so many entries were sent before."""
        rest = replace(
            trace,
            hypotheses=trace.hypotheses[n_hypotheses:],
            complexities=trace.complexities[n_hypotheses:],
            steps=trace.steps[n_steps:],
            history={name: column[n_rounds:] for name, column in trace.history.items()},
        )
        return cls(n_hypotheses, n_steps, n_rounds, rest)

    def add_to(self, trace: Trace) -> None:
        """Add them to the rounds before; anything else in the trace is replaced."""
        rest, before = self.rest, trace.history
        trace.hypotheses[self.n_hypotheses :] = rest.hypotheses
        trace.complexities[self.n_hypotheses :] = rest.complexities
        trace.steps[self.n_steps :] = rest.steps
        trace.history = {name: before.get(name, [])[: self.n_rounds] + column for name, column in rest.history.items()}
        trace.details = rest.details
        trace.n_skipped, trace.perturbed, trace.stop_reason = rest.n_skipped, rest.perturbed, rest.stop_reason


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
    rounds: NewRounds
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
    _sent: tuple[int, int, int] = field(default=(0, 0, 0), init=False)  # hypotheses, steps, rounds

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
            trace = context.finished_rounds()
            rounds = NewRounds.since(*self._sent, trace)
            self._sent = len(trace.hypotheses), len(trace.steps), trace.n_rounds
            reason = self.receiver.handle(CallbackEvent(hook, context.stop_reason, rounds, start))
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
        event.rounds.add_to(self._trace)
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
