"""Shared fixtures, the mark `native`, and the profiles of Hypothesis.

`make test` tries ten examples of each property, the same in every run. `make test-all` names the profile `anew`: more
examples, others every time, and a failure prints the line that repeats it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.register_profile("fixed", UNHURRIED, max_examples=10, derandomize=True)
settings.register_profile("anew", UNHURRIED, max_examples=25, print_blob=True)
settings.load_profile("fixed")


# Files and folders, from here, whose tests never run native code.
PURE = ("reference", "test_layers.py", "test_tree_hygiene.py")
# Those that measure or limit the memory of a process, of which a sanitizer takes a multiple.
MEASURED = (
    "estimators/test_deepboost_memory.py",
    "estimators/test_thread_limits.py",
    "estimators/test_sparse_folds.py::test_little_memory_does_not_end_the_process",
    "rows/test_columns.py::test_the_matrix_and_its_bins_are_the_only_copies",
)


def pytest_configure() -> None:
    """Ctrl-C counts in processes that shells start in the background, too, and in those that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every test is marked `native`, so that `make sanitize` runs it, unless it, its file or folder is listed above."""
    place = item.path.relative_to(Path(__file__).parent).as_posix()
    name = f"{place}::{item.name.partition('[')[0]}"
    if not any(listed in (place, name) or place.startswith(f"{listed}/") for listed in PURE + MEASURED):
        item.add_marker(pytest.mark.native)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the real data sets; tests that need it skip where it is missing."""
    given = os.environ.get("RADBOOST_DATA")
    folder = Path(given) if given else Path(__file__).parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets are not here: set RADBOOST_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def rng() -> np.random.Generator:
    return np.random.default_rng(20140621)
