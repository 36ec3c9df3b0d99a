"""Fits in processes of their own."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import Parallel


def in_processes(fits: Iterable[Any], jobs: int) -> Iterator[Any]:
    """The results of delayed calls, in order, in `jobs` processes of one thread each."""
    # Who stops in the middle, by Ctrl-C, knows that not everything was used.
    warnings.filterwarnings("ignore", ".*tasks have been successfully executed.*", UserWarning)
    with _interrupts_left_to_us():
        return iter(Parallel(n_jobs=jobs, return_as="generator")(fits))


@contextmanager
def _interrupts_left_to_us() -> Iterator[None]:
    """Processes that are started meanwhile ignore Ctrl-C, which a terminal sends to all of them: the first one ends the
    others, and they have nothing to say about it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
