"""RGBRegressor with several targets: one tree answers for all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.utils import get_tags

import radboost
from boosting_cases import Squared
from export_tools import GCC, Compiled, run_onnx, same_kind
from native_rows import GradientRows
from radboost import RGBRegressor, TreeFamilies, TreeOptions
from radboost.losses import REGRESSION_LOSSES, ask
from radboost.losses.several import SeveralTargets
from reference import gradient as naive

LOSSES = [name for name, kind in REGRESSION_LOSSES.items() if kind.takes_several]
LOOSE = TreeOptions(min_leaf_weight=0.0)


def rows(seed: int = 0, m: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 4)), 2)
    y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], np.abs(X[:, 3]) + X[:, 0]])
    return X, y + 0.1 * rng.normal(size=y.shape)


def for_loss(loss: str, y: np.ndarray) -> np.ndarray:
    return np.exp(y) if loss in ("poisson", "gamma") else y


@pytest.mark.parametrize("loss", LOSSES)
def test_copies_of_a_target_are_predicted_as_one(loss: str) -> None:
    """Bit for bit like each other, and as the target alone is: families, steps and prices count alike."""
    X, y = rows()
    target = for_loss(loss, y[:, 1])
    alone = RGBRegressor(30, loss=loss, subsample=1.0).fit(X, target)
    for n_targets in (2, 3):
        model = RGBRegressor(30, loss=loss, subsample=1.0).fit(X, np.tile(target[:, None], (1, n_targets)))
        found = model.predict(X)
        assert found.shape == (len(X), n_targets)
        for k in range(1, n_targets):
            np.testing.assert_array_equal(found[:, k], found[:, 0])
        np.testing.assert_allclose(found[:, 0], alone.predict(X), rtol=2e-3, atol=2e-3)
        assert model.history_["family_size"] == alone.history_["family_size"]
        np.testing.assert_allclose(model.history_["objective"][-1], alone.history_["objective"][-1], rtol=0.5)


def test_plain_boosting_of_several_targets() -> None:
    """Full trees, all rows: means of the residuals in the leaves of trees that lower the sum of squared errors most."""
    X, y = rows(1, m=40)
    y[:, 2] *= 4096.0  # learned in units of its own
    family = TreeFamilies(sizes=(4,), norms=(1e6,))
    model = RGBRegressor(
        6, family=family, n_candidates=1, subsample=1.0, learning_rate=0.5, tree_options=LOOSE, complexity_penalty=0.0
    ).fit(X, y)
    units = 2.0 ** np.round(np.log2(y.std(axis=0)))
    scaled = y / units
    scores = np.tile(scaled.mean(axis=0), (len(y), 1))
    for staged in model.staged_predict(X):
        scores = scores + 0.5 * naive.best_first_means(X, scaled - scores, np.ones(len(y)), 4)
        np.testing.assert_allclose(staged, scores * units, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_native_losses_are_means_of_the_targets(loss: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    y, f = for_loss(loss, rng.normal(size=(50, 3))), rng.normal(size=(50, 3))
    weights = rng.integers(1, 4, 50).astype(float) if weighted else np.ones(50)
    each = REGRESSION_LOSSES[loss]()
    expected = SeveralTargets(each, 3)
    state = GradientRows(loss, each.parameter, 3, y, weights)
    state.scores.set(f.reshape(-1), state.weighting, 2)
    assert state.scores.loss == pytest.approx(np.average(each.value(y, f).mean(axis=1), weights=weights), rel=1e-12)
    np.testing.assert_allclose(
        state.weighting.gradients().reshape(50, 3) * state.weighting.unit,
        weights[:, None] * ask(expected, "derivative", y, f),
        rtol=1e-6,
        atol=1e-6,
    )
    step = 1e-6
    for k in range(3):
        ahead, behind = f.copy(), f.copy()
        ahead[:, k] += step
        behind[:, k] -= step
        slope = (expected.value(y, ahead) - expected.value(y, behind)) / (2 * step)
        np.testing.assert_allclose(expected.derivative(y, f)[:, k], slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile"])
def test_units_of_targets_do_not_matter(loss: str) -> None:
    """Powers of two to the last bit; other units by no more than a power of two is off."""
    X, y = rows(2)
    factors = np.array([1.0, 2.0**40, 2.0**-30])
    # The rows that trees grow on are drawn by the targets too.
    plain, scaled = (RGBRegressor(25, loss=loss, subsample=1.0).fit(X, targets) for targets in (y, y * factors))
    np.testing.assert_array_equal(plain.predict(X) * factors, scaled.predict(X))
    assert plain.history_ == scaled.history_
    moved = y * [1.0, 1e9, 1e-7] + [5.0, -1e10, 3.0]
    other = RGBRegressor(25, loss=loss, subsample=1.0).fit(X, moved)
    explained = r2_score(moved, other.predict(X), multioutput="raw_values")
    expected = r2_score(y, plain.predict(X), multioutput="raw_values")
    np.testing.assert_allclose(explained, expected, atol=0.15)


def test_weights_copies_threads_and_order() -> None:
    X, y = rows(4)
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, len(X))
    places = rng.permutation(np.repeat(np.arange(len(X)), counts))
    weighted = RGBRegressor(15, n_jobs=1).fit(X, y, sample_weight=counts)
    repeated = RGBRegressor(15, n_jobs=3).fit(X[places], y[places])
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert weighted.history_["objective"] == repeated.history_["objective"]


def test_validation_rows_stages_scores_and_files(tmp_path: Path) -> None:
    X, y = rows(5)
    model = RGBRegressor(40, early_stopping=5, learning_rate=0.5).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    assert model.n_iter_ == model.best_iteration_
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    residuals = (stages[-1][150:] - y[150:]) / model._units_of_fit
    assert model.best_score_ == pytest.approx(0.5 * (residuals**2).mean(), rel=1e-9)
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    model.save(tmp_path / "m")
    loaded = radboost.load(tmp_path / "m")
    assert "for 3 targets" in repr(loaded.ensemble_)
    assert repr(loaded.ensemble_) == repr(model.ensemble_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X[:1]).shape == (1, 3)
    held_back = RGBRegressor(30, early_stopping=3, learning_rate=0.5).fit(X, y)
    assert held_back.predict(X).shape == y.shape


def test_the_look_and_forms_of_y() -> None:
    X, y = rows(6, m=950)
    frame = pd.DataFrame(y, columns=["a", "b", "c"])
    automatic = RGBRegressor(random_state=0).fit(X, y)
    assert automatic.score(X, y) > 0.9
    assert automatic.chosen_["learning_rate"] == RGBRegressor().fit(X, y[:, 0]).chosen_["learning_rate"]
    for given in (frame, y.tolist(), csr_array(y)):
        np.testing.assert_array_equal(RGBRegressor(5).fit(X, given).predict(X), RGBRegressor(5).fit(X, y).predict(X))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = RGBRegressor(5).fit(X, y[:, :1])
    np.testing.assert_array_equal(column.predict(X), RGBRegressor(5).fit(X, y[:, 0]).predict(X))
    assert get_tags(RGBRegressor()).target_tags.multi_output
    categorical = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(np.where(X[:, 1] > 0, "u", "v"))})
    assert RGBRegressor(5).fit(categorical, y).predict(categorical).shape == y.shape


def test_what_is_refused() -> None:
    X, y = rows(7, m=60)
    for loss in ("huber", radboost.losses.HuberLoss(1.0), Squared()):
        with pytest.raises(ValueError, match=r"is for one target, and y has 3.*'squared'.*MultiOutputRegressor"):
            RGBRegressor(2, loss=loss).fit(X, y)
    with pytest.raises(ValueError, match="classes or targets have no order"):
        RGBRegressor(2, tree_options=TreeOptions(monotonic_constraints={0: 1})).fit(X, y)
    for y_val, n_targets in ((y[:, :2], 2), (y[:, 0], 1)):
        with pytest.raises(ValueError, match=f"y_val has {n_targets} targets per row, and y has 3"):
            RGBRegressor(2).fit(X, y, X_val=X, y_val=y_val)
    with pytest.raises(ValueError, match="NaN"):
        RGBRegressor(2).fit(X, np.where(y == y[3, 1], np.nan, y))
    warm = RGBRegressor(3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="other numbers of targets"):
        warm.set_params(n_rounds=4).fit(X, y[:, :2])


def rows_with_offsets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4))
    Y = np.column_stack([3.0 * X[:, 0] + 0.1 * rng.normal(size=200), 1000.0 * X[:, 1]])
    return X, Y, np.column_stack([2.0 * X[:, 0], 700.0 * X[:, 2]])


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_offsets_of_several_targets_are_those_of_their_differences(loss: str) -> None:
    X, Y, offset = rows_with_offsets()
    model = RGBRegressor(20, loss=loss, subsample=1.0)
    wanted = model.fit(X, Y - offset).predict(X) + offset
    watched = {"X_val": X[:50], "y_val": Y[:50], "offset_val": offset[:50]}
    found = model.fit(X, Y, offset=offset, **watched)
    np.testing.assert_allclose(found.predict(X, offset=offset), wanted, rtol=0, atol=1e-8)
    losses = np.abs if loss == "absolute" else lambda errors: 0.5 * errors**2
    units = found._units_of_fit
    last = losses((wanted[:50] - Y[:50]) / units).mean()
    assert found.history_["validation_loss"][-1] == pytest.approx(last)
    with pytest.raises(ValueError, match="a line of 2 numbers, one per class or target, for each row"):
        model.fit(X, Y, offset=offset[:, 0])


def test_offsets_of_several_counts_are_logarithms_of_exposures() -> None:
    rng = np.random.default_rng(6)
    X, exposures = rng.normal(size=(300, 2)), rng.uniform(0.5, 20.0, size=(300, 2))
    counts = rng.poisson(exposures * [2.0, 0.5]).astype(float)
    model = RGBRegressor(1, loss="poisson", learning_rate=1e-9).fit(X, counts, offset=np.log(exposures))
    rates = model.predict(X)  # of an exposure of 1, and with next to no learning the same for all
    np.testing.assert_allclose(rates, np.tile(counts.sum(axis=0) / exposures.sum(axis=0), (300, 1)), rtol=1e-4)


def test_one_of_several_targets_is_explained() -> None:
    X, Y, _ = rows_with_offsets()
    model = RGBRegressor(20).fit(X, Y)
    found = model.predict_contributions(X[:9])
    np.testing.assert_allclose(found.sum(axis=2), model.predict(X[:9]), rtol=1e-9)
    for target in (0, 1):
        told = model.explain(X[0], target=target)
        assert told.answer == pytest.approx(model.predict(X[:1])[0, target])
        assert told.base + sum(part.effect for part in told.contributions) == pytest.approx(told.score)
    with pytest.raises(ValueError, match=r"2 targets; say which one to explain: explain\(x, target=0\)"):
        model.explain(X[0])
    with pytest.raises(ValueError, match="target must be"):
        model.explain(X[0], target=2)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_models_of_several_targets_run_elsewhere(loss: str, tmp_path: Path) -> None:
    import treelite

    X, Y, _ = rows_with_offsets()
    model = RGBRegressor(8, loss=loss, n_jobs=1).fit(X, np.abs(Y) / [1.0, 100.0])
    again = RGBRegressor.from_dict(model.to_dict())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    scores = model.ensemble_.decision_function(X)
    compiled = Compiled({"m": model.to_c()}, tmp_path)
    np.testing.assert_array_equal(compiled.scores("model", X, 2), scores)
    same_kind(compiled.several_numbers("model", X, 2), model.predict(X))
    found = run_onnx(model.to_onnx(), X)
    same_kind(found["prediction"], model.predict(X))
    same_kind(treelite.gtil.predict(model.to_treelite(), X, nthread=1)[:, :, 0], model.predict(X))


@pytest.mark.parametrize("value", [5.3, 0.1, 1e-7, -3e9])
def test_constant_targets_are_predicted_to_the_last_bit(value: float) -> None:
    X, y = rows(2, 60)
    alone = RGBRegressor(30).fit(X, np.full(60, value))
    assert alone.stop_reason_ == "10 rounds in a row found no tree that lowers the loss"
    np.testing.assert_array_equal(alone.predict(X), value)
    assert alone.score(X, np.full(60, value)) == 1.0
    beside = RGBRegressor(3).fit(X, np.column_stack([y[:, 0], np.full(60, value)]), sample_weight=np.arange(60) % 4)
    np.testing.assert_array_equal(beside.predict(X)[:, 1], value)


def test_very_small_targets_have_a_unit_too() -> None:
    X, y = rows(3, 100)
    plain = RGBRegressor(20, loss="absolute").fit(X, y[:, :2]).predict(X)
    assert len(np.unique(plain[:, 1])) > 10
    for size in (2.0**-500, 2.0**-830):  # their squares are 0
        found = RGBRegressor(20, loss="absolute").fit(X, y[:, :2] * [1.0, size]).predict(X)
        np.testing.assert_array_equal(found, plain * [1.0, size])


@pytest.mark.parametrize("weights", [np.linspace(0.1, 5.0, 100), np.full(100, 2.0**30)])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_large_counts_with_any_weights(weights: np.ndarray, n_targets: int) -> None:
    """Sums of weighted exponentials stay finite in a line search."""
    X, _ = rows(4, 100)
    y = np.random.default_rng(0).poisson(1e5 * np.exp(X[:, :n_targets])).squeeze()
    model = RGBRegressor(30, loss="poisson").fit(X, y, sample_weight=weights)
    assert model.score(X, y) > 0.2
