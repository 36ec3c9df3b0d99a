"""Sums of the libraries for matrices that do not depend on how many threads share them."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any

from threadpoolctl import threadpool_limits


class _OneThread:
    """Context in which BLAS and OpenMP use one thread; one Python thread at a time is inside."""

    # The limit belongs to the process, and only the thread that set it can lift it. Threads that were inside together
    # would lift it for each other, or not at all.

    def __init__(self) -> None:
        self._lock = RLock()
        self._depth = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._depth == 0:
            self._limits = threadpool_limits(1).__enter__()
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        try:
            if self._depth == 0:
                self._limits.__exit__(*error)
        finally:
            self._lock.release()

    def after_fork(self) -> None:
        """The thread that was inside may not exist in the child."""
        self.__init__()  # type: ignore[misc]


one_blas_thread = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread.after_fork)
