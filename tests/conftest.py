"""Shared fixtures and the hypothesis profile: few examples, the same in every run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=int(os.environ.get("RADBOOST_EXAMPLES", "25")),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("quick")


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
