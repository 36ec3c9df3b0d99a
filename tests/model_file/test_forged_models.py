"""Well-sealed files with other content, one kind of model after the other: each change is refused with its reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from hand_made import fitted, random_ensemble
from model_files import damaged_in_many_ways, dropper, forged, setter
from radboost import DeepBoostClassifier, ModelFileError, RGBClassifier, RGBRegressor, SparseBoostClassifier
from radboost.model_file import read
from reference.data import smooth, smooth_classes

Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def with_categories() -> DeepBoostClassifier:
    rng = np.random.default_rng(0)
    X = np.empty((90, 3), dtype=object)
    X[:, 0] = rng.choice(["a", "b", "c", None], 90)
    X[:, 1] = rng.normal(size=90)
    X[:, 2] = rng.integers(0, 70, 90)
    y = (rng.random(90) < np.where(X[:, 0] == "b", 0.9, 0.2)).astype(int)
    return DeepBoostClassifier(12, categorical_features=[0, 2], complexity_penalty=0.0, max_depth=3).fit(X, y)


def sparse_products() -> SparseBoostClassifier:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
    return SparseBoostClassifier(0.005, family="products", n_rounds=5, tol=0.1).fit(X, y)


#: one model for each reader of arrays
MODELS: dict[str, Callable[[], Any]] = {
    "two classes": lambda: DeepBoostClassifier(n_rounds=25, max_depth=4).fit(*smooth(0, m=150, missing=0.1)),
    "three classes": lambda: fitted(random_ensemble(2, 3, n_rounds=25, kernels=True), ["one", "three", "two"]),
    "kernels of two classes": lambda: fitted(random_ensemble(2, 1, n_rounds=25, kernels=True), [0, 1]),
    "categories": with_categories,
    "numbers": lambda: RGBRegressor(6).fit(*smooth(0, m=90)),
    "vectors": lambda: RGBClassifier(6).fit(*smooth_classes(0, m=90)),
    "sparse": sparse_products,
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("models") / "m"
    found = {}
    for kind, make in MODELS.items():
        make().save(path)
        found[kind] = path.read_bytes()
    return found


def put(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda header, arrays: arrays.update({name: change(arrays[name])})


def fill(name: str, value: float) -> Change:
    return lambda header, arrays: arrays[f"ensemble/{name}"].fill(value)


def drop(name: str) -> Change:
    return lambda header, arrays: arrays.pop(f"ensemble/{name}")


def labels(*values: object) -> Change:
    return setter("classes", value={"dtype": "object", "values": list(values)})


def common_child(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The root of the first larger tree leads to the children of its last split: every index is in order."""
    sizes = arrays["ensemble/tree_sizes"]
    larger = int(np.flatnonzero(sizes >= 5)[0])
    begin = int(sizes[:larger].sum())
    inner = begin + np.flatnonzero(arrays["ensemble/node_feature"][begin : begin + sizes[larger]] >= 0)
    arrays["ensemble/node_left"][begin] = arrays["ensemble/node_left"][inner[-1]]


