"""Model files of several classes: the same model back, and a named reason for whatever a forger changes."""

from pathlib import Path

import numpy as np
import pytest

import radboost
from hand_made import fitted, random_ensemble, random_rows
from model_files import assert_same_model, damaged_in_many_ways, dropper, forged, reload, resealed, setter
from radboost import DeepBoostClassifier, ModelFileError
from radboost.ensemble import Ensemble
from radboost.families.kernel import KernelHypothesis
from radboost.model_file import MissingPartError, NotStored, read
from radboost.trees.tree import Tree

X = np.abs(random_rows(0)) + 0.25


@pytest.fixture(scope="module")
def model() -> DeepBoostClassifier:
    """Three classes; trees and kernels."""
    ensemble = random_ensemble(2, 3, n_rounds=25, kernels=True)
    assert {type(h) for h in ensemble.hypotheses} == {Tree, KernelHypothesis}
    return fitted(ensemble, ["one", "three", "two"])


@pytest.fixture
def saved(model: DeepBoostClassifier, tmp_path: Path) -> Path:
    path = tmp_path / "model.radb"
    model.save(path)
    return path


# --- there and back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 26, 1000])
def test_the_loaded_model_is_the_saved_one(tmp_path: Path, n_classes: int, kernels: bool) -> None:
    ensemble = random_ensemble(n_classes, 1 if n_classes == 2 else n_classes, kernels=kernels)
    model = fitted(ensemble, np.arange(n_classes))
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, X)
    assert loaded.objective_ == "compsum"
    again = reload(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    assert_same_model(model, again, X)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("objective", ["sum", "maxsum", "max"])
def test_the_objective_of_the_fit_comes_back(tmp_path: Path, objective: str, loss: str) -> None:
    model = fitted(random_ensemble(1, 5), list("abcde"), objective, loss=loss)
    loaded = reload(model, tmp_path / "m")
    assert (loaded.objective_, loaded.loss_) == (objective, loss)
    assert_same_model(model, loaded, X)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "maybe"],
        [3, 1, 2],
        [0.5, 1.5, -2.5],
        np.array([3, 200, 7], dtype=np.uint8),
        np.array([2**62, 2**62 + 1, 0]),
        np.array(["a", 1, 2.5], dtype=object),
        ["", "æ\n", "\U0001f600"],
    ],
    ids=str,
)
def test_labels_of_every_type(tmp_path: Path, labels) -> None:
    model = fitted(random_ensemble(1, 3), np.asarray(labels))
    assert_same_model(model, reload(model, tmp_path / "m"), X)


def test_feature_names(tmp_path: Path) -> None:
    model = fitted(random_ensemble(1, 3, feature_names=["a", "b", "c"]), ["x", "y", "z"])
    loaded = reload(model, tmp_path / "m")
    assert loaded.ensemble_.feature_names == ("a", "b", "c")
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]


def test_an_empty_ensemble(tmp_path: Path) -> None:
    ensemble = random_ensemble(0, 4)
    nothing = Ensemble([], [], ensemble.steps[:0], n_rounds=1, n_features=3, n_families=1, sample_size=1.0, n_outputs=4)
    model = fitted(nothing, list("abcd"))
    loaded = reload(model, tmp_path / "m")
    assert_same_model(model, loaded, X)
    np.testing.assert_allclose(loaded.predict_proba(X), 0.25)


def squared_hinge() -> object:
    class SquaredHinge:
        def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return np.maximum(1.0 - targets * scores, 0.0) ** 2

        def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return -2.0 * targets * np.maximum(1.0 - targets * scores, 0.0)

    return SquaredHinge()


