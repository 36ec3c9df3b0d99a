"""Workers that each own a part of the rows end with the model of one worker that has all of them, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fingerprints
from boosting_cases import CASES, everything
from collective_tools import ThreadGroup, split_at_random
from radboost.estimators import _learning, learn
from radboost.rows.prepare import PreparedRows

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:The model")]


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
        lambda rank, collective: learn(estimator, prepared.part(places[rank], collective))
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("n_workers", "empty"), [(2, None), (3, 1)])
def test_every_worker_has_the_model_of_all_rows(
    name: str, n_workers: int, empty: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    estimator, prepared = caught(lambda: case.fitted(case.model()), monkeypatch)
    expected = everything(learn(estimator, prepared))
    for model in on_workers(estimator, prepared, n_workers, empty):
        assert everything(model) == expected


# Fits that go on from another one have rows to replay, which workers do like anybody; the largest takes a while.
FINGERPRINTED = [name for name in fingerprints.all_fits() if "300,000" not in name and "warm start" not in name]


@pytest.mark.parametrize("name", FINGERPRINTED)
def test_workers_make_the_models_with_known_fingerprints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every family, objective, criterion, way to grow and to step; weights, missing values, categories."""
    kept = json.loads(fingerprints.KEPT.read_text(encoding="utf-8"))
    estimator, prepared = caught(lambda: fingerprints.all_fits()[name](2), monkeypatch)
    for model in on_workers(estimator, prepared, 3):
        assert fingerprints.fingerprint(model) == kept[name]


def test_a_part_has_nothing_of_the_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    _, prepared = caught(lambda: CASES["deep"].fitted(CASES["deep"].model()), monkeypatch)
    part = ThreadGroup(1).run(lambda rank, collective: prepared.part(prepared.order[:7], collective))[0]
    assert part.X.shape[0] == part.data.n_rows == len(part.class_ids) == len(part.order) == 7
    np.testing.assert_array_equal(part.X[part.order], prepared.X[prepared.order[:7]])


def test_a_worker_that_fails_takes_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, prepared = caught(lambda: CASES["deep"].fitted(CASES["deep"].model()), monkeypatch)
    halves = [prepared.order[::2], prepared.order[1::2]]

    def work(rank: int, collective: Any) -> Any:
        if rank == 1:
            raise RuntimeError("this worker is gone")
        return learn(estimator, prepared.part(halves[rank], collective))

    with pytest.raises(RuntimeError, match="this worker is gone"):
        ThreadGroup(2).run(work)
