"""Callbacks and progress of fits on several workers: forwarded by the first one to the process where they live."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from radboost._progress import progress_bar, say
from radboost.boosting import FitContext, Trace
from radboost.boosting.callbacks import call
from radboost.boosting.checkpoint import Checkpoint
from radboost.distributed.collective import WorkerLostError
from radboost.estimators._checkpoints import Saver
from radboost.estimators._learning import ModelOf
from radboost.model_file import ModelFileError
from radboost.rows.partitions import Workers


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
    rounds: Trace  # hypotheses, steps and history of these rounds alone; a trace only grows
    start: FitStart | None = None  # with "on_fit_begin" only, whose rounds are all so far


# Takes an event, or a line to print, to the callbacks; returns the reason to stop the fit, or None.
Receiver = Callable[[CallbackEvent | str], str | None]


@dataclass
class ForwardingCallback:
    """Callback of the fit: the first worker forwards each hook, and all `workers` stop with the same reason."""

    workers: Workers
    receiver: Receiver | None  # of the first worker; None elsewhere
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
            trace, (n_hypotheses, n_steps, n_rounds) = context.finished_rounds(), self._sent
            self._sent = len(trace.hypotheses), len(trace.steps), trace.n_rounds
            rounds = replace(
                trace,
                hypotheses=trace.hypotheses[n_hypotheses:],
                complexities=trace.complexities[n_hypotheses:],
                steps=trace.steps[n_steps:],
                history={name: column[n_rounds:] for name, column in trace.history.items()},
            )
            reason = self.receiver(CallbackEvent(hook, context.stop_reason, rounds, start))
        reason = self.workers.all_gather(reason)[0]
        if reason is not None:
            context.stop(reason)


class ProgressBar(ExitStack):
    """Callback in the client that shows the rounds as a fit on one machine does."""

    def __init__(self, verbose: int) -> None:
        super().__init__()
        self._verbose = verbose

    def on_fit_begin(self, context: FitContext) -> None:
        self._advance = self.enter_context(progress_bar(context.n_rounds, self._verbose, context.round + 1))

    def on_round_end(self, context: FitContext) -> None:
        self._advance({name: column[-1] for name, column in context.history.items()})

    def on_fit_end(self, context: FitContext) -> None:
        self.close()


class CallbackRunner:
    """Calls the callbacks as a fit on one machine would, and keeps the finished rounds.

    A fit that goes on after a loss of workers starts again after these rounds: callbacks see each round once.
    """

    def __init__(self, estimator: Any, callbacks: Sequence[Any], earlier: Trace | None = None) -> None:
        self.trace = Trace() if earlier is None else earlier
        self._estimator, self._callbacks = estimator, callbacks
        self._context: FitContext | None = None
        self._stop_reason: str | None = None  # given by a callback
        self._seen: set[str] = set()  # lines and hooks; an attempt after a loss has the same, but for rounds

    def take(self, rounds: Trace | Exception | None) -> None:
        """Take the rounds of a worker if they are more; where events arrive, only their rounds count."""
        if self._context is None and isinstance(rounds, Trace) and rounds.n_rounds > self.trace.n_rounds:
            self.trace = rounds

    def handle(self, event: CallbackEvent | str) -> str | None:
        """Print a line or call the callbacks; returns the reason to stop the fit, or None."""
        if isinstance(event, str):
            say(self._is_new(event), event)
            return None
        self._add(event)
        if self._context is None:
            assert event.start is not None
            self._context = self._start(event.start)
        self._context.stop_reason = event.stop_reason
        if event.hook == "on_round_end" or self._is_new(event.hook):
            call(self._callbacks, event.hook, self._context)
            if event.stop_reason is None:
                self._stop_reason = self._context.stop_reason
        return event.stop_reason or self._stop_reason

    def _add(self, event: CallbackEvent) -> None:
        trace, rounds = self.trace, event.rounds
        if event.start is None:
            rounds = replace(
                rounds,
                hypotheses=trace.hypotheses + rounds.hypotheses,
                complexities=trace.complexities + rounds.complexities,
                steps=trace.steps + rounds.steps,
                history={name: trace.history.get(name, []) + column for name, column in rounds.history.items()},
            )
        vars(trace).update(vars(rounds))  # in place: the context of the callbacks holds it

    def _is_new(self, what: str) -> bool:
        is_new = what not in self._seen
        self._seen.add(what)
        return is_new

    def _start(self, start: FitStart) -> FitContext:
        estimator, rows = self._estimator, start.model_of.rows
        made = ModelOf(estimator, start.model_of.plan, rows)
        saver = Saver.of(estimator, rows, start.seed, start.digests)
        parameters = estimator.get_params(deep=False)
        return FitContext(self.trace, start.n_rounds, type(estimator).__name__, parameters, made, saver.save)

    def final_error(self, error: WorkerLostError) -> WorkerLostError:
        """Write the files of all `Checkpoint` callbacks; return the error that ends the fit, which names them."""
        paths: list[str] = []
        text = "No rounds are kept: with callbacks=[radboost.Checkpoint(path)] they would be."
        if self._context is not None:
            paths = [one.path for one in self._callbacks if isinstance(one, Checkpoint)]
            try:
                for path in paths:
                    self._context.save_checkpoint(path)
            except (OSError, ModelFileError) as failure:
                paths, text = [], f"The {self.trace.n_rounds} rounds so far could not be written ({failure})."
        if paths:
            text = (
                f"The {self.trace.n_rounds} rounds so far are in {' and '.join(map(repr, paths))}: call fit again with "
            )
            text += f"resume_from={paths[0]!r} to go on after them."
        final = type(error)(f"{error} {text}")
        final.checkpoints = tuple(paths)
        return final
