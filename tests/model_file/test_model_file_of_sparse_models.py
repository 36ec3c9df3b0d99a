"""Files of models with structural sparsity: they come back bit for bit, and forgeries are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import radboost
from model_files import damaged_in_many_ways, forged, setter
from radboost import (
    ModelFileError,
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
)
from radboost.sparsity import Generator, Kernel, Products

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 4))
TWO = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, "up", "down")
THREE = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=60), [-0.5, 0.5])
NUMBERS = X[:, 0] * X[:, 1] + 0.1 * X[:, 3]
TASKS = np.column_stack([np.where(X[:, 0] > 0, 1.0, -1.0), np.where(X[:, 1] > 0, 1.0, np.nan)])
TASKS[::7, 1] = -1.0

MODELS: list[Any] = [
    (SparseBoostClassifier(0.02, loss="exponential", penalty="l1"), TWO),
    (SparseBoostClassifier(0.02), THREE),
    (SparseBoostClassifier(0.02, features_per_round=1, penalty="l1/linf"), THREE),
    (SparseBoostClassifier(0.01, family="products", n_rounds=4, tol=1e-3), TWO),
    (SparseBoostClassifier(0.02, family="stumps"), THREE),
    (SparseBoostClassifier(0.02, family="trees", n_rounds=4), THREE),
    (SparseBoostRegressor(0.01, family=Products(max_degree=2)), NUMBERS),
    (SparseBoostRegressor(0.01, family=Kernel(gamma=0.3, centres=X[:5])), NUMBERS),
    (MultiTaskSparseBoostClassifier(0.02), TASKS),
    (MultiTaskSparseBoostClassifier(0.02), TWO),
    (SparseBoostClassifierCV(n_alphas=4, cv=3), THREE),
    (SparseBoostRegressorCV(n_alphas=4, cv=3), NUMBERS),
    (MultiTaskSparseBoostClassifierCV(n_alphas=4, cv=3), TASKS),
]


def ways(model: Any) -> list[str]:
    return [way for way in ("decision_function", "predict", "predict_proba") if hasattr(model, way)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "y"), MODELS, ids=[f"{i}-{type(m).__name__}" for i, (m, _) in enumerate(MODELS)])
def test_models_come_back(model: Any, y: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model.fit(frame, y).save(tmp_path / "m")
    loaded = radboost.load(tmp_path / "m")
    assert type(loaded) is type(model)
    for way in ways(model):
        expected, found = getattr(model, way)(frame), getattr(loaded, way)(frame)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert repr(loaded.ensemble_) == repr(model.ensemble_)
    assert loaded.ensemble_.hypotheses == model.ensemble_.hypotheses
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == fitted
    for name in fitted - {"ensemble_", "task_labels_", "classes_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    np.testing.assert_array_equal(loaded.get_support(), model.get_support())
    np.testing.assert_array_equal(loaded.fit(frame, y).predict(frame), model.predict(frame))


def test_the_loss_is_that_of_the_fit(tmp_path: Path) -> None:
    model = SparseBoostClassifier(0.02, loss="exponential", penalty="l1").fit(X, TWO)
    expected = model.predict_proba(X)
    model.set_params(loss="logistic").save(tmp_path / "m")
    np.testing.assert_array_equal(radboost.load(tmp_path / "m").predict_proba(X), expected)


def test_an_empty_model_comes_back(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="empty"):
        model = SparseBoostClassifier(9.0).fit(X, THREE)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(radboost.load(tmp_path / "m").decision_function(X), model.decision_function(X))


class Square:
    def values(self, rows: Any, /) -> Any:
        return rows[:, 0] ** 2

    def describe(self, names: Any, /) -> str:
        return "square"


class Squares(Generator):
    def start(self, training: Any) -> Any:
        square = Square()
        return lambda members, residual: [square]


def test_hypotheses_of_ones_own_are_named(tmp_path: Path) -> None:
    model = SparseBoostRegressor(0.001, family=Squares()).fit(X, X[:, 0] ** 2)
    with pytest.raises(ModelFileError, match=r"hypotheses of your own \(Square\).*pickle"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sparse") / "m"
    SparseBoostClassifier(0.005, family="products", n_rounds=5, tol=0.1).fit(X, THREE).save(path)
    return path.read_bytes()


def array_setter(name: str, value: Any) -> Any:
    def change(header: Any, arrays: Any) -> None:
        arrays[name] = value(arrays[name])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (setter("ensemble", "n_features", value=1), "names a column"),
        (setter("ensemble", "n_features", value=2**31), "n_features"),
        (setter("ensemble", value=[]), "must be a dict"),
        (setter("has_coefficients", value=True), "no columns"),
        (setter("stop_reason", value=3), "must be a text"),
        (setter("tasks", value=[]), "has no tasks"),
        (setter("classes", "values", value=[0, 1]), "3 scores per row, not 1"),
        (setter("params", "loss", value="hinge"), "loss must be one of"),
        (array_setter("ensemble/weights", lambda a: a[:, :2].copy()), "weights do not fit"),
        (array_setter("ensemble/weights", lambda a: a * np.nan), "infinite or absurdly"),
        (array_setter("ensemble/intercept", lambda a: a + np.inf), "infinite or absurdly"),
        (array_setter("ensemble/kinds", lambda a: a + np.uint8(5)), "unknown kind"),
        (array_setter("ensemble/product_lengths", lambda a: a * 2**62), "impossible length"),
        (array_setter("ensemble/product_columns", lambda a: a - np.int32(9)), "names a column"),
        (array_setter("ensemble/product_columns", lambda a: a * np.int32(0)), "two hypotheses are equal"),
        (array_setter("history/objective", lambda a: a[1:].copy()), "different lengths"),
        (array_setter("fit/gaps", lambda a: a[1:].copy()), "gaps"),
    ],
)
def test_forgeries_are_refused(saved: bytes, tmp_path: Path, change: Any, message: str) -> None:
    (tmp_path / "m").write_bytes(saved)
    with pytest.raises(ModelFileError, match=message):
        radboost.load(forged(tmp_path / "m", change))


def test_coefficients_beyond_memory_are_refused(tmp_path: Path) -> None:
    SparseBoostClassifier(0.02, penalty="l1").fit(X, THREE).save(tmp_path / "m")
    n_features = 2**31 - 1

    def widened(header: Any, arrays: Any) -> None:
        header["ensemble"]["n_features"] = n_features
        arrays["ensemble/centres"] = np.zeros((0, n_features))

    with pytest.raises(ModelFileError, match="GiB, more than is free"):
        radboost.load(forged(tmp_path / "m", widened))


def test_no_edit_breaks_loading(saved: bytes, tmp_path: Path) -> None:
    def check(model: SparseBoostClassifier) -> None:
        rows = np.ones((5, model.n_features_in_))
        assert model.predict_proba(rows).shape == (5, 3)
        assert model.feature_importances_.shape == (model.n_features_in_,)

    (tmp_path / "m").write_bytes(saved)
    loaded, refused = damaged_in_many_ways(tmp_path / "m", check)
    assert loaded > 0
    assert refused > 0
