"""The race to a gap of 1e-6, without the other libraries."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from benchmarks.settings import Sizes
from benchmarks.solvers.base import SparseTask
from benchmarks.solvers.radboost import RadBoost


def task(n_classes: int, penalty: str) -> SparseTask:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, :n_classes] + rng.normal(size=(120, n_classes))).argmax(axis=1)
    return SparseTask(X, y, 0.02, penalty)


@pytest.mark.parametrize(("n_classes", "penalty"), [(2, "l1"), (3, "l1/l2")])
def test_the_objective_is_the_one_that_is_solved(n_classes: int, penalty: str) -> None:
    problem, solver = task(n_classes, penalty), RadBoost()
    weights = solver.solve(problem, 1e-9)
    best = problem.objective(weights)
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=weights.shape) * 0.02
        assert problem.objective(weights + noise) > best
    assert problem.objective(np.zeros_like(weights)) == pytest.approx(np.log(n_classes))


@pytest.mark.slow
def test_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("catboost", "lightgbm", "xgboost"):
        monkeypatch.setitem(sys.modules, library, sys)
    reach_gap = pytest.importorskip("benchmarks.tasks.reach_gap")

    class Lazy(RadBoost):
        name, ours, tolerances = "lazy", False, (1.0,)

    def field(problem: Any) -> list[Any]:
        return [RadBoost(), Lazy()]

    monkeypatch.setattr(reach_gap, "solvers_of", field)
    monkeypatch.setattr(reach_gap, "WARM_UP_ROWS", 20)
    result = reach_gap.run("x", "a small one", task(2, "l1"), 0.5, Sizes(repeats=1))
    ours, lazy = result.rows
    assert ours.figure > 0
    assert np.isnan(lazy.figure)
    assert "not reached" in lazy.note
    assert result.targets == []
