"""Huber's loss with a delta from the data: any unit of y, any order of the rows, files and warm starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import RGBRegressor
from radboost.losses import HuberLoss

RNG = np.random.default_rng(3)
X = RNG.normal(size=(150, 4))
T = 300.0 + 80.0 * X[:, 0] + 30.0 * X[:, 1] + 20.0 * RNG.normal(size=150)


def delta_of(targets: Any) -> float:
    distances = np.sort(np.abs(targets - np.sort(targets)[(len(targets) - 1) // 2]))
    return float(distances[int(np.ceil(0.9 * len(targets) - 1e-9)) - 1])


@pytest.mark.parametrize("loss", ["huber", HuberLoss()], ids=["by name", "object"])
def test_delta_is_in_an_attribute(loss: Any) -> None:
    model = RGBRegressor(5, loss=loss).fit(X, T)
    assert model.loss_ == HuberLoss(delta_of(T))
    assert model.loss == loss
    given = RGBRegressor(5, loss=HuberLoss(delta_of(T))).fit(X, T)
    np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert RGBRegressor(5, loss=HuberLoss(7.0)).fit(X, T).loss_ == HuberLoss(7.0)


def test_the_unit_of_y_does_not_matter() -> None:
    model = RGBRegressor(20, loss="huber", subsample=1.0)  # rows are drawn by their content
    plain = model.fit(X, T).predict(X)
    for factor in (2.0**-20, 2.0**20):
        np.testing.assert_allclose(model.fit(X, factor * T).predict(X), factor * plain, rtol=1e-6)


def test_targets_that_are_mostly_or_all_the_same() -> None:
    few = np.where(np.arange(len(T)) < 6, 50.0, 0.0)
    assert RGBRegressor(3, loss="huber").fit(X, few).loss_ == HuberLoss(np.mean(few))
    assert RGBRegressor(3, loss="huber").fit(X, np.full(len(T), 3.0)).loss_ == HuberLoss(1.0)


def test_outside_of_a_fit_a_delta_must_be_given() -> None:
    with pytest.raises(ValueError, match=r"HuberLoss\(delta=1\.0\)"):
        HuberLoss().value(T, T)
