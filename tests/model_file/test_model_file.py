"""Saved and loaded models: equal to the bit, with their parameters; objects of the user's are asked for again."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from boosting_cases import Squared, SquaredHinge
from hand_made import fitted, random_ensemble, random_rows
from model_files import assert_same_model, reload
from radboost import (
    DeepBoostClassifier,
    KernelFamily,
    ModelFileError,
    MultiTaskSparseBoostClassifierCV,
    RGBClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    SparseBoostRegressor,
    TreeOptions,
)
from radboost.ensemble import Ensemble
from radboost.model_file import MissingPartError, NotStored, encoding, read, save_model
from radboost.model_file.encoding import decode, decode_labels, encode, encode_labels
from radboost.sparsity import Generator, Kernel

ROWS = np.abs(random_rows(0)) + 0.25


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=3)
    X[::17, 2] = np.nan
    return X, y


# --- round trips: properties/test_models.py has those of every estimator --------------------------------------


def test_an_empty_ensemble(tmp_path: Path) -> None:
    ensemble = random_ensemble(0, 4)
    nothing = Ensemble([], [], ensemble.steps[:0], n_rounds=1, n_features=3, n_families=1, sample_size=1.0, n_outputs=4)
    model = fitted(nothing, list("abcd"))
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, ROWS)
    np.testing.assert_allclose(loaded.predict_proba(ROWS), 0.25)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize(
    "labels",
    [
        *(np.arange(n_classes) for n_classes in (2, 3, 1000)),
        [False, True],
        [1.0, 2.0],
        [3, 1, 2],
        np.array([3, 200, 7], dtype=np.uint8),
        np.array([2**62, 2**62 + 1]),
        np.array([-1.0, 0.0], dtype=np.float32),
        np.array(["a", 1, 2.5], dtype=object),
        ["", "æ\n", "\U0001f600"],
    ],
    ids=str,
)
def test_labels_of_every_type_and_number(tmp_path: Path, labels, kernels: bool) -> None:
    ensemble = random_ensemble(len(labels), 1 if len(labels) == 2 else len(labels), kernels=kernels)
    model = fitted(ensemble, np.asarray(labels))
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, ROWS)
    reload(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_labels_that_would_fill_the_memory_are_refused_before_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LARGEST_TEXT_ARRAY", 2**20)
    model = fitted(random_ensemble(1, 100), ["x" * 3000, *map(str, range(99))])
    with pytest.raises(ModelFileError, match=r"100 strings of up to 3000 characters.*at most 1 MiB"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_labels_that_cannot_be_kept_are_refused_before_writing(tmp_path: Path, data) -> None:
    model = DeepBoostClassifier(n_rounds=2).fit(*data)
    model.classes_ = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    with pytest.raises(ModelFileError, match=r"datetime64.*integers, floats, booleans and strings"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_only_fitted_known_estimators(tmp_path: Path, data) -> None:
    with pytest.raises(NotFittedError):
        DeepBoostClassifier().save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="LogisticRegression cannot be saved"):
        save_model(LogisticRegression(), tmp_path / "m")

    class Mine(DeepBoostClassifier):
        """A subclass may do anything; the file would not know."""

    with pytest.raises(ModelFileError, match="Mine cannot be saved"):
        Mine(n_rounds=1).fit(*data).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# --- what is not stored -----------------------------------------------------------------------------------


def test_a_loss_of_the_users_own(data, tmp_path: Path) -> None:
    X, y = data
    model = DeepBoostClassifier(n_rounds=5, loss=SquaredHinge()).fit(X, y)
    loaded = reload(model, tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.score(X, y) == model.score(X, y)
    for attempt in (lambda: loaded.predict_proba(X), lambda: loaded.predict_log_proba(X), lambda: loaded.fit(X, y)):
        with pytest.raises(MissingPartError, match=r"SquaredHinge.*set_params\(loss="):
            attempt()
    assert "not stored" in repr(loaded.loss)
    clone(loaded)
    copy.deepcopy(loaded)
    again = reload(loaded, tmp_path / "again")
    assert again.loss == loaded.loss
    loaded.set_params(loss=SquaredHinge())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_loss_is_asked_for_where_probabilities_depend_on_it(tmp_path: Path) -> None:
    for objective, needed in (("sum", True), ("max", False)):
        model = fitted(random_ensemble(1, 3), list("abc"), objective, loss=SquaredHinge())
        loaded = reload(model, tmp_path / "m")
        assert isinstance(loaded.loss_, NotStored)
        if needed:
            with pytest.raises(MissingPartError, match=r"set_params\(loss="):
                loaded.predict_proba(ROWS)
            loaded.set_params(loss=SquaredHinge())
        np.testing.assert_array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))


@pytest.mark.parametrize("estimator", [RGBClassifier, RGBRegressor])
def test_auto_comes_back(estimator: Any, data, tmp_path: Path) -> None:
    model = estimator(4).fit(*data)
    loaded = reload(model, tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    assert loaded.loss == "auto"
    assert loaded.loss_ == model.loss_ != "auto"
    header, _ = read(tmp_path / "m")
    assert (header["params"]["loss"], header["given_params"]) == (model.loss_, {"loss": "auto"})


class Tripled(Squared):
    """A loss of targets with a link of its own."""

    def inverse_link(self, scores: Any) -> Any:
        return 3.0 * scores


def test_predictions_are_by_the_loss_of_the_fit(data, tmp_path: Path) -> None:
    X, y = data
    model = RGBClassifier(4, loss="exponential").fit(X, y)
    loaded = reload(model.set_params(loss="logistic"), tmp_path / "m")
    assert (loaded.loss, loaded.loss_) == ("logistic", "exponential")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    own = RGBRegressor(4, loss=Tripled()).fit(X, y)
    for loss in (Tripled(), "squared"):  # nothing else takes the role of a loss that is not stored
        loaded = reload(own.set_params(loss=loss), tmp_path / "m")
        assert isinstance(loaded.loss, NotStored)
        with pytest.raises(MissingPartError, match=r"(?s)not store.*set_params\(loss="):
            loaded.predict(X)
    loaded.set_params(loss=Tripled())
    np.testing.assert_array_equal(loaded.predict(X), own.set_params(loss=Tripled()).predict(X))


def cosine_like(centres: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.cos(centres[:, :1] - rows[:, :1].T)


def test_a_kernel_of_the_users_own(data, tmp_path: Path) -> None:
    X, y = np.nan_to_num(data[0]), data[1]
    model = DeepBoostClassifier(n_rounds=5, family=KernelFamily(kernel=cosine_like)).fit(X, y)
    loaded = reload(model, tmp_path / "m")
    assert "not stored" in repr(loaded.family)
    assert "cosine_like" in repr(loaded.family)
    with pytest.raises(ValueError, match="kernel function"):
        loaded.decision_function(X)


# --- sparse models ------------------------------------------------------------------------------------------

TASKS = np.column_stack([np.where(ROWS[:, 0] > 0.75, 1.0, -1.0), np.where(ROWS[:, 1] > 0.75, 1.0, np.nan)])
TASKS[::7, 1] = -1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SparseBoostClassifier(0.02, loss="exponential", penalty="l1"), ROWS[:, 0] > 0.75),
        (SparseBoostClassifier(0.02, family="trees", n_rounds=4), np.digitize(ROWS[:, 0], [0.5, 1.0])),
        (SparseBoostRegressor(0.01, family=Kernel(gamma=0.3, centres=ROWS[:5])), ROWS[:, 0] * ROWS[:, 1]),
        (MultiTaskSparseBoostClassifierCV(n_alphas=4, cv=2), TASKS),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_attribute_of_a_sparse_model_comes_back(model: Any, y: Any, tmp_path: Path) -> None:
    loaded = reload(model.fit(ROWS, y), tmp_path / "m")
    names = {name for name in vars(model) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == names
    for name in names - {"ensemble_", "task_labels_", "classes_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    assert loaded.ensemble_.hypotheses == model.ensemble_.hypotheses
    np.testing.assert_array_equal(loaded.get_support(), model.get_support())
    np.testing.assert_array_equal(loaded.predict(ROWS), model.predict(ROWS))
    if getattr(model, "loss", "logistic") == "exponential":
        expected = model.predict_proba(ROWS)
        other = reload(model.set_params(loss="logistic"), tmp_path / "m")
        np.testing.assert_array_equal(other.predict_proba(ROWS), expected)


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
    model = SparseBoostRegressor(0.001, family=Squares()).fit(ROWS, ROWS[:, 0] ** 2)
    with pytest.raises(ModelFileError, match=r"hypotheses of your own \(Square\).*pickle"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


# --- small values -----------------------------------------------------------------------------------------

KNOWN = {"TreeOptions": TreeOptions}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@given(values)
def test_every_plain_value_comes_back(value) -> None:
    data = json.loads(json.dumps(encode(value, "p", KNOWN), allow_nan=False))
    assert repr(decode(data, "p", KNOWN)) == repr(value)


def test_a_failing_repr_does_not_spoil_the_file() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    assert encode(Rude(), "loss", KNOWN)["repr"] == "<Rude>"
    assert len(encode(type("Long", (), {"__repr__": lambda _: "x" * 1000})(), "loss", KNOWN)["repr"]) == 200


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"$type": "os.system", "fields": {}},
        {"$type": ["list"]},
        {"$type": "TreeOptions"},
        {"$type": "TreeOptions", "fields": {"unknown": 1}},
        {"$type": "TreeOptions", "fields": [1]},
        {"$type": "tuple", "items": 3},
        {"$type": "float", "value": "1e400"},
        {"$type": "float", "value": []},
    ],
)
def test_forged_values(data) -> None:
    with pytest.raises(ModelFileError, match="parameter p"):
        decode(data, "p", KNOWN)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"dtype": "i8"},
        {"dtype": "i8", "values": [0, 1], "more": 1},
        {"dtype": "i8", "values": []},
        {"dtype": "f2", "values": [0.1, 0.5, 0.100001]},
        {"dtype": "object", "values": ["a", 1, True]},
        {"dtype": "str", "values": ["a\0", "a", "b"]},
        {"dtype": "i8", "values": [0, "1"]},
        {"dtype": "i8", "values": [0, True]},
        {"dtype": "i1", "values": [0, 1000]},
        {"dtype": "u8", "values": [-1, 1]},
        {"dtype": "i8", "values": [0, 2**80]},
        {"dtype": "i8", "values": [1, 1]},
        {"dtype": "str", "values": ["a", 1]},
        {"dtype": "object", "values": ["a", None]},
        {"dtype": "O", "values": ["a", "b"]},
        {"dtype": ["i8"], "values": [0, 1]},
    ],
)
def test_forged_labels(data) -> None:
    with pytest.raises(ValueError, match="class labels"):
        decode_labels(data)


@given(st.text(), st.text())
def test_text_labels(a: str, b: str) -> None:
    classes = np.array([a, b], dtype=object)
    if a != b:
        assert list(decode_labels(json.loads(json.dumps(encode_labels(classes))))) == [a, b]