def test_a_loss_of_the_users_own(tmp_path: Path) -> None:
    """Needed again where probabilities depend on it, and only there."""
    loss = squared_hinge()
    model = fitted(random_ensemble(1, 3), list("abc"), "sum", loss=loss)
    loaded = reload(model, tmp_path / "m")
    assert isinstance(loaded.loss_, NotStored)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(MissingPartError, match=r"set_params\(loss="):
        loaded.predict_proba(X)
    loaded.set_params(loss=loss)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    borrowed = reload(fitted(random_ensemble(1, 3), list("abc"), "max", loss=loss), tmp_path / "m")
    assert borrowed.predict_proba(X).shape == (30, 3)


def test_a_kernel_of_the_users_own(tmp_path: Path) -> None:
    ensemble = random_ensemble(2, 3, n_rounds=25, kernels=True)
    for hypothesis in ensemble.entered:
        if isinstance(hypothesis, KernelHypothesis):
            hypothesis.kernel = lambda centres, rows: np.cos(centres[:, :1] - rows[:, :1].T)
    loaded = reload(fitted(ensemble, list("abc")), tmp_path / "m")
    with pytest.raises(ValueError, match="kernel function"):
        loaded.predict(X)


def test_labels_that_would_fill_the_memory_are_refused_before_writing(tmp_path: Path) -> None:
    model = fitted(random_ensemble(1, 1000), ["x" * 200_000, *map(str, range(999))])
    with pytest.raises(ModelFileError, match=r"1000 strings of up to 200000 characters.*at most 512 MiB"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


# --- forged files -----------------------------------------------------------------------------------------


def fill(name: str, value: float):
    return lambda header, arrays: arrays[f"ensemble/{name}"].fill(value)


def replace(name: str, make):
    return lambda header, arrays: arrays.update({f"ensemble/{name}": make(arrays[f"ensemble/{name}"])})


def labels(*values: object):
    return setter("classes", value={"dtype": "object", "values": list(values)})


FORGERIES = {
    "no n_outputs": (dropper("ensemble", "n_outputs"), "n_outputs is 'None', not an integer"),
    "n_outputs 0": (setter("ensemble", "n_outputs", value=0), "n_outputs is '0'"),
    "n_outputs negative": (setter("ensemble", "n_outputs", value=-3), "n_outputs is '-3'"),
    "n_outputs 2^31": (setter("ensemble", "n_outputs", value=2**31), "n_outputs is '2147483648'"),
    "n_outputs 2^80": (setter("ensemble", "n_outputs", value=2**80), "n_outputs is '12089"),
    "n_outputs a bool": (setter("ensemble", "n_outputs", value=True), "n_outputs is 'True'"),
    "n_outputs a float": (setter("ensemble", "n_outputs", value=3.0), "n_outputs is '3.0'"),
    "n_outputs a text": (setter("ensemble", "n_outputs", value="3"), "n_outputs is '3'"),
    "n_outputs a list": (setter("ensemble", "n_outputs", value=[3]), "n_outputs is"),
    "n_outputs 1": (setter("ensemble", "n_outputs", value=1), "other than -1 and \\+1"),
    "n_outputs 2": (setter("ensemble", "n_outputs", value=2), "class that does not exist"),
    "n_outputs 4": (setter("ensemble", "n_outputs", value=4), "3 class labels and 4 scores per row"),
    "n_outputs large": (setter("ensemble", "n_outputs", value=2**31 - 1), "3 class labels and 2147483647 scores"),
    "one label": (labels("one"), "1 class labels and 3 scores per row"),
    "no label": (labels(), "one or more class labels"),
    "two labels": (labels("one", "two"), "2 class labels and 3 scores per row"),
    "four labels": (labels("one", "two", "three", "four"), "4 class labels and 3 scores per row"),
    "equal labels": (labels("one", "two", "one"), "equal"),
    "a label of another type": (labels("one", "two", None), "class labels of type object"),
    "no objective": (dropper("objective"), "'objective' is missing"),
    "objective null": (setter("objective", value=None), "objective is 'None', and known are compsum, max, maxsum, sum"),
    "objective not resolved": (setter("objective", value="auto"), "objective is 'auto'"),
    "objective unknown": (setter("objective", value="x" * 1000), "objective is 'x{40}'"),
    "objective a list": (setter("objective", value=["sum"]), "objective is"),
    "objective of another loss": (setter("params", "loss", value="exponential"), "compsum.*goes with loss=.logistic."),
    "votes beyond the last class": (fill("node_value", 3.0), "class that does not exist"),
    "votes for class -2": (fill("node_value", -2.0), "class that does not exist"),
    "votes for half a class": (fill("node_value", 0.5), "class that does not exist"),
    "votes far away": (fill("node_value", 1e300), "class that does not exist"),
    "votes for infinity": (fill("node_value", np.inf), "not finite"),
    "votes for NaN": (fill("node_value", np.nan), "'node_value' holds NaN"),
    "no classes of kernels": (lambda h, a: a.pop("ensemble/kernel_classes"), "'kernel_classes' is missing"),
    "kernel of class 3": (fill("kernel_classes", 3), "kernel speaks for a class that does not exist"),
    "kernel of class -1": (fill("kernel_classes", -1), "kernel speaks for a class that does not exist"),
    "too few kernel classes": (replace("kernel_classes", lambda c: c[1:]), "'kernel_classes' has . entries, not"),
    "kernel classes as floats": (replace("kernel_classes", lambda c: c.astype(float)), "'kernel_classes' has the type"),
    "kernel classes a matrix": (replace("kernel_classes", lambda c: c[:, None]), "'kernel_classes' is not one-dim"),
    "negative weights": (replace("step_eta", lambda eta: -eta), "a weight is negative"),
    "steps that add up to infinity": (fill("step_eta", 1e308), "absurdly large"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_model_is_refused(saved: Path, forgery: str) -> None:
    change, reason = FORGERIES[forgery]
    with pytest.raises(ModelFileError, match=reason) as caught:
        radboost.load(forged(saved, change))
    assert str(saved) in str(caught.value)


def test_forging_nothing_changes_nothing(saved: Path, model: DeepBoostClassifier) -> None:
    assert_same_model(radboost.load(forged(saved, lambda header, arrays: None)), model, X)


def test_a_kernel_of_two_classes_has_no_class(tmp_path: Path) -> None:
    model = fitted(random_ensemble(2, 1, n_rounds=25, kernels=True), [0, 1])
    model.save(tmp_path / "m")
    assert not read(tmp_path / "m")[1]["ensemble/kernel_classes"].any()
    with pytest.raises(ModelFileError, match="kernel speaks for a class that does not exist"):
        radboost.load(forged(tmp_path / "m", fill("kernel_classes", 1)))


def test_many_labels_of_which_one_is_long(saved: Path) -> None:
    """A list of 3 MB must not become an array of 80 GB."""
    values = ["x" * 2**20, *map(str, range(20_000))]
    with pytest.raises(ModelFileError, match="at most 512 MiB"):
        radboost.load(forged(saved, setter("classes", value={"dtype": "str", "values": values})))


def test_files_of_the_next_format_ask_for_an_upgrade(saved: Path) -> None:
    with pytest.raises(ModelFileError, match=r"format version 2.*reads up to format 1; upgrade radboost"):
        radboost.load(resealed(saved, 2))


def test_mended_checksums(saved: Path) -> None:
    """Any bytes changed and the checksum put right: a ModelFileError, or a model that predicts and ends."""

    def check(loaded: DeepBoostClassifier) -> None:
        rows = np.ones((7, loaded.n_features_in_))
        assert loaded.decision_function(rows).shape == (7, len(loaded.classes_))
        assert set(loaded.predict(rows)) <= set(loaded.classes_)
        sum(1 for _ in loaded.staged_decision_function(rows[:1]))
        repr(loaded.ensemble_)
        assert loaded.feature_importances_.shape == (loaded.n_features_in_,)

    loaded, refused = damaged_in_many_ways(saved, check)
    assert loaded > 0
    assert refused > 0
