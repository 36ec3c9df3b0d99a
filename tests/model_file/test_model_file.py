"""Saved and loaded models: equal to the bit, parameters kept, and no way to do harm with a forged file."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import radboost
from model_files import assert_same_model, damaged_in_many_ways, dropper, forged, reload, setter
from radboost import DeepBoostClassifier, EarlyStopping, KernelFamily, ModelFileError, TreeOptions
from radboost.model_file import MissingPartError, NotStored, save_model
from radboost.model_file.encoding import decode, decode_labels, encode, encode_labels
from radboost.trees import with_tree_options


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=3)
    X[::17, 2] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model(data) -> DeepBoostClassifier:
    return DeepBoostClassifier(n_rounds=25, max_depth=4).fit(*data)


@pytest.fixture
def saved(model, tmp_path: Path) -> Path:
    path = tmp_path / "model.radb"
    model.save(path)
    return path


# --- round trips ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "exponential", "step": "line_search", "l1_penalty": 0.01},
        {"family": "stumps", "complexity_penalty": 0.5},
        {"family": "stump_pairs", "learning_rate": 1.0},
        {"family": ["stumps", "trees"], "max_features": None, "thresholds": "best"},
        {"tree_options": TreeOptions(growth="best_first", max_leaves=6, max_bins=16)},
        {"early_stopping": EarlyStopping(patience=3, validation_fraction=0.3)},
        {"early_stopping": 5},
        {"complexity_penalty": 100.0},
    ],
    ids=str,
)
def test_the_loaded_model_is_the_saved_one(data, tmp_path: Path, parameters: dict) -> None:
    X, y = data
    model = DeepBoostClassifier(**(with_tree_options({"n_rounds": 12, "max_depth": 3} | parameters))).fit(X, y)
    loaded = reload(model, tmp_path / "m")
    assert type(loaded) is DeepBoostClassifier
    assert loaded.get_params() == model.get_params()
    assert_same_model(model, loaded, X)
    again = clone(loaded).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_kernel_models(data, tmp_path: Path, kernel: str) -> None:
    X, y = np.nan_to_num(data[0]), data[1]
    families = ["stumps", KernelFamily(kernel=kernel, gamma=0.25, n_centres=50)]
    model = DeepBoostClassifier(n_rounds=15, family=families).fit(X, y)
    loaded = reload(model, tmp_path / "m")
    assert loaded.get_params()["family"] == families
    assert_same_model(model, loaded, X)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-1, 1],
        [1.0, 2.0],
        np.array([3, 200], dtype=np.uint8),
        np.array([2**62, 2**62 + 1]),
        np.array([-1.0, 0.0], dtype=np.float32),
        np.array(["a", "b"], dtype=object),
        ["æ\n", "\U0001f600"],
    ],
    ids=str,
)
def test_labels_of_every_type(data, tmp_path: Path, labels) -> None:
    X, y = data
    labels = np.asarray(labels)
    model = DeepBoostClassifier(n_rounds=3).fit(X, labels[y])
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, X)
    assert loaded.score(X, labels[y]) == model.score(X, labels[y])


def test_labels_that_cannot_be_kept_are_refused_before_writing(tmp_path: Path, data) -> None:
    model = DeepBoostClassifier(n_rounds=2).fit(*data)
    model.classes_ = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    with pytest.raises(ModelFileError, match=r"datetime64.*integers, floats, booleans and strings"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_feature_names(data, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data[0], columns=[f"colümn {i}" for i in range(6)])
    model = DeepBoostClassifier(n_rounds=5).fit(frame, data[1])
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, frame)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.feature_names_in_.dtype == model.feature_names_in_.dtype
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_numpy_parameters_and_generators(data, tmp_path: Path) -> None:
    model = DeepBoostClassifier(np.int64(4), learning_rate=np.float32(0.5), random_state=np.random.RandomState(3))
    model.fit(*data)
    loaded = reload(model, tmp_path / "m")
    assert loaded.n_rounds == 4
    assert loaded.learning_rate == 0.5
    assert isinstance(loaded.random_state, NotStored)
    assert "RandomState" in repr(loaded.random_state)
    assert_same_model(model, loaded, data[0])


def test_another_process_scores_the_same(model, data, saved: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", data[0])
    script = (
        "import sys, numpy as np, radboost\n"
        "scores = radboost.load(sys.argv[1]).decision_function(np.load(sys.argv[2]))\n"
        "sys.stdout.buffer.write(scores.tobytes())\n"
    )
    command = [sys.executable, "-c", script, str(saved), str(tmp_path / "X.npy")]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    assert output == model.decision_function(data[0]).tobytes()


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


class SquaredHinge:
    """Phi(u) = max(0, u)^2."""

    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - targets * scores, 0.0) ** 2

    def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return -2.0 * targets * np.maximum(1.0 - targets * scores, 0.0)


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


def cosine_like(centres: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.cos(centres[:, :1] - rows[:, :1].T)


def test_a_kernel_of_the_users_own(data, tmp_path: Path) -> None:
    X, y = np.nan_to_num(data[0]), data[1]
    model = DeepBoostClassifier(n_rounds=5, family=KernelFamily(kernel=cosine_like)).fit(X, y)
    loaded = reload(model, tmp_path / "m")
    assert "not stored" in repr(loaded.family)
    assert "cosine_like" in repr(loaded.family)
    with pytest.raises(ValueError, match="kernel"):
        loaded.decision_function(X)
    with pytest.raises(ValueError, match="kernel"):
        loaded.predict_proba(X)


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
        {"dtype": "i8", "values": [0, 1, 2, 0]},
        {"dtype": "i8", "values": [0, 1, 2, "3"]},
        {"dtype": "f2", "values": [0.1, 0.5, 0.100001]},
        {"dtype": "b1", "values": [False, True, True]},
        {"dtype": "object", "values": ["a", 1, True]},
        {"dtype": "str", "values": ["a\0", "a", "b"]},
        {"dtype": "str", "values": ["x" * 2**20, *map(str, range(1000))]},
        {"dtype": "i8", "values": [0, "1"]},
        {"dtype": "i8", "values": [0, True]},
        {"dtype": "i1", "values": [0, 1000]},
        {"dtype": "u8", "values": [-1, 1]},
        {"dtype": "i8", "values": [0, 2**80]},
        {"dtype": "i8", "values": [1, 1]},
        {"dtype": "str", "values": ["a", 1]},
        {"dtype": "str", "values": ["a", "a"]},
        {"dtype": "object", "values": ["a", None]},
        {"dtype": "object", "values": ["a", ["b"]]},
        {"dtype": "U1000000000", "values": ["a", "b"]},
        {"dtype": "O", "values": ["a", "b"]},
        {"dtype": ["i8"], "values": [0, 1]},
    ],
)
def test_forged_labels(data) -> None:
    with pytest.raises(ModelFileError, match=r"[Cc]lass labels"):
        decode_labels(data)


@given(st.text(), st.text())
def test_text_labels(a: str, b: str) -> None:
    classes = np.array([a, b], dtype=object)
    if a != b:
        assert list(decode_labels(json.loads(json.dumps(encode_labels(classes))))) == [a, b]


# --- forged files -----------------------------------------------------------------------------------------


def share_children(header: dict, arrays: dict) -> None:
    """The root of the first larger tree leads to where its last question leads to: every index is in order."""
    sizes = arrays["ensemble/tree_sizes"]
    place = int(np.flatnonzero(sizes >= 5)[0])
    begin = int(sizes[:place].sum())
    asking = begin + np.flatnonzero(arrays["ensemble/node_feature"][begin : begin + sizes[place]] >= 0)
    arrays["ensemble/node_left"][begin] = arrays["ensemble/node_left"][asking[-1]]


FORGERIES = {
    "unknown class": setter("model", value="Popen"),
    "class is a list": setter("model", value=["DeepBoostClassifier"]),
    "unknown parameter": setter("params", "shell", value="ls"),
    "parameters a list": setter("params", value=[1]),
    "unknown type": setter("params", "loss", value={"$type": "Popen", "fields": {}}),
    "no parameters": dropper("params"),
    "no classes": dropper("classes"),
    "one class": setter("classes", value={"dtype": "i8", "values": [1]}),
    "no counts": dropper("counts"),
    "counts a list": setter("counts", value=[]),
    "negative count": setter("counts", "n_iter_", value=-1),
    "other count": setter("counts", "n_iter_", value=3),
    "count a bool": setter("counts", "n_skipped_rounds_", value=True),
    "stop reason a number": setter("stop_reason", value=3),
    "nothing chosen": setter("chosen", value={}),
    "learning rate not chosen": dropper("chosen", "learning_rate"),
    "more chosen": setter("chosen", "shell", value="ls"),
    "a word as a number": setter("chosen", "learning_rate", value="0.1"),
    "a number as a word": setter("chosen", "thresholds", value=1),
    "chosen a bool": setter("chosen", "max_depth", value=True),
    "no ensemble": dropper("ensemble"),
    "ensemble a text": setter("ensemble", value="x"),
    "rounds without end": setter("ensemble", "n_rounds", value=2**39),
    "no history": lambda h, a: [a.pop(k) for k in list(a) if k.startswith("history/")],
    "no arrays": lambda h, a: a.clear(),
    "history of matrices": lambda h, a: a.update({"history/objective": np.zeros((25, 2, 2))[:1]}),
    "history of two axes": lambda h, a: a.update({"history/objective": np.zeros((h["counts"]["n_iter_"], 1))}),
    "history of booleans": lambda h, a: a.update({"history/objective": a["history/objective"] > 0}),
    "missing nodes": lambda h, a: a.pop("ensemble/node_left"),
    "other dtype": lambda h, a: a.update({"ensemble/node_left": a["ensemble/node_left"].astype(np.int64)}),
    "NaN thresholds": lambda h, a: a["ensemble/node_threshold"].fill(np.nan),
    "leaf of 7": lambda h, a: a["ensemble/node_value"].fill(7.0),
    "cycle": lambda h, a: a["ensemble/node_left"].fill(0),
    "two parents": share_children,
    "child far away": lambda h, a: a["ensemble/node_left"].fill(2**31 - 1),
    "negative child": lambda h, a: a["ensemble/node_left"].fill(-(2**31)),
    "feature far away": lambda h, a: a["ensemble/node_feature"].fill(10**9),
    "all nodes inner": lambda h, a: a["ensemble/node_feature"].fill(0),
    "sizes that overflow": lambda h, a: a["ensemble/tree_sizes"].fill(2**62),
    "sizes of 0": lambda h, a: a["ensemble/tree_sizes"].fill(0),
    "steps of nobody": lambda h, a: a["ensemble/step_hypothesis"].fill(10**6),
    "negative rounds": lambda h, a: a["ensemble/step_round"].fill(-1),
    "infinite step": lambda h, a: a["ensemble/step_eta"].fill(np.inf),
    "more features": setter("ensemble", "n_features", value=2**62),
    "no features": setter("ensemble", "n_features", value=0),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_model_is_refused(saved: Path, forgery: str) -> None:
    with pytest.raises(ModelFileError, match=str(saved)):
        radboost.load(forged(saved, FORGERIES[forgery]))


def test_forging_nothing_changes_nothing(saved: Path, model, data) -> None:
    assert_same_model(radboost.load(forged(saved, lambda header, arrays: None)), model, data[0])


def test_every_truncation_and_flip_of_a_real_model(tmp_path: Path, data) -> None:
    path = tmp_path / "m"
    DeepBoostClassifier(n_rounds=1, max_depth=1).fit(*data).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for length in {*range(100), *rng.integers(0, len(whole), 200).tolist()}:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            radboost.load(path)
    for position in {*range(100), *rng.integers(0, len(whole), 400).tolist()}:
        damaged = bytearray(whole)
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            radboost.load(path)


def test_mended_checksums(saved: Path, data) -> None:
    """Any bytes changed and the checksum put right: a ModelFileError, or a model that predicts and ends."""

    def check(loaded: DeepBoostClassifier) -> None:
        X = np.zeros((7, loaded.n_features_in_))
        X[:5, : data[0].shape[1]] = data[0][:5, : loaded.n_features_in_]
        loaded.decision_function(X)
        sum(1 for _ in loaded.staged_decision_function(X[:1]))
        repr(loaded.ensemble_)
        assert loaded.feature_importances_.shape == (loaded.n_features_in_,)

    loaded, refused = damaged_in_many_ways(saved, check)
    assert loaded > 0
    assert refused > 0
