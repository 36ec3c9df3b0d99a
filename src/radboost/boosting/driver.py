"""The one loop of boosting: it runs the rounds of any algorithm, records them, and knows when to stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from radboost._progress import progress_bar
from radboost.boosting.callbacks import FitContext, call
from radboost.boosting.monitor import Monitor
from radboost.boosting.trace import Step, Trace

# What a replayed round must say again, bit for bit.
ARRIVAL = ("objective", "train_error")


class End(str):
    """A reason to end the fit before the round: it leaves no line in the history."""


class ReplayError(Exception):
    """The rounds of a trace are none that the algorithm could have made."""


class RoundMaker(ABC):
    """One algorithm, round by round. The trace of a maker is the trace of the fit."""

    trace: Trace
    # What `history_entry` says.
    recorded: Sequence[str] = ("objective", "train_error", "n_hypotheses")
    # So many rounds in a row without a step end the fit, for that reason; None: they may be any number.
    patience: int | None = None
    exhausted: ClassVar[str] = ""
    # Reasons to stop that the trace alone does not tell again: no round may follow one of them.
    final: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def begin(self) -> None:
        """Brings the training rows to where the first round finds them. Not called where rounds are replayed."""

    @abstractmethod
    def replay(self) -> None:
        """Brings the training rows, and all counters, to where the rounds of the trace have led."""

    @abstractmethod
    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        """One round: takes steps, which it adds to the trace, and returns them.

        `idle` is the number of rounds in a row just before this one that took no step.
        """

    @abstractmethod
    def history_entry(self) -> Mapping[str, float]:
        """Entries of the history for the round just made."""

    def reason_to_stop(self, idle: int) -> str | None:
        """Asked once after every round, made or replayed, when its line is in the history."""
        return self.exhausted if self.patience is not None and idle == self.patience else None

    def took_steps(self, trace: Trace) -> list[bool]:
        """Flags of the rounds of a trace that took a step."""
        return [bool(steps) for steps in trace.rounds()]


@dataclass
class Driver:
    """Runs a round maker for `n_rounds` rounds in all, or until there is a reason to stop."""

    maker: RoundMaker
    n_rounds: int
    monitor: Monitor | None = None
    verbose: int = 0
    callbacks: Sequence[Any] = ()
    context: FitContext | None = None
    same_rows: bool = False  # whether the rounds of the trace were made with these very rows and parameters
    _idle: int = field(default=0, init=False)

    def run(self) -> Trace:
        trace = self.maker.trace
        reason = None
        if trace.n_rounds:
            reason = self._go_on()
        else:
            self._begin()
        self._tell("on_fit_begin", reason)
        reason = reason or self._asked_to_stop()
        n_followed = len(trace.steps) if trace.n_rounds else 0
        done = trace.n_rounds
        with progress_bar(self.n_rounds, self.verbose, done) as advance:
            while reason is None and done < self.n_rounds:
                steps = self.maker.make(done, self._idle)
                if isinstance(steps, End):
                    reason = str(steps)
                    break
                self._idle = 0 if steps else self._idle + 1
                trace.n_skipped += not steps
                entry = self.maker.history_entry()
                trace.record(entry)
                done += 1
                advance(entry)
                stop = self.monitor.follow(trace, trace.steps[n_followed:]) if self.monitor is not None else None
                n_followed = len(trace.steps)
                reason = stop or self.maker.reason_to_stop(self._idle)
                self._tell("on_round_end", reason)
                reason = reason or self._asked_to_stop()
        if reason is not None:
            trace.stop_reason = reason
        self._tell("on_fit_end", reason)
        return trace

    def _begin(self) -> None:
        self.maker.begin()
        for name in [*self.maker.recorded, *(self.monitor.recorded if self.monitor is not None else ())]:
            self.maker.trace.history[name] = []

    def _go_on(self) -> str | None:
        """Goes on from the rounds in the trace; they may have been the last ones."""
        try:
            return self._replay()
        except (AssertionError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise ReplayError(f"its rounds cannot be taken again ({error})") from error

    def _replay(self) -> str | None:
        trace = self.maker.trace
        ended, trace.stop_reason = trace.stop_reason, Trace().stop_reason
        took_steps = self.maker.took_steps(trace)
        trace.history = {name: trace.history[name] for name in self.maker.recorded}
        self.maker.replay()
        if self.same_rows:
            self._check_arrival()
        trace.n_skipped = took_steps.count(False)
        self._idle = next((n for n, took in enumerate(reversed(took_steps)) if took), len(took_steps))
        stop = self.monitor.replay(trace) if self.monitor is not None else None
        if stop is None and ended in self.maker.final:
            return ended
        return stop or self.maker.reason_to_stop(self._idle)

    def _check_arrival(self) -> None:
        """The last line of the history is what the rows say after all steps."""
        for name, value in self.maker.history_entry().items():
            if name in ARRIVAL and self.maker.trace.history[name][-1] != value:
                raise ValueError(f"the {name} of the last round is {self.maker.trace.history[name][-1]}, not {value}")

    def _tell(self, hook: str, reason: str | None) -> None:
        if self.context is not None:
            self.context.stop_reason = reason
            call(self.callbacks, hook, self.context)

    def _asked_to_stop(self) -> str | None:
        return None if self.context is None else self.context.stop_reason
