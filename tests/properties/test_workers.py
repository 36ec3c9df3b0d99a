"""Workers that each own a part of the rows end with the model of one worker that has all of them, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fingerprints
from boosting_cases import CASES, everything
from collective_tools import ThreadGroup, split_at_random
from prepared_rows import part_of, prepare
from radboost import DeepBoostClassifier, RGBClassifier, SoftmaxBoostClassifier
from radboost.estimators import _learning, learn
from radboost.losses.target import WeightedRows
from radboost.rows.costs import make_costs
from radboost.rows.prepare import PreparedRows
from radboost.rows.weights import RowWeights

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:The model")]


WITH_OFFSETS = {
    "deep": DeepBoostClassifier(8, complexity_penalty=0.001, early_stopping=5),
    "softmax": SoftmaxBoostClassifier(8, early_stopping=5),
    "rgb": RGBClassifier(8, early_stopping=5),
}


class CaughtError(Exception):
    """Carries the estimator and the rows that a fit was about to learn with."""


def caught(fit: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, PreparedRows]:
    def stop(estimator: Any, prepared: PreparedRows, **more: Any) -> Any:
        raise CaughtError(estimator, prepared)

    with monkeypatch.context() as patch:
        patch.setattr(_learning, "learn", stop)
        with pytest.raises(CaughtError) as found:
            fit()
    estimator, prepared = found.value.args
    return estimator, prepared


def on_workers(estimator: Any, prepared: PreparedRows, n_workers: int, empty: int | None = None) -> list[Any]:
    """The model of each worker; the rows are split at random."""
    parts = split_at_random(prepared.n_rows, n_workers, np.random.default_rng(n_workers), empty)
    places = [prepared.order[part] for part in parts]
    return ThreadGroup(n_workers).run(
        lambda rank, collective: learn(estimator, part_of(prepared, places[rank], collective))
    )


# Fits that go on from another one have rows to replay, which workers do like anybody; the largest takes a while.
FINGERPRINTED = [name for name in fingerprints.all_fits() if "300,000" not in name and "warm start" not in name]
# Thousands of exchanges: short fits by which defaults are chosen, and soft-max boosting, of which a few are enough.
SHORT_FITS = {"rgb, numbers, looks", "looked at, 1,500 rows"}
SOFTMAX = set(fingerprints.softmax_fits())
FEW_SOFTMAX = {
    "softmax, by the rule",
    "softmax, costs of rows, weights",
    "softmax, early stopping",
    "softmax, categories, best thresholds",
    "softmax, 40,000 rows",
}
WORKERS = [(2, None), (3, 1)]  # how many there are, and which one has no rows
LONG = ("deep, 4 classes, max, pushed", "soft-max", "soft-max, far apart", "soft-max, 4 classes, all pairs")


@pytest.mark.parametrize(
    ("name", "n_workers", "empty"),
    [
        pytest.param(name, *WORKERS[(place + turn) % 2], marks=pytest.mark.slow if turn > 0 or name in LONG else ())
        for turn in range(2)
        for place, name in enumerate(CASES)
    ],
)
def test_every_worker_has_the_model_of_all_rows(
    name: str, n_workers: int, empty: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    estimator, prepared = caught(lambda: case.fitted(case.model()), monkeypatch)
    expected = everything(learn(estimator, prepared))
    for model in on_workers(estimator, prepared, n_workers, empty):
        assert everything(model) == expected


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SHORT_FITS | SOFTMAX - FEW_SOFTMAX else ())
        for name in FINGERPRINTED
    ],
)
def test_workers_make_the_models_with_known_fingerprints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every family, objective, criterion, way to grow and to step; weights, missing values, categories."""
    kept = json.loads(fingerprints.KEPT.read_text(encoding="utf-8"))
    estimator, prepared = caught(lambda: fingerprints.all_fits()[name](2), monkeypatch)
    for model in on_workers(estimator, prepared, 3):
        assert fingerprints.fingerprint(model) == kept[name]


