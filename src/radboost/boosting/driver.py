"""The boosting loop: `Driver` runs the rounds of a `RoundMaker` (one algorithm), records them, and stops the fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from radboost._progress import progress_bar
from radboost.boosting.callbacks import FitContext, call
from radboost.boosting.monitor import Monitor
from radboost.boosting.trace import Step, Trace

# Entries of the history that a replayed round must reproduce bit for bit.
REPLAYED_EXACTLY = ("objective", "train_error")


MOST_AHEAD = 32  # rounds that are made in one call: few enough that progress is shown


class End(str):
    """Reason to end the fit before a round, which gets no entry in the history."""


class ReplayError(Exception):
    """The algorithm cannot have made the rounds of a trace."""


class RoundMaker(ABC):
    """One algorithm, as a sequence of rounds. `trace` records the fit."""

    trace: Trace
    # Keys of `history_entry`.
    recorded: Sequence[str] = ("objective", "train_error", "n_hypotheses")
    # Rounds in a row without a step that end the fit, with the reason `exhausted`; None: any number is allowed.
    patience: int | None = None
    exhausted: ClassVar[str] = ""
    # Rounds from the next one on that nobody looks at one by one; a maker may make all of them at once.
    n_ahead: int = 1
    # Reasons to stop that cannot be recomputed from the trace: a resumed fit ends with them at once.
    final: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def begin(self) -> None:
        """Set the scores of the training rows for the first round. Not called if rounds are replayed."""

    @abstractmethod
    def replay(self) -> None:
        """Set scores of the training rows, and all counters, to their state after the rounds of the trace."""

    @abstractmethod
    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        """Make a round: take steps, add them to the trace, and return them.

        `idle` is the number of rounds without a step directly before this one.
        """

    @abstractmethod
    def history_entry(self) -> Mapping[str, float]:
        """Entries of the history for the round just made."""

    def reason_to_stop(self, idle: int) -> str | None:
        """Reason to stop, or None; called once per round, made or replayed, after its history entry is recorded."""
        return self.exhausted if self.patience is not None and idle == self.patience else None

    def finish(self) -> None:  # noqa: B027 (most have nothing to add)
        """Complete the trace after the last round."""

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
    same_rows: bool = False  # True: the rounds of the trace were made with these rows and parameters
    _idle: int = field(default=0, init=False)

    def run(self) -> Trace:
        trace = self.maker.trace
        reason = None
        if trace.n_rounds:
            reason = self._resume()
        else:
            self._begin()
        self._call_callbacks("on_fit_begin", reason)
        reason = reason or self._asked_to_stop()
        n_followed = len(trace.steps) if trace.n_rounds else 0
        done = trace.n_rounds
        with progress_bar(self.n_rounds, self.verbose, done) as advance:
            while reason is None and done < self.n_rounds:
                self.maker.n_ahead = self._n_ahead(done)
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
                self._call_callbacks("on_round_end", reason)
                reason = reason or self._asked_to_stop()
        if reason is not None:
            trace.stop_reason = reason
        self.maker.finish()
        self._call_callbacks("on_fit_end", trace.stop_reason if reason is not None else None)
        return trace

    def _n_ahead(self, done: int) -> int:
        """Rounds until somebody looks at the model, at most `MOST_AHEAD`."""
        if self.context is not None:
            return 1
        interval = MOST_AHEAD if self.monitor is None else self.monitor.interval
        return min(self.n_rounds - done, interval - done % interval)

    def _begin(self) -> None:
        self.maker.begin()
        for name in [*self.maker.recorded, *(self.monitor.recorded if self.monitor is not None else ())]:
            self.maker.trace.history[name] = []

    def _resume(self) -> str | None:
        """Replay the rounds of the trace; returns the reason to stop if they were the last ones."""
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
            self._check_replayed_entry()
        trace.n_skipped = took_steps.count(False)
        self._idle = next((n for n, took in enumerate(reversed(took_steps)) if took), len(took_steps))
        stop = self.monitor.replay(trace) if self.monitor is not None else None
        if stop is None and ended in self.maker.final:
            return ended
        return stop or self.maker.reason_to_stop(self._idle)

    def _check_replayed_entry(self) -> None:
        """Raise ValueError unless the rows reproduce the last entry of the history."""
        for name, value in self.maker.history_entry().items():
            if name in REPLAYED_EXACTLY and self.maker.trace.history[name][-1] != value:
                raise ValueError(f"the {name} of the last round is {self.maker.trace.history[name][-1]}, not {value}")

    def _call_callbacks(self, hook: str, reason: str | None) -> None:
        if self.context is not None:
            self.context.stop_reason = reason
            call(self.callbacks, hook, self.context)

    def _asked_to_stop(self) -> str | None:
        return None if self.context is None else self.context.stop_reason
