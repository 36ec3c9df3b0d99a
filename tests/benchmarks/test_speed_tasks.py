"""Tasks and competitors of the speed benchmarks, each once, on a few rows."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import data
from benchmarks.competitors import ALL, Competitor, is_installed
from benchmarks.settings import Settings, Sizes
from benchmarks.solvers import SOLVERS, SparseTask
from benchmarks.tasks import (
    TASKS,
    cluster,
    construct,
    fit_large,
    fit_small,
    memory,
    predict,
    predict_one,
    reach,
    read_table,
    rgb_large,
    softmax_letters,
    sparse,
)
from benchmarks.timing import time_fits

SETTINGS = Settings(rounds=3, depth=2, threads=1)
SIZES = replace(
    Sizes.quick(), large_rows=300, large_test_rows=100, reach_rows=300, predict_rows=100, train_rows=200, rounds=3
)


class Constant(Competitor):
    """Scores that do not depend on the rows."""

    name = "constant"
    package = "radboost"

    def __init__(self, scores: list[float] | float) -> None:
        self.fits: list[tuple[int, Settings]] = []
        self._scores = np.array(scores)

    def estimator(self, settings: Settings) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, settings: Settings) -> Any:
        self.fits.append((len(y), settings))
        return settings

    def scores(self, model: Any, X: Any, settings: Settings) -> Any:
        return np.broadcast_to(self._scores, (len(X), *self._scores.shape))

    def trees(self, model: Any) -> int:
        return 5


def three_classes(rows: int) -> data.Data:
    return np.arange(rows, dtype=float)[:, None], np.arange(rows) % 3


def test_errors_of_two_and_of_many_classes() -> None:
    X, y = three_classes(9)
    assert Constant([0.1, 0.5, 0.2]).error(None, X, y, SETTINGS) == pytest.approx(2 / 3)
    assert Constant(0.5).error(None, X, (y == 0).astype(np.int64), SETTINGS) == pytest.approx(2 / 3)
    assert Constant(-0.5).error(None, X, (y == 0).astype(np.int64), SETTINGS) == pytest.approx(1 / 3)


def test_parts_and_first_rows() -> None:
    train, test = data.parted(three_classes(10), every=4)
    assert test[0].ravel().tolist() == [0, 4, 8]
    assert train[0].ravel().tolist() == [1, 2, 3, 5, 6, 7, 9]
    X, y = data.first_rows((np.zeros((4, 1)), np.array([7, 2, 7, 4])), 3)
    assert (X.shape, y.tolist()) == ((3, 1), [1, 0, 1])


def test_whole_fits_are_warmed_up_repeated_and_scaled() -> None:
    competitor = Constant([0.0, 1.0, 0.0])
    train = three_classes(1200)
    (row,) = time_fits([competitor], train, {"constant": SETTINGS}, repeats=2, test=train, scale=1e3)
    assert competitor.fits == [(1000, SETTINGS), (1200, SETTINGS), (1200, SETTINGS)]
    assert row.figure > 0
    assert (row.error, row.trees) == (pytest.approx(2 / 3), 5)


def test_the_fewest_rounds_that_reach_a_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    competitor, train = Constant(0.0), three_classes(9)
    errors = {2: 0.5, 4: 0.3, 8: 0.31, 16: 0.2}
    monkeypatch.setattr(competitor, "error", lambda fitted, X, y, settings: errors[fitted.rounds])
    for goal, rounds in ((0.5, 2), (0.3, 4), (0.25, 16)):
        settings, lowest = reach.first_to_reach(goal, competitor, train, train, tuple(errors))
        assert settings is not None
        assert settings.rounds == rounds
        assert lowest <= goal
    assert reach.first_to_reach(0.1, competitor, train, train, tuple(errors)) == (None, 0.2)


@pytest.mark.parametrize("competitor", ALL, ids=lambda competitor: competitor.name)
def test_every_competitor_fits_two_and_more_classes(competitor: Competitor) -> None:
    if not is_installed(competitor.package):
        pytest.skip(f"{competitor.package} is not installed")
    pytest.importorskip(competitor.package.replace("scikit-learn", "sklearn"))
    _, y = three_classes(150)
    X = np.float32(y[:, None])
    model = competitor.fit(X, y, SETTINGS)
    assert competitor.scores(model, X, SETTINGS).shape == (150, 3)
    assert competitor.error(model, X, y, SETTINGS) < 0.4
    if not (competitor.ours or competitor.slow):  # CatBoost's trees serve all classes
        assert (competitor.rounds(model), competitor.trees(model)) == (3, 3 if competitor.name == "CatBoost" else 9)
    leaf_wise = replace(SETTINGS, leaf_wise=True)
    model = competitor.fit(X, (y == 0).astype(np.int64), leaf_wise)
    assert competitor.scores(model, X, leaf_wise).shape == (150,)
    if not (competitor.ours or competitor.slow):
        assert (competitor.rounds(model), competitor.trees(model)) == (3, 3)


@pytest.mark.parametrize(
    "module", [construct, fit_large, fit_small, predict, predict_one, rgb_large], ids=lambda module: module.__name__
)
def test_tasks_on_generated_rows(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks with our own competitors and one other: the libraries have tests of their own."""
    monkeypatch.setattr(module, "installed", few)
    result = module.run(SIZES)
    assert {row.ours for row in result.rows} == {True} if module is construct else {True, False}
    assert all(math.isnan(row.figure) or row.figure > 0 for row in result.rows)


