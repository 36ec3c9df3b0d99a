"""How callbacks hear of a fit on several workers: the first worker tells every round, and asks whether to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from radboost.boosting import FitContext, Step, Trace
from radboost.boosting.callbacks import call, check_callbacks
from radboost.boosting.checkpoint import Checkpoint
from radboost.distributed.talking import Workers
from radboost.estimators._checkpoints import Saver
from radboost.estimators._learning import ModelOf


@dataclass(frozen=True)
class Change:
    """What is new in a trace: places from which on its lists are other ones, and what stands there."""

    first_hypothesis: int
    hypotheses: list[Any]
    complexities: list[float]
    first_step: int
    steps: list[Step]
    history: dict[str, tuple[int, list[float]]]
    details: dict[str, list[float]]
    n_skipped: int
    pushed: bool
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
        trace.n_skipped, trace.pushed, trace.stop_reason = self.n_skipped, self.pushed, self.stop_reason


class Changes:
    """Knows what of a trace was told already."""

    def __init__(self) -> None:
        self._hypotheses: list[Any] = []
        self._steps: list[Step] = []
        self._n_lines: dict[str, int] = {}

    def of(self, trace: Trace) -> Change:
        """What is new since the last call."""
        first, step = _first_other(self._hypotheses, trace.hypotheses), _first_other(self._steps, trace.steps)
        history = {
            name: (self._n_lines.get(name, 0), column[self._n_lines.get(name, 0) :])
            for name, column in trace.history.items()
        }
        self._hypotheses, self._steps = list(trace.hypotheses), list(trace.steps)
        self._n_lines = {name: len(column) for name, column in trace.history.items()}
        return Change(
            first,
            trace.hypotheses[first:],
            trace.complexities[first:],
            step,
            trace.steps[step:],
            history,
            trace.details,
            trace.n_skipped,
            trace.pushed,
            trace.stop_reason,
        )


def _first_other(then: Sequence[Any], now: Sequence[Any]) -> int:
    pairs = zip(then, now, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one is not other), min(len(then), len(now)))


@dataclass(frozen=True)
class Beginning:
    """What does not change from round to round."""

    n_rounds: int
    model_of: ModelOf  # without an estimator
    seed: int
    digests: Mapping[str, str]


@dataclass(frozen=True)
class Told:
    """What the first worker says when a hook of callbacks is due."""

    hook: str
    reason: str | None
    change: Change
    beginning: Beginning | None = None


class Ears(Protocol):
    """Who is told."""

    def hear(self, told: Told) -> str | None:
        """The reason to end the fit, if there is one."""


@dataclass
class Teller:
    """A callback of the fit of every worker: the first one tells, and all stop where its answer says so."""

    workers: Workers
    ears: Ears | None  # of the first worker
    seed: int
    digests: Mapping[str, str]
    _changes: Changes = field(default_factory=Changes, init=False)

    def on_fit_begin(self, context: FitContext) -> None:
        made = context.make_model
        assert isinstance(made, ModelOf)
        self._tell("on_fit_begin", context, Beginning(context.n_rounds, made.without_rows(), self.seed, self.digests))

    def on_round_end(self, context: FitContext) -> None:
        self._tell("on_round_end", context)

    def on_fit_end(self, context: FitContext) -> None:
        self._tell("on_fit_end", context)

    def _tell(self, hook: str, context: FitContext, beginning: Beginning | None = None) -> None:
        answer = None
        if self.ears is not None:
            change = self._changes.of(context.finished_rounds())
            answer = self.ears.hear(Told(hook, context.stop_reason, change, beginning))
        answer = self.workers.tell(answer)[0]
        if answer is not None:
            context.stop(answer)


class Listener:
    """Where the callbacks of the user are: calls them as a fit on one machine would, and keeps the rounds it hears of.

    A fit that goes on after a loss begins again, after the rounds that are kept here: callbacks hear of each round
    once.
    """

    def __init__(self, estimator: Any, callbacks: Any) -> None:
        self._estimator = estimator
        self._callbacks = check_callbacks(callbacks)
        self._trace = Trace()
        self._context: FitContext | None = None
        self._asked: str | None = None  # the reason to stop that a callback has given
        self._ended = False

    @property
    def rounds(self) -> Trace | None:
        """Those that callbacks were told of."""
        return self._trace.finished() if self._trace.n_rounds else None

    def hear(self, told: Told) -> str | None:
        told.change.apply(self._trace)
        known = self._context is not None
        if told.beginning is not None and not known:
            self._context = self._begin(told.beginning)
        context = self._context
        assert context is not None
        context.stop_reason = told.reason
        if (told.beginning is None or not known) and not self._ended:
            self._ended = told.hook == "on_fit_end"
            call(self._callbacks, told.hook, context)
            if told.reason is None:
                self._asked = context.stop_reason
        return told.reason or self._asked

    def _begin(self, beginning: Beginning) -> FitContext:
        made = ModelOf(self._estimator, beginning.model_of.plan, beginning.model_of.rows)
        saver = Saver.of(self._estimator, beginning.model_of.rows, beginning.seed, beginning.digests)
        return FitContext(
            self._trace,
            beginning.n_rounds,
            type(self._estimator).__name__,
            self._estimator.get_params(deep=False),
            made,
            saver.save,
        )

    def keep(self) -> list[str]:
        """Writes the checkpoints of a fit that has failed; where they are."""
        if self._context is None:
            return []
        paths = [callback.path for callback in self._callbacks if isinstance(callback, Checkpoint)]
        for path in paths:
            self._context.save_checkpoint(path)
        return paths
