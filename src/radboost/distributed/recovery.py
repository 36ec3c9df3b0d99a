"""Recovery in the client: calls of actors that may be lost."""

from __future__ import annotations

import pickle
import time
from typing import Any

from radboost.distributed.callbacks import CallbackRunner
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.worker import NO_MORE_EVENTS


class RowsLostError(WorkerLostError):
    """Rows were on a worker that is lost, and cannot be computed again."""


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
            self._next = call_actor(self._first, "next_event", self._runner.handle(pickle.loads(data)))


def call_actor(actor: Any, method: str, *arguments: Any) -> Any:
    """Future of an actor's method; None where the actor is lost."""
    try:
        return getattr(actor, method)(*arguments)
    except RuntimeError:  # Dask's, for an actor that is lost
        return None
