"""Files of gradient boosting, whose leaves hold numbers: they come back bit for bit, and forgeries are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from model_files import assert_same_model, damaged_in_many_ways, forged, setter
from radboost import ModelFileError, RGBClassifier, RGBRegressor, TreeFamilies
from radboost.losses import HuberLoss, QuantileLoss
from radboost.model_file import MissingPartError, NotStored, read
from reference.data import smooth, smooth_classes

X, Y = smooth(0, m=90, missing=0.1)
T = np.nan_to_num(X[:, 1]) + Y
X3, Y3 = smooth_classes(0, m=90)


@pytest.fixture(scope="module")
def several() -> RGBClassifier:
    return RGBClassifier(6).fit(X3, Y3)


@pytest.fixture(scope="module")
def regressor() -> RGBRegressor:
    return RGBRegressor(6, loss=HuberLoss(delta=2.0), family=TreeFamilies(sizes=(2, 5), norms=(1.0,))).fit(X, T)


def saved(model: Any, path: Path) -> Path:
    model.save(path / "m")
    return path / "m"


def test_classifiers_come_back(several: RGBClassifier, tmp_path: Path) -> None:
    two = RGBClassifier(6, loss="exponential").fit(X, np.where(Y > 0, "up", "down"))
    assert_same_model(radboost.load(saved(two, tmp_path)), two, X)
    loaded = radboost.load(saved(several, tmp_path))
    assert_same_model(loaded, several, X3)
    assert "for 3 classes" in repr(loaded.ensemble_)


def test_regressors_come_back(regressor: RGBRegressor, tmp_path: Path) -> None:
    loaded = radboost.load(saved(regressor, tmp_path))
    np.testing.assert_array_equal(loaded.predict(X), regressor.predict(X))
    assert loaded.history_ == regressor.history_
    assert loaded.loss == HuberLoss(delta=2.0)
    assert loaded.family == regressor.family
    assert not hasattr(loaded, "classes_")
    counts = RGBRegressor(4, loss="poisson").fit(X, Y + 1)
    np.testing.assert_array_equal(radboost.load(saved(counts, tmp_path)).predict(X), counts.predict(X))
    # A fit goes on where a file left it.
    longer = RGBRegressor(9, loss=QuantileLoss(0.8), warm_start=True).fit(X, Y)
    short = RGBRegressor(4, loss=QuantileLoss(0.8), warm_start=True).fit(X, Y)
    resumed = radboost.load(saved(short, tmp_path)).set_params(n_rounds=9).fit(X, Y)
    np.testing.assert_array_equal(resumed.predict(X), longer.predict(X))


class Own:
    def value(self, targets: Any, scores: Any) -> Any:
        return (targets - scores) ** 2

    def derivative(self, targets: Any, scores: Any) -> Any:
        return 2.0 * (scores - targets)

    def inverse_link(self, scores: Any) -> Any:
        return 3.0 * scores


@pytest.mark.parametrize("estimator", [RGBClassifier, RGBRegressor])
def test_auto_comes_back(estimator: Any, tmp_path: Path) -> None:
    model = estimator(4).fit(X, Y)
    loaded = radboost.load(saved(model, tmp_path))
    assert loaded.get_params() == model.get_params()
    assert loaded.loss == "auto"
    assert loaded.loss_ == model.loss_ != "auto"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    header, _ = read(tmp_path / "m")
    assert (header["params"]["loss"], header["given_params"]) == (model.loss_, {"loss": "auto"})


def test_a_loss_set_after_the_fit_comes_back(tmp_path: Path) -> None:
    model = RGBClassifier(4, loss="exponential").fit(X, Y)
    loaded = radboost.load(saved(model.set_params(loss="logistic"), tmp_path))
    assert (loaded.loss, loaded.loss_) == ("logistic", "exponential")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    # In the place of a loss that is not stored nothing else is taken.
    own = RGBRegressor(4, loss=Own()).fit(X, Y)
    loaded = radboost.load(saved(own.set_params(loss="squared"), tmp_path))
    assert isinstance(loaded.loss, NotStored)
    with pytest.raises(MissingPartError, match="not store"):
        loaded.predict(X)


def test_a_loss_of_ones_own_is_asked_for(tmp_path: Path) -> None:
    model = RGBRegressor(3, loss=Own()).fit(X, Y)
    loaded = radboost.load(saved(model, tmp_path))
    with pytest.raises(MissingPartError, match=r"(?s)not store.*set_params\(loss="):
        loaded.predict(X)
    loaded.set_params(loss=Own())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def put(name: str, change: Any) -> Any:
    def forge(header: Any, arrays: Any) -> None:
        arrays[f"ensemble/{name}"] = change(arrays[f"ensemble/{name}"])

    return forge


def drop(name: str) -> Any:
    return lambda header, arrays: arrays.pop(f"ensemble/{name}")


def exchange_vectors(header: Any, arrays: Any) -> None:
    """All places are those of vectors that are there, of the first and of the last tree."""
    values, sizes = arrays["ensemble/node_value"], arrays["ensemble/tree_sizes"]
    is_leaf = arrays["ensemble/node_feature"] < 0
    first, last = is_leaf.copy(), is_leaf.copy()
    first[sizes[0] :], last[: -sizes[-1]] = False, False
    values[first] += is_leaf.sum() - last.sum()
    values[last] -= is_leaf.sum() - last.sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("node_value", lambda a: a * 3.0), "between -1 and 1"),
        (setter("ensemble", "leaves", value="signs"), "other than -1 and"),
        (setter("classes", value={"dtype": "i8", "values": [0, 1]}), "no class labels"),
    ],
)
def test_forged_regressors(regressor: RGBRegressor, tmp_path: Path, change: Any, message: str) -> None:
    path = forged(saved(regressor, tmp_path), change)
    with pytest.raises(ModelFileError, match=message):
        radboost.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("leaf_vectors"), "leaf_vectors"),
        (put("leaf_vectors", lambda a: a[:-1]), "do not fit"),
        (put("leaf_vectors", lambda a: a[:, :2].copy()), "do not fit"),
        (put("leaf_vectors", lambda a: a.astype("<f4").astype("<f8") * np.inf), "between -1 and 1"),
        (put("node_value", lambda a: a + 1000.0), "vector that does not exist"),
        (put("node_value", lambda a: a - 0.5), "vector that does not exist"),
        (exchange_vectors, "vector that does not exist in its tree"),
    ],
)
def test_forged_vectors(several: RGBClassifier, tmp_path: Path, change: Any, message: str) -> None:
    path = forged(saved(several, tmp_path), change)
    with pytest.raises(ModelFileError, match=message):
        radboost.load(path)


def test_what_the_file_says(several: RGBClassifier, regressor: RGBRegressor, tmp_path: Path) -> None:
    header, arrays = read(saved(several, tmp_path))
    assert header["ensemble"]["leaves"] == "numbers"
    n_leaves = int((arrays["ensemble/node_feature"] < 0).sum())
    assert arrays["ensemble/leaf_vectors"].shape == (n_leaves, 3)
    header, arrays = read(saved(regressor, tmp_path))
    assert header["classes"] is None
    assert "ensemble/leaf_vectors" not in arrays


def test_random_damage_is_an_error_or_a_model(several: RGBClassifier, tmp_path: Path) -> None:
    def check(model: RGBClassifier) -> None:
        rows = np.zeros((5, model.n_features_in_))
        assert model.predict_proba(rows).shape == (5, len(model.classes_))
        assert len(list(model.staged_predict(rows))) == model.n_iter_

    loaded, refused = damaged_in_many_ways(saved(several, tmp_path), check)
    assert loaded > 0
    assert refused > 0
