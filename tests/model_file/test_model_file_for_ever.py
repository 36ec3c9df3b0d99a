"""Stored files open in every later version and score as they did; tests/data says how they were made."""

import json
from pathlib import Path

import numpy as np
import pytest

import radboost
from radboost import KernelFamily, TreeOptions

DATA = Path(__file__).parents[1] / "data"


def from_hex(numbers: list) -> np.ndarray:
    return np.array([[float.fromhex(v) for v in x] if isinstance(x, list) else float.fromhex(x) for x in numbers])


FORMAT_1 = ["model_format_1_two_classes", "model_format_1_three_classes", "model_format_1_categories"]


@pytest.mark.parametrize("name", FORMAT_1)
def test_format_1(name: str) -> None:
    expected = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    model = radboost.load(DATA / f"{name}.radb")
    rows = np.array(expected["rows"], dtype=object if expected["categories"] else float)
    if expected["feature_names"] is not None:
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=expected["feature_names"])
    np.testing.assert_array_equal(model.decision_function(rows), from_hex(expected["scores"]))
    staged = [from_hex(scores) for scores in expected["staged"]]
    np.testing.assert_array_equal(list(model.staged_decision_function(rows[:1])), staged)
    assert model.predict(rows).tolist() == expected["labels"]
    # Unlike the scores, exponentials come from the platform.
    np.testing.assert_allclose(model.predict_proba(rows), from_hex(expected["probabilities"]), rtol=1e-13)
    np.testing.assert_array_equal(model.feature_importances_, from_hex(expected["importances"]))
    np.testing.assert_array_equal(model.ensemble_.complexities, from_hex(expected["complexities"]))
    assert model.classes_.tolist() == expected["classes"]
    assert [[column, list(known)] for column, known in model.categories_.items()] == expected["categories"]
    assert repr(model.ensemble_) == expected["ensemble"]
    assert (model.loss_, model.objective_) == (expected["loss"], expected["objective"])
    assert model.history_ == expected["history"]
    assert model.stop_reason_ == expected["stop_reason"]


def test_parameters_of_format_1() -> None:
    two, three, categories = (radboost.load(DATA / f"{name}.radb") for name in FORMAT_1)
    assert two.family == ["trees", KernelFamily(gamma=0.1, n_centres=20)]
    assert two.tree_options == TreeOptions(growth="best_first", max_leaves=5)
    assert (two.n_rounds, two.max_depth, two.learning_rate) == (25, 3, 0.5)
    assert three.ensemble_.feature_names == ("width", "height", "weight", "age")
    assert categories.categorical_features == ["colour", "number", "new"]
    assert [type(known[0]) for known in categories.categories_.values()] == [str, int, bool]
