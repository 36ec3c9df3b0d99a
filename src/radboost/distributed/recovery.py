"""Recovery in the client: the finished rounds of a fit on a cluster, for the next attempt or the next call of `fit`."""

from __future__ import annotations

import pickle
import time
from typing import Any

from radboost.boosting import Trace
from radboost.distributed.callbacks import CallbackEvent, CallbackRunner
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.worker import NO_MORE_EVENTS
from radboost.model_file import ModelFileError


class RowsLostError(WorkerLostError):
    """Rows were on a worker that is lost, and cannot be computed again."""


class FinishedRounds:
    """Finished rounds of the fit so far: those that callbacks have seen, or else the most that a worker has."""

    def __init__(self, runner: CallbackRunner | None = None, rounds: Trace | None = None) -> None:
        self._runner, self._recovered = runner, rounds

    @property
    def rounds(self) -> Trace | None:
        seen = None if self._runner is None else self._runner.rounds
        return self._recovered if seen is None else seen

    @property
    def n_rounds(self) -> int:
        return 0 if self.rounds is None else self.rounds.n_rounds

    def take(self, recovered: Trace | None) -> None:
        """Take a worker's rounds if they are more; with callbacks only rounds that they have seen count."""
        if self._runner is None and recovered is not None and recovered.n_rounds > self.n_rounds:
            self._recovered = recovered

    def final_error(self, error: WorkerLostError) -> WorkerLostError:
        """Write checkpoints, and return the error that ends the fit, which names their files."""
        paths, text = [], "No rounds are kept: with callbacks=[radboost.Checkpoint(path)] they would be."
        try:
            paths = [] if self._runner is None else self._runner.write_checkpoints()
        except (OSError, ModelFileError) as failure:
            text = f"The {self.n_rounds} rounds so far could not be written ({failure})."
        if paths:
            text = f"The {self.n_rounds} rounds so far are in {' and '.join(map(repr, paths))}: call fit again with "
            text += f"resume_from={paths[0]!r} to go on after them."
        final = type(error)(f"{error} {text}")
        final.checkpoints = tuple(paths)
        return final


class CallbackBridge:
    """Carries events from the first worker to the callbacks in the client, and their replies back."""

    def __init__(self, first: Any, runner: CallbackRunner) -> None:
        self._first, self._runner = first, runner
        self._next = call_actor(first, "next_event")

    def wait(self, seconds: float) -> None:
        """Handle the next event if it comes within this time; errors of callbacks are raised."""
        if self._next is None:  # no more events, or the worker is lost, which `WorkerMonitor` reports
            time.sleep(seconds)
            return
        try:
            data = self._next.result(timeout=seconds)
        except TimeoutError:
            return
        except (OSError, RuntimeError):
            data = NO_MORE_EVENTS
        self._next = None
        if data != NO_MORE_EVENTS:
            event: CallbackEvent = pickle.loads(data)
            call_actor(self._first, "reply", self._runner.handle(event))
            self._next = call_actor(self._first, "next_event")


def call_actor(actor: Any, method: str, *arguments: Any) -> Any:
    """Future of an actor's method; None where the actor is lost."""
    try:
        return getattr(actor, method)(*arguments)
    except RuntimeError:  # Dask's, for an actor that is lost
        return None
