"""Files of models with categorical columns: what a forger could write into them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import radboost
from model_files import assert_same_model, damaged_in_many_ways, dropper, forged, setter
from radboost import DeepBoostClassifier, ModelFileError
from radboost.model_file import read


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.empty((90, 3), dtype=object)
    X[:, 0] = rng.choice(["a", "b", "c", None], 90)
    X[:, 1] = rng.normal(size=90)
    X[:, 2] = rng.integers(0, 70, 90)
    return X, (rng.random(90) < np.where(X[:, 0] == "b", 0.9, 0.2)).astype(int)


X, Y = make_rows()


@pytest.fixture(scope="module")
def model() -> DeepBoostClassifier:
    return DeepBoostClassifier(12, categorical_features=[0, 2], complexity_penalty=0.0, max_depth=3).fit(X, Y)


@pytest.fixture
def saved(model: DeepBoostClassifier, tmp_path: Path) -> Path:
    model.save(tmp_path / "m")
    return tmp_path / "m"


def test_the_file_says_what_the_columns_are(saved: Path, model: DeepBoostClassifier) -> None:
    header, arrays = read(saved)
    columns = header["ensemble"]["categories"]
    assert [entry["column"] for entry in columns] == [0, 2]
    assert columns[0]["values"] == ["a", "b", "c"]
    assert header["params"]["categorical_features"] == [0, 2]
    features = arrays["ensemble/node_feature"]
    nodes, sets = arrays["ensemble/category_nodes"], arrays["ensemble/category_sets"]
    np.testing.assert_array_equal(nodes, np.flatnonzero((features == 0) | (features == 2)))
    assert sets.shape == (len(nodes), 4)
    assert (arrays["ensemble/node_threshold"][nodes] == 0).all()
    assert_same_model(radboost.load(saved), model, X)


def columns(*entries: object):
    return setter("ensemble", "categories", value=list(entries))


def entry(column: object, *values: object) -> dict[str, object]:
    return {"column": column, "values": list(values)}


LEVELS = [entry(0, "a", "b", "c"), entry(2, *range(70))]


def replace(name: str, make):
    return lambda header, arrays: arrays.update({f"ensemble/{name}": make(arrays[f"ensemble/{name}"])})


def set_bit(code: int):
    """Into the set of a split on column 0, which has three categories."""

    def change(header, arrays) -> None:
        nodes = arrays["ensemble/category_nodes"]
        row = int(np.flatnonzero(arrays["ensemble/node_feature"][nodes] == 0)[0])
        arrays["ensemble/category_sets"][row, code // 64] |= np.uint64(1 << code % 64)

    return change


OTHERS = "sets of categories are not those of the splits on categorical columns"

FORGERIES = {
    "no categories": (dropper("ensemble", "categories"), "list of categorical columns is missing"),
    "categories a dict": (
        setter("ensemble", "categories", value={"0": ["a"]}),
        "list of categorical columns is missing",
    ),
    "a column without values": (columns({"column": 0}), "no number or no values"),
    "a column as a list": (columns([0, ["a"]]), "no number or no values"),
    "a column with more": (columns({**entry(0, "a"), "x": 1}), "no number or no values"),
    "a column that does not exist": (columns(*LEVELS, entry(3, "x")), "column is '3', not an integer from 3 to 2"),
    "a negative column": (columns(entry(-1, "a"), *LEVELS), "column is '-1'"),
    "a column twice": (columns(LEVELS[0], *LEVELS), "column is '0', not an integer from 1 to 2"),
    "columns in another order": (columns(*LEVELS[::-1]), "column is '0'"),
    "half a column": (columns(entry(0.5, "a")), "column is '0.5'"),
    "a column named true": (columns(entry(True, "a")), "column is 'True'"),
    "values a text": (columns({"column": 0, "values": "abc"}, LEVELS[1]), "not strings, numbers or booleans"),
    "a value null": (columns(entry(0, "a", "b", None), LEVELS[1]), "not strings, numbers or booleans"),
    "a value that is a list": (columns(entry(0, "a", "b", ["c"]), LEVELS[1]), "not strings, numbers or booleans"),
    "equal values": (columns(entry(0, "a", "b", "a"), LEVELS[1]), "two categories of column 0 are equal"),
    "equal numbers": (columns(entry(0, 1, 2, True), LEVELS[1]), "two categories of column 0 are equal"),
    "256 values": (columns(LEVELS[0], entry(2, *range(256))), "column 2 has more than 255 categories"),
    "too few values": (columns(entry(0, "a"), LEVELS[1]), "a set holds a category that does not exist"),
    "no values": (columns(entry(0), LEVELS[1]), "a set holds a category that does not exist"),
    "a column forgotten": (columns(LEVELS[0]), OTHERS),
    "a column of numbers named": (columns(LEVELS[0], entry(1, "x"), LEVELS[1]), OTHERS),
    "no columns": (columns(), OTHERS),
    "category beyond the last": (set_bit(3), "a set holds a category that does not exist"),
    "category 64": (set_bit(64), "a set holds a category that does not exist"),
    "category 255": (set_bit(255), "a set holds a category that does not exist"),
    "no nodes": (lambda h, a: a.pop("ensemble/category_nodes"), "'category_nodes' is missing"),
    "no sets": (lambda h, a: a.pop("ensemble/category_sets"), "'category_sets' is missing"),
    "fewer nodes": (replace("category_nodes", lambda n: n[1:]), OTHERS),
    "nodes twice": (replace("category_nodes", lambda n: np.repeat(n, 2)), OTHERS),
    "nodes far away": (replace("category_nodes", lambda n: n + 2**60), OTHERS),
    "negative nodes": (replace("category_nodes", lambda n: -n), OTHERS),
    "nodes as floats": (replace("category_nodes", lambda n: n.astype(float)), "'category_nodes' has the type"),
    "nodes a matrix": (replace("category_nodes", lambda n: n[:, None]), "'category_nodes' is not one-dim"),
    "fewer sets": (replace("category_sets", lambda s: s[1:]), "the sets of categories do not fit"),
    "narrow sets": (replace("category_sets", lambda s: s[:, :3].copy()), "the sets of categories do not fit"),
    "flat sets": (replace("category_sets", lambda s: s.reshape(-1)), "the sets of categories do not fit"),
    "signed sets": (replace("category_sets", lambda s: s.astype("<i8")), "the sets of categories do not fit"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_model_is_refused(saved: Path, forgery: str) -> None:
    change, reason = FORGERIES[forgery]
    with pytest.raises(ModelFileError, match=reason) as caught:
        radboost.load(forged(saved, change))
    assert str(saved) in str(caught.value)


def test_mended_checksums(saved: Path) -> None:
    """Any bytes changed and the checksum put right: a ModelFileError, or a model that predicts and ends."""

    def check(loaded: DeepBoostClassifier) -> None:
        rows = np.empty((5, loaded.n_features_in_), dtype=object)
        rows[:] = [["a"] + [1.0] * (loaded.n_features_in_ - 1)] * 5 if 0 in loaded.categories_ else 1.0
        assert loaded.decision_function(rows).shape == (5,)
        assert set(loaded.predict(rows)) <= set(loaded.classes_)
        repr(loaded.ensemble_)
        assert loaded.feature_importances_.shape == (loaded.n_features_in_,)

    loaded, refused = damaged_in_many_ways(saved, check)
    assert loaded > 0
    assert refused > 0
