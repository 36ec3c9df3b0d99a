"""Gradient boosting and what users bring: large counts, other columns on the way, other losses, Huber's delta."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import radboost
from radboost import RGBClassifier, RGBRegressor, SoftmaxBoostClassifier, TreeOptions
from radboost.losses import HuberLoss, LogisticTargetLoss, PoissonLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
Y = (X[:, 0] + 0.5 * X[:, 1] + RNG.normal(size=80) * 0.3 > 0).astype(int)
T = 2.0 * X[:, 0] + X[:, 1]
FRAME = pd.DataFrame(X, columns=list("abcde"))


@pytest.mark.parametrize("base", [0.5, 50.0, 5e3, 5e6])
def test_counts_of_any_size(base: float) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(500, 3))
    counts = rng.poisson(base * np.exp(0.5 * rows[:, 0]))
    model = RGBRegressor(60, loss="poisson").fit(rows, counts)
    assert model.n_iter_ == 60
    assert np.all(np.diff(model.history_["objective"]) <= 0.0)
    if base > 1.0:
        assert model.score(rows, counts) > 0.8


def amounts(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Amounts whose standard deviation is a share of their mean."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, size=(n, 4))
    means = np.exp(1.0 + rows[:, 0] + np.where(rows[:, 1] > 0.0, 0.7, 0.0) * rows[:, 2])
    return rows, rng.gamma(2.0, means / 2.0)


@pytest.mark.parametrize("unit", [1e-90, 1e-6, 1e6, 1e90])
def test_amounts_in_any_unit(unit: float) -> None:
    rows, targets = amounts(300, 2)
    # All rows in every round: draws are keyed by the targets too.
    model = RGBRegressor(30, loss="gamma", subsample=1.0).fit(rows, targets)
    other = RGBRegressor(30, loss="gamma", subsample=1.0).fit(rows, unit * targets)
    assert other.n_iter_ == 30
    np.testing.assert_allclose(other.predict(rows), unit * model.predict(rows), rtol=1e-5)
    assert np.all(np.diff(other.history_["objective"]) <= 0.0)


def test_a_warm_start_refuses_what_would_break_the_model() -> None:
    model = RGBRegressor(5, warm_start=True).fit(FRAME, T).set_params(n_rounds=6)
    with pytest.raises(ValueError, match="other columns"):
        model.fit(FRAME[list("edcba")], T)
    with pytest.raises(ValueError, match="whose monotonic_constraints was"):
        model.set_params(tree_options=TreeOptions(monotonic_constraints={"a": 1})).fit(FRAME, T)
    with pytest.raises(ValueError, match="whose loss was"):
        RGBRegressor(3, loss=HuberLoss(1.0), warm_start=True).fit(X, T).set_params(loss=HuberLoss(2.0)).fit(X, T)


class Scalar:
    def value(self, targets: Any, scores: Any) -> Any:
        return float(((targets - scores) ** 2).mean())

    def derivative(self, targets: Any, scores: Any) -> Any:
        return pd.Series(2.0 * (scores - targets))


class Series(Scalar):
    def value(self, targets: Any, scores: Any) -> Any:
        return pd.Series((targets - scores) ** 2)


def test_losses_of_ones_own_are_checked_before_the_first_round() -> None:
    with pytest.raises(ValueError, match=r"Scalar.value must return 80 finite numbers.*shape \(1,\)"):
        RGBRegressor(3, loss=Scalar()).fit(X, T)
    assert RGBRegressor(30, loss=Series()).fit(X, T).score(X, T) > 0.5


def test_losses_for_other_targets_are_refused() -> None:
    with pytest.raises(ValueError, match=r"LogisticTargetLoss.* is for other targets; .*SquaredLoss"):
        RGBRegressor(3, loss=LogisticTargetLoss()).fit(X, T)
    with pytest.raises(ValueError, match=r"PoissonLoss.* is for other targets; .*LogisticTargetLoss"):
        RGBClassifier(3, loss=PoissonLoss()).fit(X, Y)
    with pytest.raises(ValueError, match="negative"):
        RGBRegressor(3, loss="poisson").fit(X, np.abs(T), X_val=X, y_val=T)
    with pytest.raises(ValueError, match="above zero"):
        RGBRegressor(3, loss="gamma").fit(X, np.abs(T) + 1.0, X_val=X, y_val=np.abs(T) * 0.0)


def test_costs_named_by_booleans_in_any_order(tmp_path: Path) -> None:
    frame = pd.DataFrame([[0.0, 1.0], [7.0, 0.0]], index=[True, False], columns=[True, False])
    model = SoftmaxBoostClassifier(20, cost=frame).fit(X, Y > 0)
    plain = SoftmaxBoostClassifier(20, cost=[[0.0, 7.0], [1.0, 0.0]]).fit(X, Y > 0)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    rows = pd.DataFrame({True: 1.0 - Y, False: 1.0 * Y})
    by_row = SoftmaxBoostClassifier(20, cost=frame).fit(X, Y > 0, cost=rows)
    unnamed = SoftmaxBoostClassifier(20).fit(X, Y > 0, cost=rows.iloc[:, [1, 0]].to_numpy())
    np.testing.assert_array_equal(by_row.predict_proba(X), unnamed.predict_proba(X))
    by_row.save(tmp_path / "m")
    assert radboost.load(tmp_path / "m").cost == [[0.0, 7.0], [1.0, 0.0]]


@pytest.mark.parametrize("exponent", [-300, -100, 40, 99])
@pytest.mark.parametrize("loss", ["absolute", "quantile", "poisson", "gamma"])
def test_targets_of_any_size_are_learned(loss: str, exponent: int) -> None:
    """The searches for steps begin far from where the size of the targets puts their ends."""
    if exponent < -98 and loss in ("poisson", "gamma"):
        exponent = -98  # smaller ones are refused
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(200, 3))
    plain = rng.poisson(20.0 * np.exp(0.5 * rows[:, 0])) / 100.0 + 0.05
    half = exponent // 2  # 1e300 times 1e-300 is not 1 on the way
    model = RGBRegressor(40, loss=loss).fit(rows, plain * 10.0**half * 10.0 ** (exponent - half))
    found = model.predict(rows) * 10.0**-half * 10.0 ** (half - exponent)
    assert np.corrcoef(found, plain)[0, 1] > 0.85


@pytest.mark.parametrize("loss", ["squared", "huber", HuberLoss(1e-300)], ids=["squared", "huber", "given"])
def test_targets_whose_squares_vanish_are_refused(loss: Any) -> None:
    with pytest.raises(ValueError, match=r'up to \d.*e-300 in size only, and loss="(squared|huber)" needs .*1e-120'):
        RGBRegressor(5, loss=loss).fit(X, 1e-300 * T)
    np.testing.assert_array_equal(RGBRegressor(5, loss=loss).fit(X, np.zeros(80)).predict(X), 0.0)
    if isinstance(loss, str):
        small = RGBRegressor(40, loss=loss).fit(X, 1e-110 * T).predict(X)
        assert np.corrcoef(1e110 * small, T)[0, 1] > 0.9


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
