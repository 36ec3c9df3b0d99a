"""Sums of matrices by one thread, whoever else is at work."""

import os
import threading

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from radboost._blas import one_blas_thread


def n_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_threads_that_enter_one_after_the_other_or_at_once_have_one_thread():
    assert scipy.linalg is not None
    before, seen = n_threads(), []

    def look():
        for _ in range(5):
            with one_blas_thread, one_blas_thread:
                seen.append(n_threads())

    for at_once in (1, 1, 3):
        threads = [threading.Thread(target=look) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with one_blas_thread:
        seen.append(n_threads())
    assert np.all(np.array(seen) == 1)
    assert n_threads() == before


def test_a_child_of_a_thread_that_waits_can_enter():
    """While another thread is inside, a fork has its lock and not the thread that would give it back."""
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread:
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait(30)
    child = os.fork()
    if child == 0:
        with one_blas_thread:
            os._exit(7)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
