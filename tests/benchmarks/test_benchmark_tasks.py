"""The parts that the benchmark's tasks share, with a competitor that is no library."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

# the field imports every library that takes part; they are installed by `make bench`
pytest.importorskip("catboost")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

from benchmarks import data
from benchmarks.competitors import COMPETITORS, FAST
from benchmarks.competitors.base import Competitor
from benchmarks.competitors.radboost import WHOLE_STEPS, RadBoostDefault
from benchmarks.competitors.rgb import RGB, RGBSevenCandidates
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks import (
    construct,
    memory,
    predict_one,
    reach,
    reach_letters,
    rgb_large,
    softmax_growth,
    softmax_letters,
)
from benchmarks.tasks.whole_fit import time_fits

SETTINGS = Settings(rounds=3, depth=2)


class Constant(Competitor):
    """Scores that do not depend on the rows."""

    name = "constant"

    def __init__(self, scores: list[float] | float) -> None:
        self.fits: list[tuple[int, Settings]] = []
        self._scores = np.array(scores)

    def fit(self, X: Any, y: Any, settings: Settings) -> Any:
        self.fits.append((len(y), settings))
        return self

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


def test_one_row_of_so_many_tests() -> None:
    train, test = data.parted(three_classes(10), every=4)
    assert test[0].ravel().tolist() == [0, 4, 8]
    assert train[0].ravel().tolist() == [1, 2, 3, 5, 6, 7, 9]


def test_labels_of_the_first_rows_have_no_gaps() -> None:
    X, y = data.first_rows((np.zeros((4, 1)), np.array([7, 2, 7, 4])), 3)
    assert X.shape == (3, 1)
    assert y.tolist() == [1, 0, 1]


def test_whole_fits_are_warmed_up_repeated_and_scaled() -> None:
    competitor = Constant([0.0, 1.0, 0.0])
    train = three_classes(1200)
    (row,) = time_fits([competitor], train, train, {"constant": SETTINGS}, repeats=2, scale=1e3)
    assert competitor.fits == [(1000, SETTINGS), (1200, SETTINGS), (1200, SETTINGS)]
    assert len(row.runs) == 2
    assert row.figure == min(row.runs) > 0
    assert row.error == pytest.approx(2 / 3)
    assert row.trees == 5


def test_rounds_to_a_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = RadBoostDefault()
    monkeypatch.setattr(ours, "fit", lambda X, y, settings: settings)
    monkeypatch.setattr(ours, "staged_errors", lambda model, X, y: iter([0.5, 0.3, 0.2, 0.3][: model.rounds]))
    train = three_classes(9)
    assert reach_letters._rounds_to(0.3, ours, train, train, most=10) == 2
    assert reach_letters._rounds_to(0.25, ours, train, train, most=10) == 3
    assert reach_letters._rounds_to(0.1, ours, train, train, most=10) is None
    assert reach_letters._rounds_to(0.25, ours, train, train, most=2) is None


def test_the_fewest_rounds_that_reach_a_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = RadBoostDefault()
    monkeypatch.setattr(ours, "fit", lambda X, y, settings: settings.rounds)
    monkeypatch.setattr(ours, "error", lambda rounds, X, y, settings: {2: 0.5, 4: 0.3, 8: 0.31, 16: 0.2}[rounds])
    train, grid = three_classes(9), (2, 4, 8, 16)
    for goal, rounds in ((0.5, 2), (0.3, 4), (0.25, 16)):
        settings, lowest = reach.first_to_reach(goal, ours, train, train, grid)
        assert settings is not None
        assert settings.rounds == rounds
        assert lowest <= goal
    assert reach.first_to_reach(0.1, ours, train, train, grid) == (None, 0.2)


def test_whole_steps_are_whole() -> None:
    for ours in WHOLE_STEPS:
        model = ours.fit(*data.synthetic(200, 5, seed=1), SETTINGS)
        assert (model.learning_rate, model.step) == (1.0, "line_search")
        assert model.max_depth == (12 if "depth 12" in ours.name else SETTINGS.depth)
        assert len(list(ours.staged_errors(model, *data.synthetic(200, 5, seed=1)))) == ours.rounds(model)
    assert len({ours.name for ours in WHOLE_STEPS}) == len(WHOLE_STEPS)


@pytest.mark.slow
def test_peak_memory_of_a_fit_in_a_process_of_its_own() -> None:
    used = memory.peaks(data.synthetic(5000, 5, seed=1), {"RadBoost default": SETTINGS})
    assert 0 <= used["RadBoost default"] < 100


@pytest.mark.parametrize("name", [name for name, competitor in FAST.items() if not competitor.ours])
def test_rounds_and_trees_of_many_classes(name: str) -> None:
    _, y = three_classes(300)
    X = np.float32(y[:, None])
    competitor = COMPETITORS[name]
    model = competitor.fit(X, y, SETTINGS)
    # CatBoost's trees serve all classes
    assert (competitor.rounds(model), competitor.trees(model)) == (3, 3 if name == "CatBoost" else 9)
    assert competitor.scores(model, X, SETTINGS).shape == (300, 3)
    model = competitor.fit(X, (y == 0).astype(np.int64), SETTINGS)
    assert (competitor.rounds(model), competitor.trees(model)) == (3, 3)


def test_a_round_of_the_oracle_is_measured() -> None:
    X, y = data.synthetic(200, 5, seed=1)
    assert softmax_letters._seconds_per_round(X, y, 2) > 0
    seconds, model = softmax_letters._fit(X, y, 3)
    assert seconds > 0
    assert (model.n_rounds, model.max_leaves, model.tree_options.thresholds) == (3, 12, "best")  # the paper's algorithm


@pytest.mark.slow
def test_growth_is_measured_at_every_size() -> None:
    sizes = replace(Sizes.quick(), growth_rows=400, growth_rounds=(1, 2))
    result = softmax_growth.run(sizes)
    assert [row.competitor for row in result.rows][:2] == ["N = 400, K = 10", "N = 800, K = 10"]
    assert {row.competitor for row in result.rows} >= {"N = 400, K = 160", "N = 1,600, K = 10, M = 100"}


@pytest.mark.slow
def test_binned_data_alone() -> None:
    result = construct.run(Sizes(large_rows=3000, large_columns=5, repeats=2))
    assert [row.competitor for row in result.rows] == ["RadBoost default", "XGBoost", "LightGBM"]
    assert all(row.figure == min(row.runs) > 0 and len(row.runs) == 2 for row in result.rows)
    bins = COMPETITORS["RadBoost default"].construct(*data.synthetic(3000, 5, seed=1), SETTINGS)
    assert (bins.n_rows, bins.n_columns, bins.n_bins().tolist()) == (3000, 5, [255] * 5)
    with pytest.raises(NotImplementedError, match="AdaBoost"):
        COMPETITORS["AdaBoost"].construct(*data.synthetic(30, 5, seed=1), SETTINGS)


def test_single_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    field = {name: FAST[name] for name in ("RadBoost default", "XGBoost")}
    monkeypatch.setattr(predict_one, "FAST", field)
    sizes = Sizes(
        predict_train_rows=300, large_columns=5, large_test_rows=60, predict_trees=3, single_calls=20, repeats=1
    )
    result = predict_one.run(sizes)
    assert [row.competitor for row in result.rows] == list(field)
    assert all(row.figure > 0 and row.error < 0.6 for row in result.rows)


@pytest.mark.slow
def test_gradient_boosting_with_one_candidate_and_with_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rgb_large, "LEAF_WISE", rgb_large.LEAF_WISE[:1])
    sizes = Sizes(large_rows=2000, large_columns=5, large_test_rows=500, rgb_rounds=3, repeats=1)
    result = rgb_large.run(sizes)
    assert [row.competitor for row in result.rows] == ["RGB, 1 candidate", "RGB, 7 candidates", "XGBoost"]
    assert all(row.figure > 0 and row.error is not None and row.error < 0.5 for row in result.rows)
    one, seven = (competitor.families(SETTINGS) for competitor in (RGB(), RGBSevenCandidates()))
    assert max(one.sizes) == max(seven.sizes) == SETTINGS.leaves - 1