@pytest.mark.parametrize("name", ["deep", "softmax", "rgb"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_workers_take_offsets_along(name: str, n_classes: int) -> None:
    """Also where rows differ in their offsets alone, and are on different workers."""
    draws = np.random.default_rng(20)
    X = np.tile(draws.integers(0, 5, size=(40, 3)), (3, 1)).astype(float)
    y = np.tile(draws.permutation(np.arange(40) % n_classes), 3)
    offset = draws.normal(size=120 if n_classes == 2 else (120, n_classes))
    estimator = WITH_OFFSETS[name]
    prepared = prepare(estimator, X, y, offset=offset)
    expected = everything(learn(estimator, prepared))
    assert expected != everything(learn(estimator, replace(prepared, offset=None)))
    for model in on_workers(estimator, prepared, 3):
        assert everything(model) == expected


def test_a_part_has_nothing_of_the_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    _, prepared = caught(lambda: CASES["deep"].fitted(CASES["deep"].model()), monkeypatch)
    part = ThreadGroup(1).run(lambda rank, collective: part_of(prepared, prepared.order[:7], collective))[0]
    assert part.X.shape[0] == part.data.n_rows == len(part.class_ids) == len(part.order) == 7
    np.testing.assert_array_equal(part.X[part.order], prepared.X[prepared.order[:7]])


def test_a_worker_that_fails_takes_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, prepared = caught(lambda: CASES["deep"].fitted(CASES["deep"].model()), monkeypatch)
    halves = [prepared.order[::2], prepared.order[1::2]]

    def work(rank: int, collective: Any) -> Any:
        if rank == 1:
            raise RuntimeError("this worker is gone")
        return learn(estimator, part_of(prepared, halves[rank], collective))

    with pytest.raises(RuntimeError, match="this worker is gone"):
        ThreadGroup(2).run(work)


@pytest.mark.parametrize("seed", range(3))
def test_rows_held_back_by_several_workers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, prepared = caught(lambda: CASES["deep, 4 classes"].fitted(CASES["deep, 4 classes"].model()), monkeypatch)
    rest, watched, _ = prepared.hold_back(0.3, seed, 1)
    parts = split_at_random(prepared.n_rows, 3, np.random.default_rng(seed), empty=1)
    found = ThreadGroup(3).run(
        lambda rank, collective: part_of(prepared, prepared.order[parts[rank]], collective).hold_back(0.3, seed, 1)
    )

    def rows_of(blocks: list[np.ndarray]) -> list[bytes]:
        return sorted(row.tobytes() for block in blocks for row in np.ascontiguousarray(block))

    assert rows_of([own.X for _, own, _ in found]) == rows_of([watched.X])
    assert rows_of([own.X[own.order] for own, _, _ in found]) == rows_of([rest.X[rest.order]])


def test_mean_floors_of_several_workers() -> None:
    rng = np.random.default_rng(1)
    examples, class_ids = rng.integers(1, 9, (50, 3)) / 7.0, rng.integers(0, 3, 50).astype(np.uint16)
    weights = rng.integers(1, 30, 50) / 7.0
    costs = make_costs(None, examples, 3)
    whole = costs.mean_floor(class_ids, RowWeights(weights, 50))
    parts = split_at_random(50, 3, rng, empty=0)

    def work(rank: int, collective: Any) -> float:
        own = parts[rank]
        rows = RowWeights(weights[own], len(own), collective=collective)
        return costs.select(own.astype(np.uint32)).mean_floor(class_ids[own], rows)

    assert ThreadGroup(3).run(work) == [whole] * 3
    assert whole == pytest.approx(np.average(examples.min(axis=1), weights=weights))


def test_targets_of_several_workers() -> None:
    targets = np.random.default_rng(2).normal(size=40)
    parts = split_at_random(40, 3, np.random.default_rng(3), empty=2)
    whole = WeightedRows(targets, None, np.mean)

    def work(rank: int, collective: Any) -> tuple[float, ...]:
        own = targets[parts[rank]]
        given = WeightedRows(own, None, np.mean, RowWeights(None, len(own), collective=collective).gather)
        return given.largest(), given.quantile(0.5), given.quantile(0.9)

    assert ThreadGroup(3).run(work) == [(targets.max(), whole.quantile(0.5), whole.quantile(0.9))] * 3
