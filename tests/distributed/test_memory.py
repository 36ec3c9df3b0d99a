"""A worker never holds the values of all its rows: a fit of many parts needs less memory than these would take."""

from __future__ import annotations

import weakref
from typing import ClassVar

import numpy as np
import pytest

from distributed_tools import ReloadedPartition, divide, fit_by_threads
from fingerprints import table
from radboost import DeepBoostClassifier, RGBClassifier
from radboost.rows import reader
from radboost.rows.partitions import LoadedPartition

ASKED_BY_TOOLS = 1  # whether there are weights and sources

pytestmark = pytest.mark.filterwarnings("ignore:The model")


class Watched(ReloadedPartition):
    """Knows which of the loaded values are still in memory when a part is loaded."""

    alive: ClassVar[list[weakref.ref[np.ndarray]]] = []
    most = 0

    def load(self) -> LoadedPartition:
        loaded = super().load()
        Watched.alive = [one for one in Watched.alive if one() is not None] + [weakref.ref(loaded.X)]
        Watched.most = max(Watched.most, len(Watched.alive))
        return loaded


def fitted_parts(estimator: RGBClassifier) -> list[Watched]:
    X, y = table(1, 260, 5, missing=0.05)
    parts = [Watched(LoadedPartition(X[k::5], y[k::5])) for k in range(5)]
    fit_by_threads(estimator, parts, 1)
    return parts


def test_one_part_is_in_memory_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """To check them, to cut the columns, and to bin them; early stopping and calibration need no values."""
    monkeypatch.setattr(reader, "KEPT_BYTES", 0)
    monkeypatch.setattr(Watched, "most", 0)
    parts = fitted_parts(RGBClassifier(2, early_stopping=1))
    assert [part.n_loads for part in parts] == [ASKED_BY_TOOLS + 3] * 5
    assert Watched.most <= 2  # the one before may be there while the next is made


def test_small_parts_are_kept() -> None:
    assert [part.n_loads for part in fitted_parts(RGBClassifier(2))] == [ASKED_BY_TOOLS + 1] * 5


def test_other_hypotheses_than_trees_see_the_values() -> None:
    X, y = table(1, 120, 4)
    estimator = DeepBoostClassifier(3, complexity_penalty=0.01, family=["trees", "kernel"], calibration=None)
    expected = estimator.fit(np.nan_to_num(X), y)
    for model in fit_by_threads(estimator, divide(np.nan_to_num(X), y, None, 3), 2):
        np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
