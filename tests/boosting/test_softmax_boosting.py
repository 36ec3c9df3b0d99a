"""The loop of soft-max boosting: how far a step goes, and when the search gives up."""

from __future__ import annotations

import math

import numpy as np

from radboost import SoftmaxBoostClassifier
from radboost.boosting.line_search import falling_search


def test_a_line_search_comes_back_from_behind_a_hill() -> None:
    """Where the risk falls again but is higher than at the start, the minimum that was asked for lies before it."""

    def along(a: float) -> tuple[float, float]:
        value = 1.0 + 0.5 * a - 0.2 * math.sin(2.0 * math.pi * a)
        return value, -(0.5 - 0.4 * math.pi * math.cos(2.0 * math.pi * a))

    start, slope = along(0.0)
    for first in (1.0, 4.0, 16.0):  # at each the risk falls, and at none it is lower
        step = falling_search(along, start, slope, first)
        assert 0.0 < step < 0.3
        assert along(step)[0] < 0.94


def test_ten_rounds_without_a_step_end_the_fit() -> None:
    """Nothing tells the classes apart, and both are as frequent: no tree has an edge."""
    X, y = np.ones((8, 1)), np.arange(8) % 2
    model = SoftmaxBoostClassifier(50, samples_per_round="all").fit(X, y)
    assert model.n_iter_ == model.n_skipped_rounds_ == 10
    assert model.stop_reason_ == "converged: 10 rounds in a row found no direction that lowers the risk"
    model = SoftmaxBoostClassifier(9, samples_per_round="all").fit(X, y)
    assert model.stop_reason_ == "all rounds done"
