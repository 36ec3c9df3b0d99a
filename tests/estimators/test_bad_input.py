"""Every bad input gets an error that says what is wrong, or the right result where there is one."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from radboost import DeepBoostClassifier, EarlyStopping, TreeOptions
from radboost.trees import with_tree_options
from reference.data import smooth

X, Y = smooth(0, m=60)


def quick(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(**with_tree_options({"n_rounds": 4, **changes}))


class Broken:
    """A loss whose answers are not what a loss may answer."""

    def __init__(self, value: Any, derivative: Any) -> None:
        self.value, self.derivative = value, derivative


@pytest.mark.parametrize("spread", [(1e13, 0.5), (1e-9, 1e-9), (1e10, 1e-10)])
def test_weights_of_any_usable_size_keep_covers_right(spread: tuple[float, float]) -> None:
    w = np.where(Y > 0, *spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DeepBoostClassifier.paper(n_rounds=1, max_depth=1).fit(X, Y, sample_weight=w)
    for tree in model.ensemble_.hypotheses:
        assert tree.cover[0] == pytest.approx(w.sum(), rel=1e-6)
        assert np.all(tree.cover >= 0)


def test_small_total_weight_warns_and_says_how_to_rescale() -> None:
    with pytest.warns(UserWarning, match=r"(?i)sample_weight.*sum|sum.*sample_weight|rescale"):
        quick().fit(X, Y, sample_weight=np.full(60, 1 / 60))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(X, Y, sample_weight=np.full(60, 1.0))
        quick().fit(X, Y, sample_weight=np.random.default_rng(0).random(60) + 0.5)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("loss", "hinge", ValueError, "(?s)hinge.*exponential.*logistic"),
        ("loss", 3, (TypeError, ValueError), "loss"),
        ("loss", Broken(lambda t, s: t * s, lambda t, s: t), ValueError, "must not increase"),
        ("loss", Broken(lambda t, s: np.full_like(s, np.nan), lambda t, s: -t), ValueError, "NaN"),
        ("loss", Broken(lambda t, s: np.exp(-t * s), lambda t, s: np.full_like(s, np.inf)), ValueError, "infinity"),
        ("loss", Broken(lambda t, s: s[:3], lambda t, s: -t), ValueError, "shape"),
        ("family", "forest", ValueError, "(?s)forest.*stumps"),
        ("family", [], ValueError, "family"),
        ("family", ["trees", "forest"], ValueError, "forest"),
        ("family", 7, (TypeError, ValueError), "family"),
        ("max_depth", 0, ValueError, "max_depth"),
        ("max_depth", 1.5, (TypeError, ValueError), "max_depth"),
        ("max_depth", 10**9, ValueError, "max_depth"),
        ("complexity_penalty", -0.1, ValueError, "complexity_penalty"),
        ("complexity_penalty", math.nan, ValueError, "complexity_penalty"),
        ("complexity_penalty", math.inf, ValueError, "complexity_penalty"),
        ("l1_penalty", -1, ValueError, "l1_penalty"),
        ("l1_penalty", "x", (TypeError, ValueError), "l1_penalty"),
        ("learning_rate", 0, ValueError, "learning_rate"),
        ("learning_rate", 1.01, ValueError, "learning_rate"),
        ("learning_rate", math.nan, ValueError, "learning_rate"),
        ("subsample", 0, ValueError, "subsample"),
        ("subsample", 1.2, ValueError, "subsample"),
        ("max_features", 0, ValueError, "max_features"),
        ("max_features", 1.5, ValueError, "max_features"),
        ("thresholds", "median", ValueError, "(?s)(?=.*median)(?=.*best)(?=.*random)"),
        ("split_criterion", "entropy", ValueError, "(?s)(?=.*entropy)(?=.*edge)(?=.*gini)"),
        ("step", "newton", ValueError, "(?s)(?=.*newton)(?=.*closed_form)(?=.*line_search)"),
        ("growth", "worst_first", ValueError, "(?s)(?=.*worst_first)(?=.*layers)(?=.*best_first)"),
        ("max_bins", 256, ValueError, "max_bins"),
        ("max_bins", 1, ValueError, "max_bins"),
        ("tree_options", TreeOptions(max_leaves=1), ValueError, "max_leaves"),
        ("min_leaf_weight", -1.0, ValueError, "min_leaf_weight"),
        ("min_leaf_weight", math.nan, ValueError, "min_leaf_weight"),
        ("early_stopping", EarlyStopping(patience=0), ValueError, "patience"),
        ("early_stopping", EarlyStopping(validation_fraction=0.0), ValueError, "validation_fraction"),
        ("early_stopping", EarlyStopping(validation_fraction=1.0), ValueError, "validation_fraction"),
        ("tree_options", {"max_bins": 3}, (TypeError, ValueError), "(?s)tree_options.*TreeOptions"),
    ],
    ids=lambda v: str(v) if isinstance(v, str | int | float) else None,
)
def test_parameters_refused(name: str, value: Any, error: Any, message: str) -> None:
    model = quick(**{name: value})
    with pytest.raises(error, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "ensemble_")


@pytest.mark.parametrize("minimum", [30.5, 61.0, 1e19, 1e300])
def test_leaf_minimum_beyond_all_weight(minimum: float) -> None:
    """No split can have so much on both sides: what is left is the constant."""
    y = np.where(np.arange(60) < 35, 0, 1)
    for weights in (None, np.full(60, 1.0), np.full(60, 0.999)):
        model = DeepBoostClassifier.paper(n_rounds=5, tree_options=TreeOptions(min_leaf_weight=minimum))
        model.fit(X, y, sample_weight=weights)
        assert [tree.n_splits for tree in model.ensemble_.hypotheses] == [0]


def test_a_loss_that_is_flat_ends_the_fit() -> None:
    """Phi(u) = 1 + max(0, u)^2 has no slope once every margin is above 1."""
    flat = Broken(lambda t, s: 1 + np.maximum(0, 1 - t * s) ** 2, lambda t, s: -2 * t * np.maximum(0, 1 - t * s))
    model = DeepBoostClassifier.paper(n_rounds=30, loss=flat).fit(np.arange(10.0)[:, None], np.arange(10) > 4)
    assert model.n_iter_ < 30
    assert model.history_["objective"][-1] == pytest.approx(1.0)
    assert np.all(np.isfinite(model.predict_proba([[0.0], [9.0]])))


@pytest.mark.parametrize("column", [np.ones((40, 1)), np.full((40, 1), np.nan)], ids=["constant", "missing"])
@pytest.mark.parametrize("recipe", [DeepBoostClassifier, DeepBoostClassifier.paper])
def test_nothing_to_split_gives_the_majority(column: np.ndarray, recipe: Any) -> None:
    y = np.where(np.arange(40) < 25, "common", "rare")
    model = recipe(n_rounds=20).fit(column, y)
    assert set(model.predict(column)) == {"common"}
    assert np.all(np.isfinite(model.predict_proba(column)))
    assert np.all(np.diff(model.history_["objective"]) <= 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_billion_fold_range_in_one_column(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    column = 10.0 ** rng.uniform(-4.5, 4.5, size=200)
    y = (column > 1.0).astype(int)
    wide = column.astype(dtype)[:, None]
    model = DeepBoostClassifier.paper(n_rounds=3).fit(wide, y)
    assert model.score(wide, y) == 1.0
    extremes = np.array([[np.finfo(dtype).tiny], [np.finfo(dtype).max], [-np.finfo(dtype).max]], dtype=dtype)
    assert list(model.predict(extremes)) == [0, 1, 0]
    model = DeepBoostClassifier.paper(n_rounds=3).fit(extremes, [0, 1, 0])
    assert list(model.predict(extremes)) == [0, 1, 0]


def test_hundred_thousand_columns() -> None:
    wide = np.zeros((12, 100_000), dtype=np.float32)
    y = np.arange(12) % 2
    wide[:, 77_777] = y
    wide[:, 99_999] = np.random.default_rng(0).random(12)
    model = DeepBoostClassifier.paper(n_rounds=3).fit(wide, y)
    assert model.score(wide, y) == 1.0
    assert model.feature_importances_.shape == (100_000,)
    assert np.argmax(model.feature_importances_) == 77_777
    DeepBoostClassifier(3).fit(wide, y).predict(wide)
