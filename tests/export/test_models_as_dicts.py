"""`to_dict` and `from_dict`: equal models and files, and clear errors for dicts that are damaged or forged."""

from __future__ import annotations

import copy
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.cases import Case, essence, one_of_each
from radboost import DeepBoostClassifier, ModelFileError, RGBRegressor
from radboost.structured import SequenceClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@one_of_each()
def test_round_trips(case: Case, tmp_path: Path) -> None:
    X, y = case.data(3, missing=0.1)
    model = case.make(n_jobs=1).fit(X, y)
    data = model.to_dict()
    text = json.dumps(data, allow_nan=False, sort_keys=True)
    read = json.loads(text)
    again = type(model).from_dict(read)
    assert json.dumps(read, sort_keys=True) == text  # it is left alone
    assert essence(again, X) == essence(model, X)
    model.save(tmp_path / "first")
    again.save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_models_of_sequences(tmp_path: Path) -> None:
    model = SequenceClassifier(n_rounds=3).fit([["a", "b", "a"], ["b", "b"]], [["x", "y", "x"], ["y", "y"]])
    again = SequenceClassifier.from_dict(json.loads(json.dumps(model.to_dict())))
    assert np.array_equal(again.coef_, model.coef_)


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    return DeepBoostClassifier.paper(4, n_jobs=1).fit(X, np.isnan(X[:, 1])).to_dict()


def array_named(data: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [array for array in data["arrays"] if array["name"] == name]
    return found


def test_numbers_that_json_lacks_are_words(data: dict[str, Any]) -> None:
    assert "inf" in array_named(data, "ensemble/node_threshold")["values"]
    again = DeepBoostClassifier.from_dict(data)
    assert any(math.inf in tree.threshold for tree in again.ensemble_.hypotheses)


def test_another_class(data: dict[str, Any]) -> None:
    with pytest.raises(ModelFileError, match=r"holds a 'DeepBoostClassifier'.*RGBRegressor\.from_dict reads those of"):
        RGBRegressor.from_dict(data)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((), None, "has the entries arrays, content, format, kind"),
        ((), {}, "to_dict"),
        (("kind",), "XGBoost model", "'RadBoost model'"),
        (("format",), 3, "format 3, and this version"),
        (("format",), True, "format True"),
        (("content",), [], "must be a dict"),
        (("arrays",), {}, "arrays a list"),
        (("content", "model"), None, "holds a 'None'"),
        (("content", "params"), {"loss": math.nan}, "JSON"),
        (("content", 3), 1, "keys of a header must be strings"),
        (("content", "ensemble"), 5, "ensemble must be a dict"),
        (("arrays", 0), [], "must have name, dtype, shape and values"),
        (("arrays", 0, "name"), "", "name of an array"),
        (("arrays", 0, "name"), "ensemble/node_left", "two arrays have the same name"),
        (("arrays", "ensemble/node_left", "dtype"), "O", "unknown type 'O'"),
        (("arrays", "ensemble/node_left", "shape"), [-1], "negative or too large"),
        (("arrays", "ensemble/node_left", "shape"), [1], "fits its shape"),
        (("arrays", "ensemble/node_left", "values"), "0", "fits its shape"),
        (("arrays", "ensemble/node_left", "values", 0), 2**31, "no number of the type <i4"),
        (("arrays", "ensemble/node_left", "values", 0), 1.0, "no number of the type <i4"),
        (("arrays", "ensemble/node_left", "values", 0), True, "no number of the type <i4"),
        (("arrays", "ensemble/node_left", "values", 0), 0, "child does not follow"),
        (("arrays", "ensemble/node_threshold", "values", 0), "1.0", "no number of the type <f8"),
        (("arrays", "ensemble/node_threshold", "values", 0), 2**60, "no number of the type <f8"),
    ],
    ids=str,
)
def test_damaged_dicts(data: dict[str, Any], place: tuple[Any, ...], value: Any, message: str) -> None:
    damaged = copy.deepcopy(data)
    if place:
        inner: Any = damaged
        for key in place[:-1]:
            inner = array_named(damaged, key) if isinstance(inner, list) and isinstance(key, str) else inner[key]
        inner[place[-1]] = value
    else:
        damaged = value
    with pytest.raises(ModelFileError, match=message):
        DeepBoostClassifier.from_dict(damaged)


@pytest.mark.filterwarnings("ignore")
@given(seed=st.integers(0, 10**6))
def test_damage_at_random_is_noticed_or_harmless(data: dict[str, Any], seed: int) -> None:
    """One value somewhere is replaced: a `ModelFileError`, or a model that still answers."""
    rng = np.random.default_rng(seed)
    damaged: Any = copy.deepcopy(data)
    inner = damaged
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if not isinstance(inner[key], dict | list) or rng.random() < 0.1:
            break
        inner = inner[key]
    strange = [None, -1, 2**70, 0, 1.5, "", "inf", [], {}, [[]], True, math.nan, object()]
    inner[key] = strange[rng.integers(len(strange))]
    try:
        model = DeepBoostClassifier.from_dict(damaged)
    except ModelFileError:
        return
    with suppress(ValueError):
        model.predict(np.zeros((2, model.n_features_in_)))
