"""Every bad input gets an error that says what is wrong, or the right result where there is one."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from radboost import DeepBoostClassifier, EarlyStopping, TreeOptions
from reference.data import smooth, tiny

X, Y = smooth(0, m=60)


def quick(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(**{"n_rounds": 4, **changes})


@pytest.mark.parametrize(
    ("X_bad", "y_bad", "message"),
    [
        (np.zeros((0, 3)), np.zeros(0), "(?i)0 sample|minimum of 1|empty"),
        (np.zeros((5, 0)), [0, 1, 0, 1, 0], "0 feature"),
        (np.zeros(5), [0, 1, 0, 1, 0], "(?i)expected 2D array"),
        (np.zeros((2, 2, 2)), [0, 1], "(?i)dim"),
        ([[1.0, 2.0]], [1], "(?i)class"),
        (X, np.ones(60), "(?i)class"),
        (X, Y[:50], "(?i)inconsistent numbers of samples|length"),
        (np.where(np.arange(60)[:, None] == 7, np.inf, X), Y, "(?i)infinity|inf"),
        (np.where(np.arange(60)[:, None] == 7, -np.inf, X), Y, "(?i)infinity|inf"),
        (X, np.where(np.arange(60) == 3, np.nan, Y.astype(float)), "(?i)nan"),
        (X, X[:, 0], "(?i)continuous|unknown label type|classification"),
        (X, np.stack([Y, Y], axis=1), "(?i)1d|shape|multi"),
        (X + 1j, Y, "(?i)complex"),
        ([["red", 1.0]] * 30 + [["blue", 2.0]] * 30, Y, "(?i)convert|numeric|string|encode"),
        (
            pd.DataFrame({"colour": ["red", "blue"] * 30, "size": range(60)}),
            Y,
            "(?i)convert|numeric|string|encode",
        ),
    ],
    ids=[
        "no rows",
        "no columns",
        "1-D",
        "3-D",
        "one row",
        "one class",
        "lengths",
        "inf",
        "-inf",
        "NaN label",
        "continuous y",
        "2-D y",
        "complex",
        "strings",
        "string column",
    ],
)
def test_fit_refuses(X_bad: Any, y_bad: Any, message: str) -> None:
    model = quick()
    with pytest.raises(ValueError, match=message):
        model.fit(X_bad, y_bad)
    assert not hasattr(model, "ensemble_")


def test_y_none() -> None:
    with pytest.raises(ValueError, match=r"(?i)requires y|y"):
        quick().fit(X, None)


def test_more_classes_than_any_model_can_hold() -> None:
    labels = np.arange(65_535)
    with pytest.raises(ValueError, match=r"65535 classes.*at most 65534.*regressor"):
        quick().fit(labels[:, None].astype(float), labels)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (-np.ones(60), ValueError, "(?i)negative"),
        (np.where(np.arange(60) == 5, -1e-9, 1.0), ValueError, "(?i)negative"),
        (np.zeros(60), ValueError, "(?i)(?=.*zero)(?=.*weight)"),
        (np.where(np.arange(60) == 5, np.nan, 1.0), ValueError, "(?i)nan"),
        (np.where(np.arange(60) == 5, np.inf, 1.0), ValueError, "(?i)inf"),
        (np.ones(59), ValueError, "sample_weight has 59 entries for 60 rows"),
        (np.ones((60, 2)), ValueError, "(?i)1D|sample_weight"),
        (np.where(Y > 0, 1.0, 0.0), ValueError, "(?i)class"),
        (["heavy"] * 60, (ValueError, TypeError), "sample_weight must hold numbers"),
    ],
    ids=["negative", "one negative", "all zero", "NaN", "inf", "short", "2-D", "one class left", "strings"],
)
def test_weights_refused(weights: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        quick().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("size", [1e-300, 1e300, 1e16])
def test_weights_beyond_what_can_be_counted(size: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="sample_weight"):
            quick().fit(X, Y, sample_weight=np.full(60, size))


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
        ("n_rounds", 0, ValueError, "n_rounds"),
        ("n_rounds", -3, ValueError, "n_rounds"),
        ("n_rounds", 2.5, (TypeError, ValueError), "n_rounds"),
        ("n_rounds", "ten", (TypeError, ValueError), "n_rounds"),
        ("n_rounds", True, (TypeError, ValueError), "n_rounds"),
        ("loss", "hinge", ValueError, "(?s)hinge.*exponential.*logistic"),
        ("loss", 3, (TypeError, ValueError), "loss"),
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
        ("max_features", "cbrt", ValueError, "max_features"),
        ("thresholds", "median", ValueError, "(?s)(?=.*median)(?=.*best)(?=.*random)"),
        ("split_criterion", "entropy", ValueError, "(?s)(?=.*entropy)(?=.*edge)(?=.*gini)"),
        ("step", "newton", ValueError, "(?s)(?=.*newton)(?=.*closed_form)(?=.*line_search)"),
        ("early_stopping", "yes", (TypeError, ValueError), "early_stopping"),
        ("early_stopping", -1, ValueError, "early_stopping|patience"),
        ("n_jobs", 0, ValueError, "n_jobs"),
        ("n_jobs", 1.5, (TypeError, ValueError), "n_jobs"),
        ("random_state", "seed", (TypeError, ValueError), "random_state|seed"),
        ("verbose", "loud", (TypeError, ValueError), "verbose"),
        ("tree_options", {"max_bins": 3}, (TypeError, ValueError), "(?s)tree_options.*TreeOptions"),
    ],
    ids=lambda v: str(v) if isinstance(v, str | int | float) else None,
)
def test_parameters_refused(name: str, value: Any, error: Any, message: str) -> None:
    model = quick(**{name: value})
    with pytest.raises(error, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "ensemble_")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"growth": "worst_first"}, "(?s)(?=.*worst_first)(?=.*layers)(?=.*best_first)"),
        ({"max_bins": 256}, "max_bins"),
        ({"max_bins": 1}, "max_bins"),
        ({"max_leaves": 1}, "max_leaves"),
        ({"min_leaf_weight": -1.0}, "min_leaf_weight"),
        ({"min_leaf_weight": math.nan}, "min_leaf_weight"),
    ],
)
def test_tree_options_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        quick(tree_options=TreeOptions(**changes)).fit(X, Y)


@pytest.mark.parametrize("minimum", [30.5, 61.0, 1e19, 1e300])
def test_leaf_minimum_beyond_all_weight(minimum: float) -> None:
    """No split can have so much on both sides: what is left is the constant."""
    y = np.where(np.arange(60) < 35, 0, 1)
    for weights in (None, np.full(60, 1.0), np.full(60, 0.999)):
        model = DeepBoostClassifier.paper(n_rounds=5, tree_options=TreeOptions(min_leaf_weight=minimum))
        model.fit(X, y, sample_weight=weights)
        assert [tree.n_splits for tree in model.ensemble_.hypotheses] == [0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"patience": 0}, "patience"),
        ({"validation_fraction": 0.0}, "validation_fraction"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
    ],
)
def test_early_stopping_options_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        quick(early_stopping=EarlyStopping(**changes)).fit(X, Y)


def test_validation_set_refused() -> None:
    model = quick(early_stopping=True)
    with pytest.raises(ValueError, match=r"X_val.*y_val|y_val.*X_val"):
        model.fit(X, Y, X_val=X)
    with pytest.raises(ValueError, match=r"X_val.*y_val|y_val.*X_val"):
        model.fit(X, Y, y_val=Y)
    with pytest.raises(ValueError, match=r"(?i)feature"):
        model.fit(X, Y, X_val=X[:, :3], y_val=Y)
    with pytest.raises(ValueError, match=r"(?i)inconsistent|length|samples"):
        model.fit(X, Y, X_val=X, y_val=Y[:9])
    with pytest.raises(ValueError, match=r"(?i)y_val|label|class"):
        model.fit(X, Y, X_val=X, y_val=np.full(60, 17))
    with pytest.raises(ValueError, match=r"(?i)sample_weight_val|X_val"):
        model.fit(X, Y, sample_weight_val=np.ones(60))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "staged_decision_function"])
def test_prediction_refuses(method: str) -> None:
    model = quick()
    with pytest.raises(NotFittedError, match=r"(?i)not fitted"):
        list(getattr(model, method)(X))
    model.fit(X, Y)
    call = getattr(model, method)
    with pytest.raises(ValueError, match=r"5 features.*6 features"):
        list(call(X[:, :5]))
    with pytest.raises(ValueError, match=r"7 features.*6 features"):
        list(call(np.hstack([X, X[:, :1]])))
    with pytest.raises(ValueError, match=r"(?i)2D"):
        list(call(X[0]))
    with pytest.raises(ValueError, match=r"(?i)infinity|inf"):
        list(call(np.full((2, 6), np.inf)))
    with pytest.raises(ValueError, match=r"(?i)convert|numeric|string"):
        list(call(np.full((2, 6), "a")))
    with pytest.raises(ValueError, match=r"(?i)0 sample|minimum of 1|empty"):
        list(call(np.zeros((0, 6))))


def test_kernels_refuse_missing_values() -> None:
    broken = np.where(np.arange(60)[:, None] == 7, np.nan, X)
    with pytest.raises(ValueError, match=r"(?i)missing values|NaN"):
        quick(family="kernel").fit(broken, Y)
    model = quick(family="kernel").fit(X, Y)
    with pytest.raises(ValueError, match=r"(?i)missing values|NaN"):
        model.predict(broken)


class Broken:
    """A loss whose answers are not what a loss may answer."""

    def __init__(self, value: Any, derivative: Any) -> None:
        self.value, self.derivative = value, derivative


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Broken(lambda u: -u, lambda u: -np.ones_like(u)), "increasing"),
        (Broken(lambda u: np.full_like(u, np.nan), np.ones_like), "NaN"),
        (Broken(np.exp, lambda u: np.full_like(u, np.inf)), "infinity"),
        (Broken(lambda u: u[:3], np.ones_like), "shape"),
    ],
    ids=["decreasing", "NaN", "inf", "shape"],
)
def test_losses_of_the_user_are_checked(loss: Any, message: str) -> None:
    model = quick(loss=loss)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "ensemble_")


def test_a_loss_that_is_flat_ends_the_fit() -> None:
    """Phi(u) = 1 + max(0, u)^2 has no slope once every margin is above 1."""
    flat = Broken(lambda u: 1 + np.maximum(0, u) ** 2, lambda u: 2 * np.maximum(0, u))
    model = DeepBoostClassifier.paper(n_rounds=30, loss=flat).fit(np.arange(10.0)[:, None], np.arange(10) > 4)
    assert model.n_iter_ < 30
    assert model.history_["objective"][-1] == pytest.approx(1.0)
    assert np.all(np.isfinite(model.predict_proba([[0.0], [9.0]])))


def test_columns_of_a_frame_are_checked_by_name() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = quick().fit(frame, Y)
    assert list(model.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.predict(frame[list("bacdef")])
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_one_row_of_each_class_fits() -> None:
    model = DeepBoostClassifier.paper(n_rounds=5).fit([[0.0], [1.0]], ["no", "yes"])
    assert list(model.predict([[0.0], [1.0], [0.4], [0.6]])) == ["no", "yes", "no", "yes"]
    assert np.all(np.isfinite(model.decision_function([[0.0], [1.0]])))


def test_constant_and_all_missing_columns_do_nothing() -> None:
    data, y = tiny(3, m=40)
    padded = np.column_stack([np.full(40, 7.0), data[:, 0], np.full(40, np.nan), data[:, 1:]])
    model = quick(n_rounds=10, complexity_penalty=0.0, max_features=None, thresholds="best").fit(padded, y)
    plain = quick(n_rounds=10, complexity_penalty=0.0, max_features=None, thresholds="best").fit(data, y)
    np.testing.assert_array_equal(model.decision_function(padded), plain.decision_function(data))
    assert model.feature_importances_[0] == 0
    assert model.feature_importances_[2] == 0


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


def test_neighbouring_and_subnormal_floats_are_told_apart() -> None:
    values = np.array([0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308, np.nextafter(1e308, 2e308)])
    y = np.array([0, 1, 0, 1, 0, 1])
    model = DeepBoostClassifier.paper(n_rounds=60, max_depth=6, split_criterion="gini").fit(values[:, None], y)
    assert list(model.predict(values[:, None])) == list(y)


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


def test_sparse_that_cannot_be_dense_is_refused() -> None:
    huge = scipy.sparse.csr_matrix((30, 2**40), dtype=np.float64)
    with pytest.raises((ValueError, MemoryError), match=r"needs about .* GiB.*(?i:fewer columns)"):
        quick().fit(huge, np.arange(30) % 2)


def test_mixed_types_in_labels() -> None:
    with pytest.raises((ValueError, TypeError)):
        quick().fit(X, np.array([1, "one"] * 30, dtype=object))


def test_failed_fit_keeps_the_fitted_model() -> None:
    model = quick().fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"(?i)class"):
        model.fit(X[:, :2], np.ones(60))
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.n_features_in_ == 6