def without_history(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    for name in [name for name in arrays if name.startswith("history/")]:
        arrays.pop(name)


TWO_CLASSES: list[tuple[Change, str]] = [
    (setter("model", value="Popen"), "holds a 'Popen', and known are"),
    (setter("model", value=["DeepBoostClassifier"]), "and known are"),
    (setter("params", "shell", value="ls"), "no parameter shell"),
    (setter("params", value=[1]), "parameters are not a dict"),
    (setter("params", "loss", value={"$type": "Popen", "fields": {}}), "parameter loss is a 'Popen'"),
    (dropper("params"), "'params' is missing"),
    (dropper("classes"), "'classes' is missing"),
    (setter("classes", value={"dtype": "i8", "values": [1]}), "1 class label, and hypotheses"),
    (dropper("counts"), "'counts' is missing"),
    (setter("counts", value=[]), "counts are not a dict"),
    (setter("counts", "n_iter_", value=-1), "n_iter_ is '-1'"),
    (setter("counts", "n_iter_", value=3), "history does not fit"),
    (setter("counts", "n_skipped_rounds_", value=True), "n_skipped_rounds_ is 'True'"),
    (setter("stop_reason", value=3), "stop reason"),
    (setter("chosen", value={}), "what was chosen for the fit must be"),
    (dropper("chosen", "learning_rate"), "what was chosen for the fit must be"),
    (setter("chosen", "learning_rate", value="0.1"), "must be a number"),
    (setter("chosen", "thresholds", value=1), "must be a word"),
    (setter("chosen", "max_depth", value=True), "must be a number"),
    (dropper("ensemble"), "'ensemble' is missing"),
    (setter("ensemble", value="x"), "ensemble must be a dict"),
    (setter("ensemble", "n_rounds", value=2**39), "history does not fit"),
    (without_history, "history does not fit"),
    (lambda header, arrays: arrays.clear(), "is missing"),
    (put("history/objective", lambda a: np.zeros((25, 2, 2))), "not a list of numbers"),
    (put("history/objective", lambda a: a > 0), "not a list of numbers"),
    (drop("node_left"), "'node_left' is missing"),
    (put("ensemble/node_left", lambda a: a.astype(np.int64)), "'node_left' has the type"),
    (fill("node_threshold", np.nan), "'node_threshold' holds NaN"),
    (fill("node_value", 7.0), "other than -1 and"),
    (fill("node_left", 0), "child does not follow"),
    (common_child, "two parents, or none"),
    (fill("node_left", 2**31 - 1), "child does not follow"),
    (fill("node_feature", 10**9), "feature that does not exist"),
    (fill("node_feature", 0), "child does not follow"),
    (fill("tree_sizes", 2**62), "impossible number of nodes"),
    (fill("tree_sizes", 0), "impossible number of nodes"),
    (fill("step_hypothesis", 10**6), "hypothesis or a round that does not exist"),
    (fill("step_round", -1), "hypothesis or a round that does not exist"),
    (fill("step_eta", np.inf), "infinite or absurdly large"),
    (setter("ensemble", "n_features", value=2**62), "n_features is"),
    (setter("ensemble", "n_features", value=0), "n_features is '0'"),
]
THREE_CLASSES: list[tuple[Change, str]] = [
    (dropper("ensemble", "n_outputs"), "n_outputs is 'None', not an integer"),
    *((setter("ensemble", "n_outputs", value=n), "n_outputs is") for n in (0, 2**31, True, "3")),
    (setter("ensemble", "n_outputs", value=1), "other than -1 and \\+1"),
    (setter("ensemble", "n_outputs", value=2), "class that does not exist"),
    (setter("ensemble", "n_outputs", value=4), "3 class labels and 4 scores per row"),
    (setter("ensemble", "n_outputs", value=2**31 - 1), "3 class labels and 2147483647 scores"),
    (labels("one"), "1 class labels and 3 scores per row"),
    # A list of 3 MB must not become an array of 80 GB.
    (
        setter("classes", value={"dtype": "str", "values": ["x" * 2**20, *map(str, range(20_000))]}),
        "20001 strings of up to 1048576 characters.*at most 512 MiB",
    ),
    (dropper("objective"), "'objective' is missing"),
    (setter("objective", value=None), "objective is 'None', and known are compsum, max, maxsum, sum"),
    (setter("objective", value="x" * 1000), "objective is 'x{40}'"),
    (setter("objective", value=["sum"]), "objective is"),
    (setter("params", "loss", value="exponential"), "compsum.*goes with loss=.logistic."),
    *((fill("node_value", vote), "class that does not exist") for vote in (3.0, -2.0, 0.5)),
    (fill("node_value", np.inf), "not finite"),
    (fill("node_value", np.nan), "'node_value' holds NaN"),
    (drop("kernel_classes"), "'kernel_classes' is missing"),
    *((fill("kernel_classes", k), "kernel speaks for a class that does not exist") for k in (3, -1)),
    (put("ensemble/kernel_classes", lambda a: a[1:]), "'kernel_classes' has . entries, not"),
    (put("ensemble/step_eta", lambda a: -a), "a weight is negative"),
    (fill("step_eta", 1e308), "absurdly large"),
]


def columns(*entries: object) -> Change:
    return setter("ensemble", "categories", value=list(entries))


def entry(column: object, *values: object) -> dict[str, object]:
    return {"column": column, "values": list(values)}


LEVELS = [entry(0, "a", "b", "c"), entry(2, *range(70))]


def set_bit(code: int) -> Change:
    """Into the set of a split on column 0, which has three categories."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        nodes = arrays["ensemble/category_nodes"]
        row = int(np.flatnonzero(arrays["ensemble/node_feature"][nodes] == 0)[0])
        arrays["ensemble/category_sets"][row, code // 64] |= np.uint64(1 << code % 64)

    return change


OTHERS = "sets of categories are not those of the splits on categorical columns"
VALUES = "not strings, numbers or booleans"
CATEGORIES: list[tuple[Change, str]] = [
    (dropper("ensemble", "categories"), "list of categorical columns is missing"),
    (setter("ensemble", "categories", value={"0": ["a"]}), "list of categorical columns is missing"),
    (columns({"column": 0}), "no number or no values"),
    (columns([0, ["a"]]), "no number or no values"),
    (columns({**entry(0, "a"), "x": 1}), "no number or no values"),
    (columns(*LEVELS, entry(3, "x")), "column is '3', not an integer from 3 to 2"),
    *((columns(entry(column, "a"), *LEVELS), f"column is '{column}'") for column in (-1, 0.5, True)),
    (columns(LEVELS[0], *LEVELS), "column is '0', not an integer from 1 to 2"),
    (columns(*LEVELS[::-1]), "column is '0'"),
    (columns({"column": 0, "values": "abc"}, LEVELS[1]), VALUES),
    *((columns(entry(0, "a", "b", value), LEVELS[1]), VALUES) for value in (None, ["c"])),
    (columns(entry(0, "a", "b", "a"), LEVELS[1]), "two categories of column 0 are equal"),
    (columns(entry(0, 1, 2, True), LEVELS[1]), "two categories of column 0 are equal"),
    (columns(LEVELS[0], entry(2, *range(256))), "column 2 has more than 255 categories"),
    *((columns(entry(0, *few), LEVELS[1]), "a set holds a category that does not exist") for few in ("", "a")),
    (columns(LEVELS[0]), OTHERS),
    (columns(LEVELS[0], entry(1, "x"), LEVELS[1]), OTHERS),
    *((set_bit(code), "a set holds a category that does not exist") for code in (3, 64, 255)),
    (drop("category_nodes"), "'category_nodes' is missing"),
    (drop("category_sets"), "'category_sets' is missing"),
    (put("ensemble/category_nodes", lambda a: a[1:]), OTHERS),
    (put("ensemble/category_nodes", lambda a: np.repeat(a, 2)), OTHERS),
    (put("ensemble/category_nodes", lambda a: a + 2**60), OTHERS),
    (put("ensemble/category_nodes", lambda a: a[:, None]), "'category_nodes' is not one-dim"),
    (put("ensemble/category_sets", lambda a: a[1:]), "the sets of categories do not fit"),
    (put("ensemble/category_sets", lambda a: a[:, :3].copy()), "the sets of categories do not fit"),
    (put("ensemble/category_sets", lambda a: a.astype("<i8")), "the sets of categories do not fit"),
]


def exchange_vectors(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """All leaves point at vectors that are there, those of the first tree at those of the last and the reverse."""
    values, sizes = arrays["ensemble/node_value"], arrays["ensemble/tree_sizes"]
    is_leaf = arrays["ensemble/node_feature"] < 0
    first, last = is_leaf.copy(), is_leaf.copy()
    first[sizes[0] :], last[: -sizes[-1]] = False, False
    values[first] += is_leaf.sum() - last.sum()
    values[last] -= is_leaf.sum() - last.sum()


NUMBERS: list[tuple[Change, str]] = [
    (put("ensemble/node_value", lambda a: a * 3.0), "between -1 and 1"),
    (setter("ensemble", "leaves", value="signs"), "other than -1 and"),
    (setter("classes", value={"dtype": "i8", "values": [0, 1]}), "no class labels"),
]
VECTORS: list[tuple[Change, str]] = [
    (drop("leaf_vectors"), "leaf_vectors"),
    (put("ensemble/leaf_vectors", lambda a: a[:-1]), "do not fit"),
    (put("ensemble/leaf_vectors", lambda a: a[:, :2].copy()), "do not fit"),
    (put("ensemble/leaf_vectors", lambda a: a * np.inf), "between -1 and 1"),
    (put("ensemble/node_value", lambda a: a + 1000.0), "vector that does not exist"),
    (put("ensemble/node_value", lambda a: a - 0.5), "vector that does not exist"),
    (exchange_vectors, "vector that does not exist in its tree"),
]
SPARSE: list[tuple[Change, str]] = [
    (setter("ensemble", "n_features", value=1), "names a column"),
    (setter("ensemble", "n_features", value=2**31), "n_features"),
    (setter("ensemble", value=[]), "must be a dict"),
    (setter("has_coefficients", value=True), "no columns"),
    (setter("stop_reason", value=3), "must be a text"),
    (setter("tasks", value=[]), "has no tasks"),
    (setter("classes", "values", value=[0, 1]), "3 scores per row, not 1"),
    (setter("params", "loss", value="hinge"), "loss must be one of"),
    (put("ensemble/weights", lambda a: a[:, :2].copy()), "weights do not fit"),
    (put("ensemble/weights", lambda a: a * np.nan), "infinite or absurdly"),
    (put("ensemble/intercept", lambda a: a + np.inf), "infinite or absurdly"),
    (put("ensemble/kinds", lambda a: a + np.uint8(5)), "unknown kind"),
    (put("ensemble/product_lengths", lambda a: a * 2**62), "impossible length"),
    (put("ensemble/product_columns", lambda a: a - np.int32(9)), "names a column"),
    (put("ensemble/product_columns", lambda a: a * np.int32(0)), "two hypotheses are equal"),
    (put("history/objective", lambda a: a[1:].copy()), "different lengths"),
    (put("fit/gaps", lambda a: a[1:].copy()), "gaps"),
]
FORGERIES = {
    "two classes": TWO_CLASSES,
    "three classes": THREE_CLASSES,
    "kernels of two classes": [(fill("kernel_classes", 1), "kernel speaks for a class that does not exist")],
    "categories": CATEGORIES,
    "numbers": NUMBERS,
    "vectors": VECTORS,
    "sparse": SPARSE,
}
CASES = [pytest.param(kind, *case, id=f"{kind} {k}") for kind, some in FORGERIES.items() for k, case in enumerate(some)]


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize(("kind", "change", "reason"), CASES)
def test_a_forged_model_is_refused(
    contents: dict[str, bytes], tmp_path: Path, kind: str, change: Change, reason: str
) -> None:
    path = tmp_path / "m"
    path.write_bytes(contents[kind])
    with pytest.raises(ModelFileError, match=reason) as caught:
        radboost.load(forged(path, change))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", MODELS)
def test_changed_bytes_under_a_right_checksum(contents: dict[str, bytes], tmp_path: Path, kind: str) -> None:
    """Writing the same content gives the same file. Changed bytes give a ModelFileError, or a model that predicts."""
    path = tmp_path / "m"
    path.write_bytes(contents[kind])
    assert forged(path, lambda header, arrays: None).read_bytes() == contents[kind]

    def check(model: Any) -> None:
        rows = np.ones((5, model.n_features_in_), dtype=object if kind == "categories" else float)
        if 0 in getattr(model, "categories_", {}):
            rows[:, 0] = "a"
        predicted = model.predict(rows)
        assert len(predicted) == 5
        repr(model.ensemble_)
        assert model.feature_importances_.shape == (model.n_features_in_,)
        if hasattr(model, "classes_"):
            assert set(predicted) <= set(model.classes_)
            assert model.predict_proba(rows).shape == (5, len(model.classes_))
        if hasattr(model, "staged_predict"):
            assert len(list(model.staged_predict(rows[:1]))) == model.n_iter_

    loaded, refused = damaged_in_many_ways(path, check)
    assert loaded > 0
    assert refused > 0


def test_the_arrays_of_a_file(contents: dict[str, bytes], tmp_path: Path) -> None:
    """Parts of docs/developers/model-file.md that other tests take for granted."""
    opened = {}
    for kind, content in contents.items():
        (tmp_path / kind).write_bytes(content)
        opened[kind] = read(tmp_path / kind)
    header, arrays = opened["categories"]
    found = header["ensemble"]["categories"]
    assert [one["column"] for one in found] == header["params"]["categorical_features"] == [0, 2]
    assert found[0]["values"] == ["a", "b", "c"]
    nodes, features = arrays["ensemble/category_nodes"], arrays["ensemble/node_feature"]
    np.testing.assert_array_equal(nodes, np.flatnonzero((features == 0) | (features == 2)))
    assert arrays["ensemble/category_sets"].shape == (len(nodes), 4)
    assert (arrays["ensemble/node_threshold"][nodes] == 0).all()
    assert not opened["kernels of two classes"][1]["ensemble/kernel_classes"].any()
    header, arrays = opened["vectors"]
    assert header["ensemble"]["leaves"] == "numbers"
    assert arrays["ensemble/leaf_vectors"].shape == ((arrays["ensemble/node_feature"] < 0).sum(), 3)
    header, arrays = opened["numbers"]
    assert header["classes"] is None
    assert "ensemble/leaf_vectors" not in arrays


def test_coefficients_beyond_memory_are_refused(tmp_path: Path) -> None:
    X, y = smooth_classes(0, m=60)
    SparseBoostClassifier(0.02, penalty="l1").fit(X, y).save(tmp_path / "m")
    n_features = 2**31 - 1

    def widened(header: Any, arrays: Any) -> None:
        header["ensemble"]["n_features"] = n_features
        arrays["ensemble/centres"] = np.zeros((0, n_features))

    with pytest.raises(ModelFileError, match="GiB, more than is free"):
        radboost.load(forged(tmp_path / "m", widened))