def few(*names: str) -> list[Competitor]:
    kept = ("RadBoost default", "RGB, 1 candidate", "HistGradientBoosting")
    return [one for one in ALL if one.name in kept and (not names or one.name in names)]


def test_who_does_not_reach_the_goal_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "installed", few)
    monkeypatch.setattr(reach, "first_to_reach", lambda goal, one, *_: (SETTINGS if one.ours else None, 0.3))
    ours, rgb, other = TASKS["reach-large"](SIZES).rows
    assert min(ours.figure, rgb.figure) > 0
    assert math.isnan(other.figure)
    assert other.note == "not in 10 rounds (lowest 0.3000)"


@pytest.mark.slow
def test_rounds_over_sources() -> None:
    assert [row.competitor for row in TASKS["sources-large"](SIZES).rows] == ["DeepBoost", "max", "softmax", "sum"]


def test_a_competitor_without_bins_of_its_own_says_so() -> None:
    with pytest.raises(NotImplementedError, match="constant has no binned data of its own"):
        Constant(0.0).construct(*three_classes(3), SETTINGS)


@pytest.mark.slow
def test_peak_memory_of_a_fit_in_a_process_of_its_own(tmp_path: Path) -> None:
    memory.store(tmp_path, data.synthetic(5000, 5, seed=1))
    default = next(one for one in ALL if one.name == "RadBoost default")
    assert 0 <= memory.peak(default, tmp_path, SETTINGS) < 100


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_from_a_file_to_bins_in_a_process_of_its_own(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("papers.datasets.locate", lambda name: None)
    monkeypatch.setattr(read_table, "THREADS", (1,))
    result = TASKS[f"read-{ending}"](SIZES)
    assert result.title == f"From {ending} to bins, 800 x 14, 8 columns of text"
    assert [row.competitor for row in result.rows if row.ours] == ["RadBoost, n_jobs=1"]
    for row in result.rows:
        assert row.figure > 0
        assert row.note.startswith("read ")


def test_a_round_of_the_reference_is_measured() -> None:
    assert softmax_letters.seconds_per_round(*data.synthetic(100, 5, seed=1), 2) > 0


class TestSparse:
    def task(self, n_classes: int, penalty: str) -> SparseTask:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(120, 8))
        y = (X[:, :n_classes] + rng.normal(size=(120, n_classes))).argmax(axis=1)
        return SparseTask(X, y, 0.02, penalty)

    @pytest.mark.parametrize(("n_classes", "penalty"), [(2, "l1"), (3, "l1/l2")])
    def test_the_objective_is_the_one_that_is_solved(self, n_classes: int, penalty: str) -> None:
        task = self.task(n_classes, penalty)
        weights = SOLVERS[0].solve(task, 1e-9)
        best = task.objective(weights)
        for seed in range(5):
            noise = np.random.default_rng(seed).normal(size=weights.shape) * 0.02
            assert task.objective(weights + noise) > best
        assert task.objective(np.zeros_like(weights)) == pytest.approx(np.log(n_classes))

    @pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
    def test_every_solver_solves_the_same_problem(self, solver: Any) -> None:
        if not is_installed(solver.package):
            pytest.skip(f"{solver.package} is not installed")
        task = self.task(2, "l1") if solver.takes(self.task(2, "l1")) else self.task(3, "l1/l2")
        best = task.objective(SOLVERS[0].solve(task, 1e-9))
        assert task.objective(solver.solve(task, solver.tolerances[-1])) == pytest.approx(best, rel=1e-3)

    def test_a_solver_that_is_too_coarse_is_not_timed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Lazy(type(SOLVERS[0])):  # type: ignore[misc]
            name, ours, tolerances = "lazy", False, (1.0,)

        monkeypatch.setattr(sparse, "solvers_of", lambda task: [SOLVERS[0], Lazy()])
        ours, lazy = sparse.dense(SIZES).rows
        assert ours.figure > 0
        assert math.isnan(lazy.figure)
        assert "not reached" in lazy.note


class TestCluster:
    def test_what_the_busiest_worker_sends(self) -> None:
        workers = [SimpleNamespace(n_exchanges=80, bytes_sent=n) for n in (0, 18_000_000)]
        sentence = cluster.traffic(SimpleNamespace(workers_=workers, n_iter_=10))
        assert sentence.startswith("8.0 exchanges and 1.80 MB sent a round")
        assert cluster.traffic(SimpleNamespace(n_iter_=10)) == ""

    @pytest.mark.slow
    def test_fits_on_workers_beside_one_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("distributed")
        monkeypatch.setattr(cluster, "NAMES", (cluster.OURS,))
        rows = cluster.run(SIZES).rows
        assert [row.competitor for row in rows] == ["one process", "RadBoost gini"]
        assert "MB sent a round" in rows[1].note
