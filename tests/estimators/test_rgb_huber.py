"""Huber's loss with a delta from the data: any unit of y, any order of the rows, files and warm starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

import radboost
from radboost import RGBRegressor
from radboost.losses import HuberLoss

RNG = np.random.default_rng(3)
X = RNG.normal(size=(150, 4))
T = 300.0 + 80.0 * X[:, 0] + 30.0 * X[:, 1] + 20.0 * RNG.normal(size=150)


def delta_of(targets: Any) -> float:
    distances = np.sort(np.abs(targets - np.sort(targets)[(len(targets) - 1) // 2]))
    return float(distances[int(np.ceil(0.9 * len(targets) - 1e-9)) - 1])


def scores_of(model: Any) -> Any:
    return model.predict(X)


def test_diabetes() -> None:
    rows, targets = load_diabetes(return_X_y=True)
    found = {
        loss: cross_val_score(RGBRegressor(100, loss=loss), rows, targets, cv=3).mean() for loss in ("squared", "huber")
    }
    assert found["huber"] > found["squared"] - 0.03, found


@pytest.mark.parametrize("loss", ["huber", HuberLoss()], ids=["by name", "object"])
def test_delta_is_in_an_attribute(loss: Any) -> None:
    model = RGBRegressor(5, loss=loss).fit(X, T)
    assert model.loss_ == HuberLoss(delta_of(T))
    assert model.loss == loss
    given = RGBRegressor(5, loss=HuberLoss(delta_of(T))).fit(X, T)
    np.testing.assert_array_equal(scores_of(model), scores_of(given))
    assert RGBRegressor(5, loss=HuberLoss(7.0)).fit(X, T).loss_ == HuberLoss(7.0)


def test_the_unit_of_y_does_not_matter() -> None:
    model = RGBRegressor(20, loss="huber", subsample=1.0)  # rows are drawn by their content
    plain = scores_of(model.fit(X, T))
    for factor in (2.0**-20, 2.0**20):
        np.testing.assert_allclose(scores_of(model.fit(X, factor * T)), factor * plain, rtol=1e-6)


def test_order_weights_and_copies() -> None:
    order = RNG.permutation(len(T))
    weights = RNG.integers(0, 4, size=len(T))
    weighted = RGBRegressor(8, loss="huber").fit(X, T, sample_weight=weights)
    moved = RGBRegressor(8, loss="huber").fit(X[order], T[order], sample_weight=weights[order])
    copies = RGBRegressor(8, loss="huber").fit(np.repeat(X, weights, axis=0), np.repeat(T, weights))
    assert weighted.loss_ == moved.loss_ == copies.loss_ == HuberLoss(delta_of(np.repeat(T, weights)))
    np.testing.assert_array_equal(scores_of(weighted), scores_of(moved))
    np.testing.assert_array_equal(scores_of(weighted), scores_of(copies))


def test_targets_that_are_mostly_or_all_the_same() -> None:
    few = np.where(np.arange(len(T)) < 6, 50.0, 0.0)
    assert RGBRegressor(3, loss="huber").fit(X, few).loss_ == HuberLoss(np.mean(few))
    assert RGBRegressor(3, loss="huber").fit(X, np.full(len(T), 3.0)).loss_ == HuberLoss(1.0)


def test_going_on(tmp_path: Path) -> None:
    whole = RGBRegressor(12, loss="huber").fit(X, T)
    half = RGBRegressor(6, loss="huber", warm_start=True).fit(X, T)
    half.save(tmp_path / "half.rad")
    half.set_params(n_rounds=12).fit(X, T)
    np.testing.assert_array_equal(scores_of(half), scores_of(whole))
    assert half.loss_ == whole.loss_

    loaded = radboost.load(tmp_path / "half.rad")
    assert loaded.loss_ == whole.loss_
    np.testing.assert_array_equal(scores_of(loaded.set_params(n_rounds=12).fit(X, T)), scores_of(whole))
    with pytest.raises(ValueError, match=r"whose loss was 'huber', and loss=HuberLoss\(delta=2\.0\) now"):
        half.set_params(n_rounds=15, loss=HuberLoss(2.0)).fit(X, T)


def test_files_from_before_deltas_were_taken_from_the_data(tmp_path: Path) -> None:
    """They have the name alone, and it stood for a delta of 1."""
    model = RGBRegressor(6, loss=HuberLoss(1.0), warm_start=True).fit(X, T)
    whole = RGBRegressor(12, loss=HuberLoss(1.0)).fit(X, T)
    model.loss_ = "huber"
    model.save(tmp_path / "old.rad")
    loaded = radboost.load(tmp_path / "old.rad")
    assert loaded.loss_ == HuberLoss(1.0)
    np.testing.assert_array_equal(scores_of(loaded), scores_of(model))
    np.testing.assert_array_equal(scores_of(loaded.set_params(n_rounds=12).fit(X, T)), scores_of(whole))


def test_outside_of_a_fit_a_delta_must_be_given() -> None:
    with pytest.raises(ValueError, match=r"HuberLoss\(delta=1\.0\)"):
        HuberLoss().value(T, T)
