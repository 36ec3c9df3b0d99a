"""What the client knows of the rounds of a fit on a cluster: kept for the next attempt, or for the next call of fit."""

from __future__ import annotations

import pickle
import time
from typing import Any

from radboost.boosting import Trace
from radboost.distributed.meeting import WorkerLostError
from radboost.distributed.member import NOTHING_MORE
from radboost.distributed.telling import Listener, Told


class RowsLostError(WorkerLostError):
    """Rows were on a worker that is gone, and nowhere else."""


class Kept:
    """The finished rounds of the fit so far: those that callbacks heard of, or else those of a worker that is left."""

    def __init__(self, listener: Listener | None = None, rounds: Trace | None = None) -> None:
        self._listener, self._found = listener, rounds

    @property
    def rounds(self) -> Trace | None:
        heard = None if self._listener is None else self._listener.rounds
        return self._found if heard is None else heard

    @property
    def n_rounds(self) -> int:
        return 0 if self.rounds is None else self.rounds.n_rounds

    def take(self, found: Trace | None) -> None:
        """Where there are callbacks only rounds that they have heard of count: they hear of each round once."""
        if self._listener is None and found is not None and found.n_rounds > self.n_rounds:
            self._found = found

    def explained(self, error: WorkerLostError) -> WorkerLostError:
        """The error that ends the fit; checkpoints are written, and it says where they are."""
        paths = [] if self._listener is None else self._listener.keep()
        if paths:
            text = f"The {self.n_rounds} rounds so far are in {' and '.join(map(repr, paths))}: call fit again with "
            text += f"resume_from={paths[0]!r} to go on after them."
        else:
            text = "No rounds are kept: with callbacks=[radboost.Checkpoint(path)] they would be."
        told = type(error)(f"{error} {text}")
        told.checkpoints = tuple(paths)
        return told


class Hearing:
    """Brings what the first member tells to the callbacks, and their answers back to it."""

    def __init__(self, first: Any, listener: Listener) -> None:
        self._first, self._listener = first, listener
        self._next = asked(first, "told")

    def wait(self, seconds: float) -> None:
        """Lets callbacks hear of the next round, where there is one within this time; their errors are raised."""
        if self._next is None:  # nothing more, or the worker is gone, which is seen elsewhere
            time.sleep(seconds)
            return
        try:
            data = self._next.result(timeout=seconds)
        except TimeoutError:
            return
        except (OSError, RuntimeError):
            data = NOTHING_MORE
        self._next = None
        if data != NOTHING_MORE:
            told: Told = pickle.loads(data)
            asked(self._first, "answer", self._listener.hear(told))
            self._next = asked(self._first, "told")


def asked(member: Any, method: str, *arguments: Any) -> Any:
    """A call of a member that may be gone by now: None then."""
    try:
        return getattr(member, method)(*arguments)
    except RuntimeError:  # Dask's, for an actor that is gone
        return None
